"""What isn't understood is escalated with its reason, and the file stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch.result import SwitchPort
from porter.judging.verdict import Status
from porter.port import port_project
from tests.porter.context_switch.trees import M3, M4F, fixture

FRAME = "mrs r0, psp\nstmdb r0!, {r4-r11}\nldr r1, =task\nldr r2, [r1]\nstr r0, [r2]\n"
RESUME = "ldr r2, [r1]\nldr r0, [r2]\nldmia r0!, {r4-r11}\nmsr psp, r0\nbx lr\n.ltorg\n"
REFUSED = {
    "unknown instruction": (FRAME + "sdiv r3, r0, r0\n" + RESUME, "'sdiv r3, r0, r0'"),
    "in a macro": (
        ".macro divide\nsdiv r3, r0, r0\n.endm\n" + FRAME + "divide\n" + RESUME,
        "instruction 'divide' (sdiv r3, r0, r0) is not known",
    ),
    "waits": (FRAME + "wfi\n" + RESUME, "'wfi' would wait inside a virtual handler"),
    "loop": (FRAME + "1: ldr r3, [r2]\ncmp r3, #0\nbeq 1b\n" + RESUME, "loop"),
    "long loop": (FRAME + "movs r3, #99\n1: subs r3, #1\nbne 1b\n" + RESUME, "loop"),
    "loop in a loop": (
        FRAME
        + "movs r3, #2\n1: ldr r12, [r2]\ncmp r12, #0\nbeq 1b\nsubs r3, #1\nbne 1b\n"
        + RESUME,
        "loop",
    ),
    "MSP": (FRAME + "mrs r3, msp\nstr r3, [r2]\n" + RESUME, "MSP"),
    "MSP written": (FRAME + "ldr r3, [r2]\nmsr msp, r3\n" + RESUME, "MSP"),
    "CONTROL": (FRAME + "mrs r3, control\nstr r3, [r2]\n" + RESUME, "CONTROL"),
    "FAULTMASK": (FRAME + "cpsid f\n" + RESUME, "FAULTMASK"),
    "read before write": (FRAME + "str r3, [r2]\n" + RESUME, "is in the frame at PSP, and"),
    "read after call": (
        FRAME + "push {r1, lr}\nbl choose\nstr r2, [r0]\npop {r1, lr}\n" + RESUME,
        "reads a register that the call of choose() destroyed",
    ),
    "EXC_RETURN lost": (FRAME + "push {r1, r3}\nbl choose\npop {r1, r3}\n" + RESUME, "reads"),
    "no prototype": (FRAME + "push {r1, lr}\nbl hidden\npop {r1, lr}\n" + RESUME, "hidden()"),
    "system register": (
        FRAME + "ldr r3, =0xE000EF34\nldr r12, [r3]\nstr r12, [r2]\n" + RESUME,
        "accesses FPU->FPCCR, which is the kernel's",
    ),
    "pointer called": (
        FRAME + "push {r1, lr}\nldr r3, [r2]\nblx r3\npop {r1, lr}\n" + RESUME,
        "calls what r3 points to at run time",
    ),
    "CONTROL written": (
        FRAME + "mov r3, #1\nmsr control, r3\n" + RESUME,
        "on PSP without privilege",
    ),
    "stack left": (FRAME + "push {r1}\n" + RESUME, "stack"),
    "carry": (FRAME + "adds r3, r0, #8\nit cs\nldrcs r3, [r2]\n" + RESUME, "carry"),
    "no task resumed": ("mrs r0, psp\nsub r0, #8\nmsr psp, r0\nsvc 3\nbx lr\n", "supervisor"),
    "the assembler's own condition": (
        FRAME + ".set HAS_FPU, 0\n.if HAS_FPU\nvstmdb r0!, {{s16-s31}}\n.endif\n" + RESUME,
        "'.if HAS_FPU' of its assembler",
    ),
    "main stack": (
        "push {r4-r11}\nldr r1, =task\nldr r2, [r1]\nstr sp, [r2]\nldr r2, [r1]\nldr sp, [r2]\n"
        "pop {r4-r11}\nbx lr\n.ltorg\n",
        "on the main stack",
    ),
    "idle on the main stack": (
        FRAME + "cmp r2, #0\nite eq\nldreq lr, =0xFFFFFFF9\nldrne lr, =0xFFFFFFFD\n" + RESUME,
        "ends with EXC_RETURN 0xfffffff9, and a guest goes on in thread mode on PSP",
    ),
    "a condition that a guest decides": (
        "tst lr, #8\nbne guard\nbx lr\nguard:\n" + FRAME + RESUME,
        "'bne guard' always goes one way: no state from which the proof begins leads",
    ),
    "searches": (
        FRAME + "movs r2, #1\nldr r3, [r1, #4]\n1: lsls r2, #1\ntst r2, r3\nbeq 1b\n" + RESUME,
        "has a loop over registers",
    ),
    "packed": (
        FRAME + "ldr r3, [r2, #6]\nstr r3, [r1, #4]\n" + RESUME,
        "accesses a word 6 bytes behind a pointer",
    ),
    "only PSP": ("mov r0, #0\nmsr psp, r0\nbx lr\n", "restores no task"),
}
TEXT = """
#include <stdint.h>
extern uint32_t *task;
void choose(void);

