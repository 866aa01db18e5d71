"""How handlers of several habits read in C."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.project import transcribe_project
from porter.judging.verdict import Status
from porter.port import port_project
from porter.project.vectors import PENDSV, SVC, Vectors
from tests.porter.context_switch.test_refusals import code_of
from tests.porter.context_switch.trees import M3, M4F, fixture

HANDLERS = Path(__file__).parent / "handlers"
SWITCHES = """\
    .global stack
    .type stack, %function
stack:
    mrs     r0, psp
    bx      lr
"""


def ported(folder: Path, name: str, cpu: tuple[str, ...] = M3) -> str:
    tree = fixture(folder, (HANDLERS / name).read_text(), cpu)
    tree.apply(tree.port())
    return code_of(tree.files[0].read_text())


def test_sp_set_to_the_tasks_stack_is_a_pointer(tmp_path: Path) -> None:
    text = ported(tmp_path, "stack_pointer_moved.c")
    save = ["*--sp = USR_REG->Reg.LR;", "USR_STMDB(sp, R4, R7);", "USR_STMDB(sp, R8, R11);"]
    load = ["USR_LDMIA(sp, R8, R11);", "USR_LDMIA(sp, R4, R7);", "USR_REG->Reg.LR = *sp++;"]
    places = [text.index(line) for line in (*save, *load)]
    assert places == sorted(places)


def test_a_name_that_only_a_block_declares_is_declared_again_outside(tmp_path: Path) -> None:
    text = (HANDLERS / "running_task.c").read_text()
    outer = "extern struct task *volatile running;"
    inner = f"static inline char *name(void) {{ {outer} return running->name; }}"
    tree = fixture(tmp_path, text.replace(outer, inner), M4F)
    (handler,) = [port for port in tree.port() if port.role == "switch"]
    assert handler.status == "rewritten"
    assert handler.replacement.decode().startswith(outer)


def test_variables_of_statements_between_have_their_own_names(tmp_path: Path) -> None:
    text = ported(tmp_path, "statements_between.c")
    handler = text[text.index("PendSV_Handler") :]
    assert "naked" not in text and "done" not in handler
    assert handler.count("switches") and handler.count("chosen")


def test_what_cpacr_says_is_what_was_granted(tmp_path: Path) -> None:
    text = ported(tmp_path, "fpu_if_there.c", M4F)
    assert text.count("virt_cpacr() & 0x") == 2 and "0xE000ED88" not in text


def test_a_frame_filled_upwards_is_copied_in_blocks(tmp_path: Path) -> None:
    text = ported(tmp_path, "high_registers.c")
    for line in ("USR_STMIA(", ", R4, R7);", ", R8, R11);", "USR_LDMIA("):
        assert line in text


def test_who_makes_a_supervisor_call_is_on_its_tasks_stack(tmp_path: Path) -> None:
    text = ported(tmp_path, "numbered_call.c")
    handler, _, rest = text.partition("void SVC_Handler(void)\n{")[2].partition("\n}")
    assert "*r0 = virt_svc_frame();" in handler and "serve((void *)r0);" in handler
    assert "if (" not in handler and "virt_svc(100);" in rest
    assert (
        "/* A copy: what is written there, the caller never sees. */"
        in (tmp_path / "switch.c").read_text()
    )


@pytest.mark.parametrize("name", ["TIM7_IRQHandler", "PendSV_Handler", "my_switch"])
def test_an_interrupt_is_no_supervisor_call(name: str, tmp_path: Path) -> None:
    text = (HANDLERS / "numbered_call.c").read_text()
    named = text.replace("SVC_Handler", name)
    tree = fixture(tmp_path, named, M3)
    ports = {port.name: port for port in tree.port()}
    assert ports[name].status == "escalated" and "USR_REG->Reg.SP" in ports[name].reason
    for number, expected in ((SVC, "rewritten"), (PENDSV, "escalated")):
        vectors = Vectors(told=[(name, number)])
        as_vector = transcribe_project(tree.root, tree.files, tree.options, vectors)
        assert {port.status for port in as_vector if port.name == name} == {expected}


def test_an_interrupt_of_an_assembler_file_is_no_supervisor_call(tmp_path: Path) -> None:
    text = "; ".join(("tst lr, #4", "ite eq", "mrseq r0, msp", "mrsne r0, psp", "b sample"))
    head = ".syntax unified; .thumb; .global TIM2_IRQHandler; .type TIM2_IRQHandler, %function\n"
    tree = fixture(tmp_path, f"{head}TIM2_IRQHandler:\n{text}\n", M3, "switch.S")
    (tmp_path / "os.h").write_text("void sample(unsigned *frame);\n")
    (port,) = replace(tree, files=(*tree.files, tmp_path / "os.h")).port()
    assert port.status == "escalated" and "neither its name nor a vector table" in port.reason


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("frame[0] = 1;", "frame[0] = 1"),
        ("((unsigned *)frame)[6] += 2;", "((unsigned *)frame)[6] += 2"),
        ("uint32_t *pc = frame + 6; *pc = 0;", "*pc = 0"),
        ("answer(frame);", "*to = 1"),
        ("ask(frame);", "asked[1]"),
        ("static uint32_t seen; seen = *frame;", "*frame"),
    ],
)
def test_a_callers_registers_are_not_in_its_frame(answer: str, text: str, tmp_path: Path) -> None:
    source = (HANDLERS / "numbered_call.c").read_text()
    source = source.replace("[-2] == 100) {", f"[-2] == 100) {{ {answer}")
    source += "void answer(uint32_t *to) { *to = 1; }\n"
    source += "uint32_t ask(uint32_t *asked) { return asked[1]; }\n"
    source = source.replace(
        "void serve(", "void answer(uint32_t *); uint32_t ask();\nvoid serve(", 1
    )
    ports = {port.name: port for port in fixture(tmp_path, source, M3).port()}
    assert ports["SVC_Handler"].status == "escalated"
    told = (f"writes '{text}' to its caller's frame", f"reads '{text}', a register of its caller")
    assert any(it in ports["SVC_Handler"].reason for it in told), ports["SVC_Handler"].reason
    assert "supervisor_call.c" in ports["SVC_Handler"].reason


def test_both_arms_of_an_it_block_are_one_if(tmp_path: Path) -> None:
    text = (HANDLERS / "running_task.c").read_text()
    either = '"   ite ne\\n   movne r3, #0\\n   moveq r3, #1\\n   str r3, [r2, #4]\\n"'
    save = '"   stmdb r0!, {r4-r11, lr}     \\n"'
    text = text.replace('"   push {r1, lr}', f'"   tst lr, #0x10\\n" {either}\n"   push {{r1, lr}}')
    assert save in text
    (handler,) = [it for it in fixture(tmp_path, text).port() if it.role == "switch"]
    assert handler.status == "rewritten", handler.reason
    written = code_of(handler.replacement.decode())
    assert "r3 = 0;" in written.partition("} else {")[0]
    assert "r3 = 1;" in written.partition("} else {")[2]


def test_the_stack_of_the_wrong_caller_is_not_proved(tmp_path: Path) -> None:
    text = (HANDLERS / "numbered_call.c").read_text()
    swapped = text.replace("mrseq r0, msp", "mrseq r0, psp").replace(
        "mrsne r0, psp", "mrsne r0, msp"
    )
    ports = {port.name: port for port in fixture(tmp_path, swapped, M3).port()}
    assert ports["SVC_Handler"].status == "escalated" and "(serve())" in ports["SVC_Handler"].reason
    assert ports["start_first_task"].status == "escalated"


def test_loops_that_count_become_their_rounds(tmp_path: Path) -> None:
    text = ported(tmp_path, "counted_loop.c")
    assert [f"choose({number})" in text for number in (0, 2, 4)] == [True, True, False]
    assert "log_of_switches)[2] = *r2;" in text and "while" not in text and "goto" not in text


def test_opening_cpacr_needs_nothing(tmp_path: Path) -> None:
    """The FPU comes with the domain's grant."""
    head = ".syntax unified\n.thumb\n.text\n.global fpu_on\n.type fpu_on, %function\nfpu_on:\n"
    code = "ldr r0, =0xE000ED88\nldr r1, [r0]\norr r1, #0xF00000\nstr r1, [r0]\nbx lr\n"
    tree = fixture(tmp_path, head + code + SWITCHES, M4F, "fpu.S")
    (tmp_path / "fpu.h").write_text("void fpu_on(void);\n")
    ports = replace(tree, files=(*tree.files, tmp_path / "fpu.h")).port()
    (text,) = [port.replacement.decode() for port in ports if port.file.suffix == ".c"]
    assert code_of(text).rstrip().endswith("}") and "virt_cpacr" not in text
    assert "str r1, [r0]: the FPU comes with" in text


