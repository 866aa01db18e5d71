"""Whatever is asked of what a handler calls is asked at the end of each road that a call takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch.assemble import assemble, preprocess
from porter.context_switch.c_flow import CUnits
from porter.context_switch.handler import Handler, transcribe
from porter.context_switch.names import Names
from porter.context_switch.only_in_handler import only_in_handler
from porter.context_switch.pick import Pick
from porter.context_switch.project_data import ProjectData
from porter.context_switch.result import NotTranscribable
from porter.project.compile_options import CompileOptions
from porter.project.linker_symbols import LinkerAlias
from tests.porter.context_switch.cases import SOURCES
from tests.porter.context_switch.trees import fixture

HEAD = """
uint32_t __get_PRIMASK(void); void __set_PSP(uint32_t); void __WFI(void);
volatile uint32_t ready; uint32_t entries;
void deep(void);
"""
ASM_HEAD = ".syntax unified\n.thumb\n.text\n"
FUNCTION = ".global {0}\n.type {0}, %function\n{0}: "
BY_HOOK = "void (*hook)(void);\nvoid schedule(void) { hook(); }\n"
# How schedule() comes to deep(): C beside the handler, C of another file, assembler.
ROADS: dict[str, tuple[str, str, str]] = {
    "C": ("void schedule(void) { deep(); }", "", ""),
    "assembler": ("", "", FUNCTION.format("schedule") + "push {lr}\n bl deep\n pop {pc}\n"),
    "a jump": ("", "", FUNCTION.format("schedule") + "b deep\n"),
    "falls into": (
        "void middle(void);", "",
        FUNCTION.format("schedule") + "nop\n" + FUNCTION.format("middle") + "b deep\n"),
    "a label of its own": (
        "", "",
        FUNCTION.format("schedule") + "push {lr}\n bl inner\n pop {pc}\ninner: b deep\n"),
    "a private function": (
        "", "",
        FUNCTION.format("schedule") + "b inner\n .type inner, %function\ninner: b deep\n"),
    "a call in asm": ('void schedule(void) { __asm volatile("bl deep" ::: "lr"); }', "", ""),
    "a wide call in asm": ('void schedule(void) { __asm volatile("bl.w deep" ::: "lr"); }', "", ""),
    "a jump in asm": (
        '__attribute__((naked)) void schedule(void) { __asm volatile("b deep"); }', "", ""),
    "asm by a register": (
        'void schedule(void) { __asm volatile("blx %0" :: "r"(deep) : "lr"); }', "", ""),
    "asm by a literal": (
        'void schedule(void) { __asm volatile("ldr r0, =deep\\n blx r0" ::: "r0", "lr"); }',
        "", ""),
    "asm outside": (
        '__asm(".thumb\\n.global schedule\\n.type schedule, %function\\nschedule: b deep");',
        "", ""),
    "an alias": ('void schedule(void) __attribute__((alias("other")));', "", ""),
    "a weak alias": ('void schedule(void) __attribute__((weak, alias("other")));', "", ""),
    "an alias in place of a weak body": (
        "__attribute__((weak)) void schedule(void) { entries++; }",
        'extern void deep(void);\nstatic void mine(void) { deep(); }\n'
        'void schedule(void) __attribute__((alias("mine")));\n', ""),
    "assembler in place of a weak body": (
        "__attribute__((weak)) void schedule(void) { entries++; }", "",
        FUNCTION.format("schedule") + "b deep\n"),
    "a name of the linker's": (
        'extern void sched(void) __asm__("other");\nvoid schedule(void) { sched(); }', "", ""),
    "a pragma of names": (
        "#pragma redefine_extname sched other\nextern void sched(void);\n"
        "void schedule(void) { sched(); }", "", ""),
    "a name that the linker knows it by": (
        'void deep(void) __asm__("found");', "",
        FUNCTION.format("schedule") + "b found\n"),
    "weakref": (
        'static void sched(void) __attribute__((weakref("deep")));\n'
        "void schedule(void) { sched(); }", "", ""),
    "a pragma": ("#pragma weak schedule = other", "", ""),
    "a script": ("", "", ""),
    "set at run time": (f"{BY_HOOK}void begin(void) {{ hook = deep; }}", "", ""),
    "set at the start": (
        "void (*hook)(void) = deep;\nvoid schedule(void) { hook(); }", "", ""),
    "set by another": (BY_HOOK, "extern void (*hook)(void); void deep(void);\n"
                                "void begin(void) { hook = &deep; }\n", ""),
    "a table": ("void (*const hooks[])(void) = { deep };\nvoid schedule(void) { hooks[0](); }",
                "", ""),
    "a member": ("struct { void (*run)(void); } now = { .run = deep };\n"
                 "void schedule(void) { now.run(); }", "", ""),
    "a parameter": ("static void run(void (*what)(void)) { what(); }\n"
                    "void schedule(void) { run(deep); }", "", ""),
    "a parameter of a function's name": (
        "static void run(void (*entry)(void)) { entry(); }\n"
        "void schedule(void) { run(deep); }", "void entry(void) { }\n", ""),
    "a library": ("void each(void (*)(void));\nvoid schedule(void) { each(deep); }", "", ""),
    "a caller of it": (f"{BY_HOOK}static void step(void) {{ deep(); }}\n"
                       "void begin(void) { hook = step; }", "", ""),
    "a table in assembler": (
        "extern void (*const hooks[])(void);\nvoid schedule(void) { hooks[1](); }", "",
        ".global hooks\nhooks: .word other, deep\n"),
    "a pair in assembler": (
        BY_HOOK, "", FUNCTION.format("begin")
        + "movw r0, #:lower16:deep\n movt r0, #:upper16:deep\n ldr r1, =hook\n str r0, [r1]\n"
        "bx lr\n.ltorg\n"),
    "a branch by a register": (
        "", "", FUNCTION.format("schedule") + "ldr r0, =deep\n bx r0\n.ltorg\n"),
    "a load of pc": ("", "", FUNCTION.format("schedule") + "ldr pc, =deep\n.ltorg\n"),
    "a return to it": (
        "", "", FUNCTION.format("schedule") + "ldr r0, =deep\n push {r0}\n pop {pc}\n.ltorg\n"),
    "C++": ("void plus(void);\nvoid schedule(void) { plus(); }", "", ""),
    "C++ in place of a weak body": (
        "__attribute__((weak)) void plus(void) { }\nvoid schedule(void) { plus(); }", "", ""),
}  # fmt: skip
PLUS = 'extern "C" void deep();\nextern "C" void plus() { deep(); }\n'
OTHER = "void other(void) { deep(); }\n"
DOES = {
    "PRIMASK": (
        "void deep(void) { if (__get_PRIMASK()) entries++; }",
        "asks? for PRIMASK",
    ),
    "waits": ("void deep(void) { __WFI(); }", "waits for an interrupt"),
    "waits in a loop": ("void deep(void) { while (!ready) { } }", "waits for an interrupt"),
}
SETS_PSP = "void deep(void) { __set_PSP(entries); }"


def transcribed(folder: Path, road: str, deep: str, masked: bool = False) -> Handler:
    """The handler of a project in which schedule() comes by a road to deep()."""
    files, data, options = project(folder, *ROADS[road], f"{OTHER}{deep}", road, masked)
    return handler_of(files, data, options)


def handler_of(files: tuple[Path, ...], data: ProjectData, options: CompileOptions) -> Handler:
    """The handler of the first file."""
    assembly = assemble(files[0], options)
    names = Names(preprocess(files[0], options), "", lambda expression: None, data)
    (function,) = (it for it in assembly.object.functions if it.name == "PendSV_Handler")
    return transcribe(assembly, function, "switch", names)


def project(
    folder: Path,
    c: str,
    other: str,
    assembler: str,
    deep: str,
    road: str = "",
    masked: bool = False,
) -> tuple[tuple[Path, ...], ProjectData, CompileOptions]:
    """Its files, what is known of it, and how it is compiled."""
    text = (SOURCES / "running_task.c").read_text().replace("schedule(void);", "schedule (void);")
    if masked:
        text = text.replace("bl schedule  ", r"cpsid i\n bl schedule\n cpsie i")
    tree = fixture(folder, f"{text}{HEAD}{c}\n{deep}\n")
    (folder / "other.c").write_text(other)
    (folder / "callees.S").write_text(ASM_HEAD + assembler)
    files = (*tree.files, folder / "other.c", folder / "callees.S")
    if road.startswith("C++"):
        plus = folder / "plus.cpp"
        text = road.partition(" ")[2]
        plus.write_text(text if text.startswith("extern") else PLUS)
        files = (*files, plus)
    aliases = [LinkerAlias("schedule", "other")] if road == "a script" else []
    data = ProjectData(files, tree.options, CUnits(files, tree.options), aliases=aliases)
    return files, data, tree.options


@pytest.mark.campaign
@pytest.mark.parametrize("what", DOES)
@pytest.mark.parametrize("road", ROADS)
def test_what_the_end_does_is_told(road: str, what: str, tmp_path: Path) -> None:
    deep, told = DOES[what]
    with pytest.raises(NotTranscribable, match=told):
        transcribed(tmp_path, road, deep, what == "PRIMASK")


@pytest.mark.parametrize("road", ROADS)
def test_psp_that_the_end_sets_is_seen(road: str, tmp_path: Path) -> None:
    pick = transcribed(tmp_path, road, SETS_PSP).pick
    assert isinstance(pick, str) and "reads or sets PSP" in pick


@pytest.mark.campaign
@pytest.mark.parametrize("road", ROADS)
def test_a_road_alone_costs_the_fast_yield_at_most(road: str, tmp_path: Path) -> None:
    handler = transcribed(tmp_path, road, "void deep(void) { entries++; }")
    _, data, _ = project(tmp_path, *ROADS[road], f"{OTHER}void deep(void) {{ entries++; }}", road)
    assert isinstance(handler.pick, Pick)
    why = only_in_handler(handler.pick, data.units, data.callees, data.resumers)
    assert (why == "") == (road == "C"), why


@pytest.mark.parametrize(
    ("does", "told"),
    [
        ("__WFI();", "leads to plus[(][)], which waits for an interrupt"),
        ('asm("wfi");', "leads to plus[(][)], which waits for an interrupt"),
        ('asm("vstmia r0, {s16}");', "leads to plus[(][)], which plus.cpp names, C[+][+]"),
    ],
)
def test_cplusplus_is_searched_as_text(does: str, told: str, tmp_path: Path) -> None:
    calls, _, _ = ROADS["C++"]
    text = f'C++ extern "C" void plus() {{ {does} }}\n'
    with pytest.raises(NotTranscribable, match=told):
        handler_of(*project(tmp_path, calls, "", "", "void deep(void) { }", text))


def test_cplusplus_may_move_psp(tmp_path: Path) -> None:
    calls, _, _ = ROADS["C++"]
    text = 'C++ extern "C" void plus() { __set_PSP(3); }\n'
    pick = handler_of(*project(tmp_path, calls, "", "", "void deep(void) { }", text)).pick
    assert isinstance(pick, str) and "reads or sets PSP" in pick


@pytest.mark.parametrize(
    ("does", "waits"), [("", False), ("ldr r3, =hook\\n ldr r3, [r3]\\n blx r3\\n", True)]
)
def test_what_resumes_a_task_calls_none(does: str, waits: bool, tmp_path: Path) -> None:
    """FreeRTOS on Cortex-M0: the call's handler leads, through C, to `bx r2` with EXC_RETURN."""
    calls = f"""
void (*hook)(void *);
void work(void *none) {{ while (!ready) {{ }} }}
void create(void (*)(void *));
void begin(void) {{ create(work); }}
__attribute__((naked)) void resume(void)
{{
    __asm volatile("{does} ldr r0, =entries\\n ldr r0, [r0]\\n ldm r0!, {{r2}}\\n"
                   " adds r0, #32\\n msr psp, r0\\n isb\\n bx r2\\n .ltorg");
}}
void serve(void) {{ resume(); }}
"""
    _, data, _ = project(tmp_path, calls, "", "", "void deep(void) { }")
    names = {it.name for it in data.callees.of(["serve"])}
    assert names >= {"serve", "resume"} and ("work" in names) == waits