__attribute__((naked)) void PendSV_Handler(void)
{{
    __asm volatile({asm});
}}
"""


def port(folder: Path, assembler: str, cpu: tuple[str, ...] = M4F) -> tuple[Path, list[SwitchPort]]:
    quoted = " ".join(f'"{line}\\n"' for line in assembler.splitlines())
    tree = fixture(folder, TEXT.format(asm=quoted), cpu)
    return tree.files[0], tree.port()


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_reason(name: str, tmp_path: Path) -> None:
    assembler, reason = REFUSED[name]
    file, (escalated,) = port(tmp_path, assembler)
    assert escalated.status == "escalated"
    assert reason in escalated.reason
    data = file.read_bytes()
    assert data[escalated.start : escalated.end] == escalated.replacement
    assert escalated.replacement.startswith(b"__attribute__((naked)) void PendSV_Handler(void)")
    assert escalated.replacement.endswith(b"}")


def test_who_sets_stacks_up_is_told_that_the_machine_does(tmp_path: Path) -> None:
    start = "mrs r2, msp\\n msr psp, r2\\n msr msp, r0\\n cpsie i\\n svc 0\\n bx lr"
    text = f'__attribute__((naked)) void start(void *top)\n{{\n    __asm volatile("{start}");\n}}\n'
    (escalated,) = fixture(tmp_path, text).port()
    assert "stacks of their own; take out what sets stacks up" in escalated.reason
    assert "switch_handler.c" in escalated.reason


def test_a_function_that_gives_its_caller_another_stack_is_none_of_a_guests(tmp_path: Path) -> None:
    body = '__asm volatile("msr msp, r0\\n bx lr");'
    (found,) = fixture(tmp_path, f"__attribute__((naked)) void set(int top) {{ {body} }}\n").port()
    assert found.status == "escalated" and "gives its caller another main stack" in found.reason


def test_a_handler_may_clear_the_exclusive_monitor(tmp_path: Path) -> None:
    """An exception return does so, on the machine too."""
    _, ports = port(tmp_path, "clrex\n" + FRAME + RESUME, M3)
    assert {item.status for item in ports} == {"rewritten"}
    plain = "void unlock(void);\n__attribute__((naked)) void unlock(void) { "
    text = plain + '__asm volatile("clrex\\n mrs r0, psp\\n bx lr"); }\n'
    (found,) = fixture(tmp_path / "other", text, M3).port()
    assert found.status == "escalated" and "clrex" in found.reason


def test_the_plain_frame_is_understood(tmp_path: Path) -> None:
    _, ports = port(tmp_path, FRAME + RESUME, M3)
    assert {item.status for item in ports} == {"rewritten"}


def test_instructions_written_as_numbers_are_read(tmp_path: Path) -> None:
    """`.hword` counts as data to the assembler; here it saves the FPU registers."""
    numbers = "tst lr, #0x10\nbne 1f\n.hword 0xED20, 0x8A10\n1:\n"
    file, ports = port(tmp_path, "mrs r0, psp\n" + numbers + FRAME.split("\n", 1)[1] + RESUME)
    (handler,) = [item for item in ports if item.role == "switch"]
    assert b"USR_VSTMDB(sp);" in handler.replacement
    assert file.read_bytes().count(b"0xED20") == 1


def test_a_file_that_does_not_compile_is_named(tmp_path: Path) -> None:
    tree = fixture(tmp_path, '#include "missing.h"\n__asm("mrs r0, psp");\n')
    (escalated,) = tree.port()
    assert escalated.status == "escalated" and "missing.h" in escalated.reason


def test_a_condition_on_another_toolchain_is_escalated(tmp_path: Path) -> None:
    quoted = " ".join(f'"{line}\\n"' for line in FRAME.splitlines())
    rest = " ".join(f'"{line}\\n"' for line in RESUME.splitlines())
    arm = '\n#ifdef __SOME_TOOLCHAIN__\n"stmdb r0!, {{r4}}\\n"\n#endif\n'
    tree = fixture(
        tmp_path, TEXT.format(asm=quoted + arm.replace("{{", "{").replace("}}", "}") + rest)
    )
    (escalated,) = tree.port()
    assert escalated.status == "escalated" and "__SOME_TOOLCHAIN__" in escalated.reason


def test_a_start_whose_svc_handler_is_unknown_is_escalated(tmp_path: Path) -> None:
    text = "__attribute__((naked)) void start(void)\n{\n"
    text += '    __asm volatile("cpsie i\\n svc 1\\n nop"); /* psp is set by the handler */\n}\n'
    text += 'const char note[] = "msp";\n'
    (escalated,) = fixture(tmp_path, text).port()
    assert escalated.role == "start" and "isn't transcribed" in escalated.reason


def test_a_frame_with_one_word_more_isnt_the_librarys(tmp_path: Path) -> None:
    frame = "mrs r0, psp\nsub r0, r0, #4\nstmdb r0!, {r4-r11, lr}\nldr r1, =task\nldr r2, [r1]\n"
    resume = "ldmia r0!, {r4-r11, lr}\nadd r0, r0, #4\nmsr psp, r0\nbx lr\n.ltorg\n"
    _, ports = port(tmp_path, frame + "str r0, [r2]\nldr r2, [r1]\nldr r0, [r2]\n" + resume)
    (handler,) = [item for item in ports if item.role == "switch"]
    assert handler.status == "rewritten" and "fast yield by itself (the frame has" in handler.reason


def test_an_unread_word_and_an_unread_result_leave_no_unused_local(tmp_path: Path) -> None:
    resume = "ldmia r0!, {r3, r4-r11}\nmsr psp, r0\nbx lr\n.ltorg\n"
    body = "str r0, [r2]\npush {r1, lr}\nbl answer\npop {r1, lr}\nldr r2, [r1]\nldr r0, [r2]\n"
    text = TEXT.replace("void choose(void);", "int answer(void);")
    quoted = " ".join(f'"{line}\\n"' for line in (FRAME + body + resume).splitlines())
    tree = fixture(tmp_path, text.format(asm=quoted))
    tree.apply(tree.port())
    ported = tree.files[0].read_text()
    assert "    answer();" in ported and "    sp++;" in ported and "r3" not in code_of(ported)


def code_of(text: str) -> str:
    return "\n".join(line.partition("/*")[0] for line in text.splitlines())


def switching(folder: Path, frame: str, resume: str) -> SwitchPort:
    middle = "str r0, [r2]\npush {r1, lr}\nbl choose\npop {r1, lr}\nldr r2, [r1]\nldr r0, [r2]\n"
    head = "ldr r1, =task\nldr r2, [r1]\n"
    _, ports = port(
        folder, f"mrs r0, psp\n{frame}{head}{middle}{resume}msr psp, r0\nbx lr\n.ltorg\n"
    )
    (handler,) = [item for item in ports if item.role == "switch"]
    return handler


def test_a_frame_of_another_shape_isnt_the_librarys(tmp_path: Path) -> None:
    resume = "ldmia r0!, {r4-r11}\nadds r0, #4\n"
    handler = switching(tmp_path, "stmdb r0!, {r4-r11, lr}\n", resume)
    assert handler.status == "rewritten"
    assert "fast yield by itself (what is saved isn't what is restored)" in handler.reason


def test_one_that_has_s16_to_s31_by_exc_return_alone_isnt_either(tmp_path: Path) -> None:
    frame = "tst lr, #0x10\nit eq\nvstmdbeq r0!, {s16-s31}\nstmdb r0!, {r4-r11}\n"
    resume = "ldmia r0!, {r4-r11}\ntst lr, #0x10\nit eq\nvldmiaeq r0!, {s16-s31}\n"
    handler = switching(tmp_path, frame, resume)
    assert handler.status == "rewritten"
    assert "fast yield by itself (the frame has FPU registers and no EXC_RETURN)" in handler.reason


def test_a_function_that_fails_takes_no_other_with_it(tmp_path: Path) -> None:
    handler = FRAME + "push {r1, lr}\nbl choose\npop {r1, lr}\n" + RESUME
    file, _ = port(tmp_path, handler, M3)
    text = (
        file.read_text()
        + """