def test_what_it_calls_may_be_declared_in_another_file_alone(tmp_path: Path) -> None:
    text = (HANDLERS / "running_task.c").read_text().replace("void schedule(void);\n", "")
    tree = fixture(tmp_path, text, M4F)
    other = tmp_path / "schedule.c"
    other.write_text("void schedule(void)\n{\n}\n")
    ports = replace(tree, files=(*tree.files, other)).port()
    (handler,) = [port for port in ports if port.role == "switch"]
    assert handler.status == "rewritten"
    assert b"extern void schedule(void);" in handler.replacement


def test_a_function_is_found_behind_braces_of_conditions(tmp_path: Path) -> None:
    text = (HANDLERS / "running_task.c").read_text()
    before, head, rest = text.partition("__attribute__((naked))")
    linkage = '#ifdef __cplusplus\nextern "C" {\n#endif\n'
    twice = "#ifdef LATER\nint early(void) {\n#else\nint late(void) {\n#endif\n    return 1;\n}\n"
    tree = fixture(tmp_path, before + linkage + twice + head + rest, M4F)
    assert {port.status for port in tree.port()} == {"rewritten"}


def test_a_pointer_may_hide_in_a_typedef(tmp_path: Path) -> None:
    text = (HANDLERS / "running_task.c").read_text()
    outer = "extern struct task *volatile running;"
    hidden = "typedef struct task *task_pointer;\nextern volatile task_pointer running;"
    tree = fixture(tmp_path, text.replace(outer, hidden), M4F)
    (handler,) = [port for port in tree.port() if port.role == "switch"]
    assert handler.status == "rewritten"


