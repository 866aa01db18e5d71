"""Assembler that puts its caller on PSP, so that main() becomes a task."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import unicorn
from unicorn import arm_const as arm

from porter.context_switch.assemble import assemble
from porter.context_switch.caller_on_psp import refuse_another
from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.result import NotTranscribable
from porter.project.compile_options import CompileOptions
from tests.porter.helpers import escalations, port_files

HEAD = """
    .syntax unified
    .thumb
    .text
    .global to_psp
    .type to_psp, %function
    .thumb_func
to_psp:
"""
BODY = """    msr psp, r0     /* where */
    ldr r0, =flags
    ldrb r0, [r0]
    adds r0, r0, #2
    msr control, r0
    isb
    bx lr
"""
TAIL = "    .size to_psp, . - to_psp\n    .ltorg\n"
C = """
unsigned flags, stack[64];
void to_psp(unsigned *top);
void start(void) { to_psp(stack + 64); }
int main(void) { start(); for (;;) { } }
"""
KNOWN = BODY.replace(
    "    ldr r0, =flags\n    ldrb r0, [r0]\n    adds r0, r0, #2\n", "    movs r0, #2\n"
)
OPTIONS = CompileOptions((), (), ("-mcpu=cortex-m4", "-mthumb"), "arm-none-eabi-gcc", "")


def ported(
    folder: Path, body: str = BODY, c: str = C, more: str = "", name: str = "start.S"
) -> tuple[str, list[str]]:
    """The assembler file's port, and reasons of what is escalated."""
    files = {"main.c": c.encode(), name: (HEAD + body + TAIL + more).encode()}
    result = port_files(folder, files)
    (text,) = [it.ported for it in result.files if it.file.path.name == name]
    return text.decode(), escalations(result)


def test_the_stack_pointer_is_what_psp_was(tmp_path: Path) -> None:
    text, reasons = ported(tmp_path)
    assert not reasons
    assert "    mov sp, r0     /* where */\n    ldr r0, =flags" in text
    assert "msr" not in text


def test_control_that_nobody_knows_is_asked_for_its_bit(tmp_path: Path) -> None:
    text, _ = ported(tmp_path)
    assert re.search(r"tst r0, #2\n\s+it eq\n\s+udfeq #0", text)


@pytest.mark.parametrize(
    "body",
    [
        KNOWN,
        KNOWN.replace("movs r0, #2", "movs r0, #3"),
        KNOWN.replace("movs r0, #2", "ldr r0, =flags\n    ldr r0, [r0]\n    orr r0, r0, #2"),
        "    mov r0, sp\n" + KNOWN,
    ],
)
def test_control_that_is_known_is_nothing(tmp_path: Path, body: str) -> None:
    text, reasons = ported(tmp_path, body)
    assert not reasons
    assert "mov sp, r0" in text and "udf" not in text and "msr" not in text