extern const uint32_t fixed;
__attribute__((naked)) void os_mark(void)
{
    __asm volatile("cpsid i\\nldr r1, =fixed\\nmovs r2, #1\\nstr r2, [r1]\\nbx lr\\n.ltorg");
}
"""
    )
    ports = {port.name: port for port in fixture(tmp_path, text, M3).port()}
    assert ports["PendSV_Handler"].status == "rewritten"
    assert ports["os_mark"].status == "escalated" and "read-only" in ports["os_mark"].reason


def test_a_helper_that_saves_registers_is_no_plain_callee(tmp_path: Path) -> None:
    file, _ = port(tmp_path, "push {lr}\nbl save\n" + FRAME + RESUME, M3)
    helper = "mrs r0, psp\\nstmdb r0!, {r4-r11}\\nmsr psp, r0\\nbx lr"
    text = f'__attribute__((naked)) void save(void) {{ __asm volatile("{helper}"); }}\n'
    ports = {port.name: port for port in fixture(tmp_path, text + file.read_text(), M3).port()}
    assert "calls save(), which reads or writes PSP" in ports["PendSV_Handler"].reason


@pytest.mark.parametrize("name", ["PendSV_Handler", "swap"])
def test_what_is_escalated_without_a_site_is_told(name: str, tmp_path: Path) -> None:
    """`swap` is known by the vector table alone."""
    handler, _ = REFUSED["main stack"]
    file, _ = port(tmp_path, handler, M3)
    table = "void Reset_Handler(void) {}\nvoid *const vectors[] = {0, Reset_Handler, "
    table += ", ".join(["0"] * 12) + f", {name}, 0}};\n"
    file.write_text(file.read_text().replace("PendSV_Handler", name) + table)
    (found,) = [
        verdict
        for ported in port_project(tmp_path, cpu=M3).files
        for verdict in ported.verdicts
        if verdict.status is Status.ESCALATED
    ]
    assert found.rule == "context-switch" and found.site.what == name


LOCAL_LABEL = """\
    .syntax unified
    .thumb
    .text
    .global PendSV_Handler
    .type PendSV_Handler, %function