IN_CONTROL_BLOCK = """\
#include <stdint.h>
struct task { struct task *next; uint32_t core[8], fpu[16], stack, how; } *running;
__attribute__((naked)) void PendSV_Handler(void)
{
    __asm volatile("ldr r2, =running\\n ldr r0, [r2]\\n ldr r1, [r0], #4\\n str r1, [r2]\\n"
                   "stmia r0!, {r4-r11}\\n vstmia r0!, {s16-s31}\\n mrs r3, psp\\n"
                   "stmia r0!, {r3, lr}\\n adds r0, r1, #4\\n ldmia r0!, {r4-r11}\\n"
                   "vldmia r0!, {s16-s31}\\n ldmia r0!, {r3, lr}\\n msr psp, r3\\n bx lr");
}
"""


def test_registers_may_be_kept_upwards_in_the_control_block(tmp_path: Path) -> None:
    tree = fixture(tmp_path, IN_CONTROL_BLOCK, M4F)
    (handler,) = [port for port in tree.port() if port.role == "switch"]
    assert handler.status == "rewritten" and b"USR_VSTMIA(" in handler.replacement


def test_a_callee_may_stand_behind_the_handler(tmp_path: Path) -> None:
    text = """\
#include <stdint.h>
__attribute__((naked)) void PendSV_Handler(void)
{
    __asm volatile("mrs r0, psp\\n stmdb r0!, {r4-r11, lr}\\n bl choose\\n"
                   "ldmia r0!, {r4-r11, lr}\\n msr psp, r0\\n bx lr");
}
uint32_t *stacks[2];
uint32_t *choose(uint32_t *stack) { stacks[0] = stack; return stacks[1]; }
"""
    tree = fixture(tmp_path, text, M3)
    (handler,) = [port for port in tree.port() if port.role == "switch"]
    assert handler.status == "rewritten"
    assert b"uint32_t *choose(uint32_t *stack);\n" in handler.replacement


LOCK = """\
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define LEVEL 0x40
_Noreturn void failed(char const *where, int line);
char const name[] = "lock";
__attribute__((naked)) void lock(void)
{
    __asm volatile("mrs r0, basepri\\n movs r1, #" TEXT(LEVEL) "\\n msr basepri, r1\\n"
                   "cmp r0, #0\\n bne 1f\\n bx lr\\n"
                   "1: ldr r0, =name\\n movs r1, #100\\n ldr r2, =failed\\n bx r2\\n .ltorg");
}
__attribute__((naked)) void give_up(void)
{
    __asm volatile("cpsid i\\n mov r0, sp\\n bl failed\\n bx lr");
}
"""


def test_naked_functions_are_looked_at_where_nothing_names_psp(tmp_path: Path) -> None:
    """Behind a call of what never returns the compiler writes nothing."""
    ports = {port.name: port for port in fixture(tmp_path, LOCK, M3).port()}
    assert ports["lock"].proof is not None, ports["lock"].reason
    text = ports["lock"].replacement.decode()
    assert "virt_int_mask(VIRT_BASEPRI);" in text and "0x64);" in text