REFUSED = {
    "PSP after it was selected": (
        "    movs r1, #2\n    msr control, r1\n    msr psp, r0\n    bx lr\n", C, "",
        "the two around"
    ),
    "words pushed in between": (
        KNOWN.replace("    isb\n", "    push {r0}\n    pop {r0}\n"), C, "", "msr"
    ),
    "a look at sp before it is selected": (
        KNOWN.replace("    movs r0, #2\n", "    mov r1, sp\n    movs r0, #2\n"), C, "",
        "isn't understood there"
    ),
    "a register of the system": (
        KNOWN.replace("    isb\n", "    ldr r1, =0xE000ED08\n    ldr r1, [r1]\n"), C, "",
        "isn't understood there"
    ),
    "a macro": (
        KNOWN.replace("msr psp, r0", "set r0"), C, ".macro", "stands in a macro"
    ),
    "an #if": (
        KNOWN.replace("    isb\n", "#ifdef SLOW\n    isb\n#endif\n"), C, "", "with an #if inside"
    ),
    "a handler that calls it": (
        KNOWN, C + "void SVC_Handler(void) { to_psp(stack); }\n", "", "SVC_Handler(), a handler"
    ),
    "a function that nobody here calls": (
        KNOWN, C + "void on_byte(void) { to_psp(stack); }\n", "",
        "not all that calls on_byte() is known"
    ),
    "an address of it": (
        KNOWN, C + "void (*hook)(unsigned *) = to_psp;\n", "",
        "not all that calls to_psp() is known"
    ),
    "an address of who calls it": (
        KNOWN, C + "void (*hook)(void) = start;\n", "", "not all that calls start() is known"
    ),
    "assembler that goes to who calls it": (
        KNOWN, C, "    .global go\n    .type go, %function\n    .thumb_func\ngo:\n    b start\n",
        "not all that calls start() is known"
    ),
    "an asm statement that names it": (
        KNOWN, C + 'void go(void) { __asm volatile("bl to_psp"); }\n', "",
        "not all that calls to_psp() is known"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_isnt_just_that_stays(tmp_path: Path, case: str) -> None:
    body, c, more, reason = REFUSED[case]
    if more == ".macro":
        text = ".macro set from\n    msr psp, \\from\n.endm\n"
        files = {"main.c": c.encode(), "start.S": (text + HEAD + body + TAIL).encode()}
        reasons = escalations(port_files(tmp_path, files))
    else:
        text, reasons = ported(tmp_path, body, c, more)
        assert "msr psp, r0" in text
    assert any("to_psp" in it and reason in it for it in reasons), reasons


def test_a_service_of_supervisor_calls_is_no_start(tmp_path: Path) -> None:
    c = C.replace("start(); for", '__asm volatile("ldr r12, =start\\n svc 0"); for')
    _, reasons = ported(tmp_path, KNOWN, c)
    assert any("to_psp" in it and "start()" in it for it in reasons), reasons


def test_a_naked_function_of_c_isnt_that(tmp_path: Path) -> None:
    """Its text stays C, and C can't do it."""
    c = C.replace("void to_psp(unsigned *top);", NAKED)
    reasons = escalations(port_files(tmp_path, {"main.c": c.encode()}))
    assert any("to_psp" in it and "to an assembler file" in it for it in reasons), reasons


NAKED = """
__attribute__((naked)) void to_psp(unsigned *top)
{
    __asm volatile("msr psp, r0\\n movs r0, #2\\n msr control, r0\\n isb\\n bx lr");
}
"""


def made(folder: Path, body: str, name: str = "made.S") -> tuple[ObjectFile, Function]:
    file = folder / name
    file.write_text(HEAD + body + TAIL)
    unit = assemble(file, OPTIONS).object
    return unit, next(it for it in unit.functions if it.name == "to_psp")


PORT = KNOWN.replace("msr psp, r0", "mov sp, r0").replace("    msr control, r0\n", "")
CHECKED = BODY.replace("msr psp, r0", "mov sp, r0").replace(
    "msr control, r0", "tst r0, #2\n    it eq\n    udfeq #0"
)
WRONG = {
    "another register": (KNOWN, PORT.replace("mov sp, r0", "mov sp, r1")),
    "another place": (KNOWN, PORT.replace("mov sp, r0", "movs r0, #2\n    mov sp, r0")),
    "another constant": (KNOWN, PORT.replace("#2", "#3")),
    "nothing": (KNOWN, PORT.replace("mov sp, r0", "nop")),
    "no return": (KNOWN, PORT.replace("bx lr", "bx r1")),
    "one more": (KNOWN, PORT.replace("bx lr", "movs r4, #0\n    bx lr")),
    "another variable": (BODY, CHECKED.replace("=flags", "=others")),
    "another condition": (BODY, CHECKED.replace("it eq", "it ne").replace("udfeq", "udfne")),
    "another bit": (BODY, CHECKED.replace("tst r0, #2", "tst r0, #1")),
    "no question": (BODY, CHECKED.replace("    tst r0, #2\n    it eq\n    udfeq #0\n", "")),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_port_is_no_proof(tmp_path: Path, case: str) -> None:
    original, port = WRONG[case]
    with pytest.raises(NotTranscribable):
        refuse_another(made(tmp_path, original), made(tmp_path, port, "port.S"), ())


@pytest.mark.parametrize("flags", [2, 3])
def test_both_leave_their_caller_on_one_stack(tmp_path: Path, flags: int) -> None:
    """In an emulator, which has both of the machine's."""
    original = KNOWN.replace("#2", f"#{flags}")
    ends = [
        _run(*made(tmp_path, body, f"{number}.S"))
        for number, body in enumerate((original, PORT.replace("#2", f"#{flags}")))
    ]
    assert ends[0] == ends[1]
    assert ends[0][0] == _TOP


_TOP = 0x2000_0400


def _run(unit: ObjectFile, function: Function) -> list[int]:
    """sp, r0-r11 behind the function."""
    uc = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
    uc.ctl_set_cpu_model(arm.UC_CPU_ARM_CORTEX_M4)
    uc.mem_map(0x1000, 0x1000)
    uc.mem_map(0x2000_0000, 0x1000)
    uc.mem_write(0x1000, unit.data[function.section][function.start : function.end])
    for number in range(12):
        uc.reg_write(getattr(arm, f"UC_ARM_REG_R{number}"), 0x100 + number)
    uc.reg_write(arm.UC_ARM_REG_R0, _TOP)
    uc.reg_write(arm.UC_ARM_REG_SP, 0x2000_0800)
    uc.reg_write(arm.UC_ARM_REG_LR, 0x1801)
    uc.emu_start(0x1001, 0x1800)
    names = ["SP", *(f"R{number}" for number in range(12))]
    return [uc.reg_read(getattr(arm, f"UC_ARM_REG_{name}")) for name in names]
