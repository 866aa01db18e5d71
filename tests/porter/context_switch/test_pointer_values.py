"""A call through a pointer comes to what the pointer may hold, or to all whose address is taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch.asm_branches import addresses_in, branches_in
from porter.context_switch.c_flow import CUnits
from porter.context_switch.calls import Calls
from porter.context_switch.project_data import ProjectData
from porter.project.linker_symbols import LinkerAlias
from tests.porter.context_switch.test_roads import project
from tests.porter.context_switch.trees import fixture

TASK = "void near(void) { }\nvoid start(void *);\nvoid begin(void) { start(deep); }\n"
DEEP = "void deep(void) { }"
HELD = {
    "a variable": "void (*hook)(void) = near;\nvoid schedule(void) { if (hook) hook(); }",
    "with attributes": 'void (*hook)(void) __attribute__((used)) '
                       '__attribute__((section(".h"))) = near;\n'
                       "void schedule(void) { hook(); }",
    "set later": "static void (*hook)(void);\nvoid set(void) { hook = &near; }\n"
                 "void schedule(void) { if (hook != 0) (*hook)(); }",
    "handed on": "static void (*hook)(void);\nvoid set(void (*to)(void)) { hook = to; }\n"
                 "void init(void) { set(near); set(0); }\nvoid schedule(void) { hook(); }",
    "one of two": "static void (*hook)(void);\nint n; void set(void) { hook = n ? near : 0; }\n"
                  "void schedule(void) { void (*now)(void) = hook; if (now) now(); }",
    "a table": "void (*const hooks[])(void) = { near, 0 };\n"
               "void schedule(void) { for (int i = 0; hooks[i]; i++) hooks[i](); }",
    "a member": "struct ops { void (*run)(void); int n; } ops = { .n = 1, .run = near };\n"
                "void schedule(void) { ops.run(); }",
    "a member of a pointer": "typedef struct { void (*run)(void); } ops;\nops all[2];\n"
                             "void set(void) { ops *it = &all[1]; it->run = near; }\n"
                             "void schedule(void) { ops *it = all; it->run(); }",
    "a list": "struct ops { void (*run)(void); } ops = { near };\n"
              "void schedule(void) { ops.run(); }",
    "a list of another name": "struct ops { void (*run)(void); };\ntypedef struct ops all;\n"
                              "all ops = { near };\nvoid schedule(void) { ops.run(); }",
    "lists of structs": "const struct ops { const char *name; void (*run)(void); } all[] = {\n"
                        '    { "near", near }, { "none", 0 } };\n'
                        "void schedule(void) { const struct ops *it = &all[1]; it->run(); }",
    "another number": "extern void (*hook)(int);\nvoid schedule(void) { hook(1); }",
    "nobody's": "static void (*hook)(void);\nvoid set(void (*to)(void)) { hook = to; }\n"
                "int main(void) { return 0; }\nvoid schedule(void) { if (hook) hook(); }",
    "none": "static void (*hook)(void);\nvoid schedule(void) { if (hook) hook(); }",
}  # fmt: skip
ANYTHING = {
    "symbols of a section": "typedef void (*fn)(void);\n"
                            "extern const fn __start_calls[], __stop_calls[];\n"
                            'const fn entry __attribute__((used, section("calls"))) = deep;\n'
                            "void schedule(void) {\n"
                            "    for (const fn *f = __start_calls; f < __stop_calls; f++)\n"
                            "        (*f)(); }",
    "an alias of the variable": "void (*hook)(void) = near;\n"
                                'extern void (*h2)(void) __attribute__((alias("hook")));\n'
                                "void set(void) { h2 = deep; }\nvoid schedule(void) { hook(); }",
    "a label of the variable": "void (*hook)(void) = near;\n"
                               'extern void (*h2)(void) __asm__("hook");\n'
                               "void set(void) { h2 = deep; }\nvoid schedule(void) { hook(); }",
    "another's": "extern void (*hook)(void);\nvoid schedule(void) { hook(); }",
    "its address": "static void (*hook)(void);\nvoid give(void (**)(void));\n"
                   "void set(void) { give(&hook); }\nvoid schedule(void) { hook(); }",
    "by a pointer": "static void (*hook)(void);\nvoid schedule(void) {\n"
                    "    void (**at)(void) = &hook; (*at)(); }",
    "an array": "static void (*hooks[2])(void);\nvoid give(void (**)(void));\n"
                "void set(void) { give(hooks); }\nvoid schedule(void) { hooks[0](); }",
    "a list in a list": "struct ops { void (*run)(void); };\n"
                        "struct { int n; struct ops in; } out = { 1, { near } };\n"
                        "void schedule(void) { out.in.run(); }",
    "a list of words": "struct ops { void (*run)(void); unsigned n; } ops;\n"
                       "void set(unsigned n) { ops = (struct ops){ (void (*)(void))n, 2 }; }\n"
                       "void schedule(void) { ops.run(); }",
    "a union": "union { void (*run)(void); unsigned word; } ops = { .word = 3 };\n"
               "void schedule(void) { ops.run(); }",
    "calculated": "static void (*hook)(void);\nvoid set(unsigned n) { hook = (void (*)(void))n; }\n"
                  "void schedule(void) { hook(); }",
    "found": "void (*find(void))(void);\nvoid schedule(void) { find()(); }",
    "handed by a pointer": "static void run(void (*to)(void)) { to(); }\n"
                           "void (*runs)(void (*)(void)) = run;\n"
                           "void schedule(void) { run(near); }",
    "nobody's here": "static void (*hook)(void);\nvoid set(void (*to)(void)) { hook = to; }\n"
                     "void schedule(void) { if (hook) hook(); }",
    "another name's": "static void (*hook)(void);\nvoid set(void (*to)(void)) { hook = to; }\n"
                      'void put(void (*)(void)) __attribute__((alias("set")));\n'
                      "int main(void) { put(0); return 0; }\nvoid schedule(void) { hook(); }",
    "a parameter from asm": "void run(void (*to)(void)) { to(); }\n"
                            'void asks(void) { __asm volatile("bl run"); }\n'
                            "void schedule(void) { run(near); }",
}  # fmt: skip


def reached(folder: Path, c: str, assembler: str = "") -> set[str]:
    _, data, _ = project(folder, TASK + c, "", assembler, DEEP)
    return {it.name for it in data.callees.of(["schedule"])}


@pytest.mark.parametrize("name", HELD)
def test_what_a_pointer_holds(name: str, tmp_path: Path) -> None:
    found = reached(tmp_path, HELD[name])
    assert "deep" not in found
    assert ("near" in found) == (name not in ("another number", "nobody's", "none"))


@pytest.mark.parametrize("name", ANYTHING)
def test_in_doubt_it_holds_anything(name: str, tmp_path: Path) -> None:
    assert "deep" in reached(tmp_path, ANYTHING[name])


def test_assembler_may_set_it(tmp_path: Path) -> None:
    c = HELD["none"].replace("static ", "")
    sets = ".global set\n.type set, %function\nset: ldr r1, =hook\n str r0, [r1]\n bx lr\n.ltorg\n"
    assert "deep" in reached(tmp_path, c, sets)


@pytest.mark.parametrize(
    "how", ["adr.w r1, deep", "adr r1, deep", "add r1, pc, #(deep - . - 4)", "ldr r1, =deep"]
)
def test_assembler_may_calculate_an_address(how: str, tmp_path: Path) -> None:
    text = ".global deep\n.thumb_func\n.balign 4\ndeep: bx lr\n.global hook\n.thumb_func\nhook: "
    text += f"{how}\n orr r1, #1\n bx r1\n.ltorg\n"
    c = "void hook(void);\nvoid schedule(void) { hook(); }"
    if how.startswith("add"):  # behind it
        text = text.replace("deep: bx lr\n", "nop\n") + ".balign 4\n.thumb_func\ndeep: bx lr\n"
    _, data, _ = project(tmp_path, "void start(void *);\n" + c, "", text, "")
    assert "deep" in {it.name for it in data.callees.of(["schedule"])}


@pytest.mark.parametrize(("of", "found"), [("deep", True), ("near", False)])
def test_a_name_of_the_links_is_an_address(of: str, found: bool, tmp_path: Path) -> None:
    c = "extern char target[];\nvoid (*hook)(void) = near;\n"
    c += "void set(void) { hook = (void (*)(void))target; }\nvoid schedule(void) { hook(); }\n"
    files, _, options = project(tmp_path, TASK.replace("start(deep)", "start(0)") + c, "", "", DEEP)
    units = CUnits(files, options)
    data = ProjectData(files, options, units, aliases=[LinkerAlias("target", of)])
    assert ("deep" in {it.name for it in data.callees.of(["schedule"])}) is found


def test_a_script_may_call_what_sets_it_otherwise(tmp_path: Path) -> None:
    files, _, options = project(tmp_path, TASK + HELD["nobody's"], "", "", DEEP)
    for other, found in (("put", True), ("", False)):
        aliases = [LinkerAlias(other, "set")] if other else []
        data = ProjectData(files, options, CUnits(files, options), aliases=aliases)
        assert ("deep" in {it.name for it in data.callees.of(["schedule"])}) is found


def test_a_vector_is_no_hook_where_nobody_else_has_it(tmp_path: Path) -> None:
    c = "extern void (*hook)(void);\nvoid schedule(void) { hook(); }\n"
    c += "void SysTick_Handler(void) { }\n"
    table = "void (*const vectors[])(void) = { SysTick_Handler };\n"
    assert "SysTick_Handler" not in reached(tmp_path / "a", c + table)
    calls = "void each(void (*)(void));\nvoid set(void) { each(SysTick_Handler); }\n"
    assert "SysTick_Handler" in reached(tmp_path / "b", c + table + calls)


def test_what_start_up_code_calls_is_called(tmp_path: Path) -> None:
    files, _, options = project(tmp_path, TASK + HELD["nobody's"], "", "", DEEP)
    for entry, found in (("set", True), ("main", False)):
        data = ProjectData(files, options, CUnits(files, options, entry))
        assert ("deep" in {it.name for it in data.callees.of(["schedule"])}) is found


def test_no_call_comes_to_a_handler_that_resumes_a_task(tmp_path: Path) -> None:
    c = "extern void (*hook)(void);\nvoid schedule(void) { hook(); }\nvoid SysTick_Handler(void);\n"
    c += "void each(void (*)(void));\nvoid set(void) { each(SysTick_Handler); }\n"
    head = ".global SysTick_Handler\n.type SysTick_Handler, %function\nSysTick_Handler:\n"
    resumes = "mrs r0, psp\nstmdb r0!, {r4-r11}\nldmia r1!, {r4-r11}\nmsr psp, r1\nbx lr\n"
    assert "SysTick_Handler" not in reached(tmp_path / "a", c, head + resumes)
    assert "SysTick_Handler" in reached(tmp_path / "b", c, head + "bx lr\n")


def test_the_road_is_named(tmp_path: Path) -> None:
    _, data, _ = project(tmp_path, ANYTHING["another's"] + TASK, "", "", DEEP)
    roads = {it.name: it.road for it in data.callees.of(["schedule"])}
    assert roads["schedule"] == "calls schedule()"
    assert roads["deep"] == "calls schedule(), which leads to deep()"


def test_nothing_is_looked_through_for_calls_by_name(tmp_path: Path) -> None:
    tree = fixture(tmp_path, "void schedule(void) { }\n")
    data = ProjectData(tree.files, tree.options, CUnits(tree.files, tree.options))
    assert [it.name for it in data.callees.of(["schedule"])] == ["schedule"]


@pytest.mark.parametrize(
    ("text", "names", "anywhere"),
    [
        ("bl f", {"f"}, False),
        ("blne.w f\n b g", {"f", "g"}, False),
        ("cbz r0, 1f\n bls 1b\n b .\n bics r0, r1", set(), False),
        ("loop: subs r0, #1\n bne loop", set(), False),
        ("cbnz r3, f", {"f"}, False),
        ("bx lr", set(), False),
        ("blx r3", set(), True),
        ("bl %c0", set(), True),
        ("ldr pc, [r0]", set(), True),
        ("mov pc, lr", set(), False),
        ("push {r4, lr}\n pop {r4, pc}", set(), False),
        ("push {r0}\n pop {pc}", set(), True),
        ("call f\n tail g\n j 1b\n ret", {"f", "g"}, False),
        ("jal ra, f\n jr ra", {"f"}, False),
        ("jalr t0", set(), True),
    ],
)
def test_where_text_goes(text: str, names: set[str], anywhere: bool) -> None:
    found = branches_in(text)
    assert found == Calls(frozenset(names), frozenset({None}) if anywhere else frozenset())


def test_which_addresses_text_has() -> None:
    text = "ldr r0, =a\n movw r1, #:lower16:b\n adr r2, c\n .word d, e\n la t0, f\n bl g"
    assert addresses_in(text) == set("abcdef")