def test_why_a_naked_function_stays_is_what_the_transcriber_says(tmp_path: Path) -> None:
    (tmp_path / "lock.c").write_text(LOCK)
    found = [it for file in port_project(tmp_path, cpu=M3).files for it in file.verdicts]
    (stays,) = [it for it in found if it.status is Status.ESCALATED]
    assert stays.reason.startswith("give_up: keeps or computes an address of the handler's own")


def test_an_answer_that_the_handler_itself_gives_is_lost_too(tmp_path: Path) -> None:
    text = ("tst lr, #4", "ite eq", "mrseq r0, msp", "mrsne r0, psp", "push {r0, lr}",
            "bl serve", "pop {r1, lr}", "str r0, [r1]", "bx lr")  # fmt: skip
    head = ".syntax unified; .thumb; .global SVC_Handler; .type SVC_Handler, %function\n"
    tree = fixture(tmp_path, head + "SVC_Handler:\n" + "\n".join(text) + "\n", M3, "switch.S")
    (tmp_path / "os.h").write_text("unsigned serve(unsigned const *frame);\n")
    (port,) = replace(tree, files=(*tree.files, tmp_path / "os.h")).port()
    assert "writes to its caller's frame, of which a guest has a copy" in port.reason


SWITCHES_BY_CALL = """\
#include <stdint.h>
uint32_t **volatile current;
void choose(void), yield(void);
void __attribute__((naked)) NAME(void)
{
    __asm volatile("mrs r0, psp\\n stmdb r0!, {r4-r11}\\n ldr r1, =current\\n ldr r2, [r1]\\n"
                   "str r0, [r2]\\n push {r3, lr}\\n bl choose\\n pop {r3, lr}\\n"
                   "ldr r1, =current\\n ldr r2, [r1]\\n ldr r0, [r2]\\n ldmia r0!, {r4-r11}\\n"
                   "msr psp, r0\\n OTHERbx lr");
}
void __attribute__((naked)) yield(void) { __asm volatile("svc 0\\n bx lr"); }
"""


@pytest.mark.parametrize(
    ("name", "other", "reason"),
    [
        ("SVC_Handler", "", "proved"),
        ("SVC_Handler", "wfi\\n ", "raises an SVC whose handler, SVC_Handler, isn't transcribed"),
        (
            "SVC_Handler",
            "mrs r3, basepri\\n str r3, [r0]\\n ",
            "raises an SVC whose handler, SVC_Handler, isn't transcribed",
        ),
        ("PendSV_Handler", "", "raises an SVC whose handler isn't transcribed"),
        ("switch_tasks", "", "raises an SVC whose handler isn't transcribed"),
    ],
)
def test_a_supervisor_call_may_be_what_switches(
    name: str, other: str, reason: str, tmp_path: Path
) -> None:
    text = SWITCHES_BY_CALL.replace("NAME", name).replace("OTHER", other)
    ports = {port.name: port for port in fixture(tmp_path, text, M3, "port.c").port()}
    assert reason in ports["yield"].reason
    assert (b"virt_svc(0);" in ports["yield"].replacement) == (reason == "proved")


ONE_LINE = '__attribute__((naked)) void lock(void) { __asm volatile("cpsid i\\n bx lr"); }\n'
USES_LOCK = "void after(void) { lock(); }\n"


@pytest.mark.parametrize(
    "text",
    [
        ONE_LINE + USES_LOCK,
        (ONE_LINE + USES_LOCK).replace("\n", "\r\n"),
        ONE_LINE + '#include "later.h"\n',
    ],
    ids=["one line", "crlf", "an include behind it"],
)
def test_a_naked_function_on_one_line_becomes_c(text: str, tmp_path: Path) -> None:
    (tmp_path / "later.h").write_text("struct later { int n; };\n")
    (tmp_path / "lock.c").write_bytes(text.encode())
    (found,) = port_project(tmp_path, cpu=M3).files
    after = found.ported.decode()
    assert "void lock(void)" in after and "virt_int_mask(VIRT_PRIMASK);" in after
    assert "naked" not in after and "__asm" not in after
    assert after.index("<fvm/guest.h>") < after.index("lock")


def test_a_naked_function_stays_whole_where_it_isnt_transcribed(tmp_path: Path) -> None:
    """Its body alone as C would have no return."""
    (tmp_path / "lock.h").write_text(ONE_LINE.replace(")) void", ")) static void"))
    (tmp_path / "os.c").write_text('#include "lock.h"\n' + USES_LOCK)
    result = port_project(tmp_path, cpu=M3)
    assert not [edit for file in result.files for edit in file.edits]
    reasons = {it.reason for file in result.files for it in file.verdicts}
    assert any("a naked function, which becomes C as a whole or not" in it for it in reasons)