PendSV_Handler:
    {frame}
    {resume}
restarted:
    mov r0, #0
    msr basepri, r0
    bx lr
    .word restarted
"""


def test_code_that_only_a_word_leads_to_does_not_go_with_a_handler(tmp_path: Path) -> None:
    """A table elsewhere may have its address; the handler's C would say nothing of it."""
    frame, resume = FRAME.replace("\n", "\n    "), RESUME.replace("\n", "\n    ")
    text = LOCAL_LABEL.format(frame=frame, resume=resume)
    (escalated,) = fixture(tmp_path, text, M3, "switch.S").port()
    assert "nothing in it leads to its own code at restarted, line" in escalated.reason
    body = " ".join(f'"{it}\\n"' for it in (FRAME + RESUME + "mov r0, #0\nbx lr\n").splitlines())
    (naked,) = fixture(tmp_path / "c", TEXT.format(asm=body)).port()
    assert "nothing in it leads to its own code at 'mov r0, #0'" in naked.reason


def test_what_the_compiler_puts_behind_a_return_is_no_code_of_the_authors(tmp_path: Path) -> None:
    body = '__asm volatile(" mrs r0, PRIMASK\\n cpsid i\\n bx lr " ::: "memory");\n    return 0;'
    text = f"__attribute__((naked)) unsigned lock(void)\n{{\n    {body}\n}}\n"
    (found,) = [it for it in fixture(tmp_path, text, M3).port() if it.name == "lock"]
    assert found.status == "rewritten", found.reason


def test_barriers_behind_a_return_are_nobodys_code(tmp_path: Path) -> None:
    """LiteOS-M's request of a switch for Cortex-M4 has them there."""
    for number, (behind, fine) in enumerate(
        (('dsb\\n"\n"isb', True), ('dsb\\n"\n"mov r0, #0', False))
    ):
        body = " ".join(f'"{it}\\n"' for it in (FRAME + RESUME).splitlines())
        text = TEXT.format(asm=f'{body} "{behind}\\n"')
        naked, *_ = fixture(tmp_path / str(number), text).port()
        assert ("nothing in it leads" not in naked.reason) is fine, naked.reason
