"""Assembler functions of Arm's compiler 5: the C that comes out is that of naked ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.literals import value_of
from porter.context_switch.result import SwitchPort
from tests.porter.context_switch.cases import SOURCES
from tests.porter.context_switch.test_assembler_file import named
from tests.porter.context_switch.trees import fixture

HEAD = """\
#include <stdint.h>
#include "machine.h"

struct task {
    uint32_t *sp;
    char name[8];
};
extern struct task *volatile running;
void schedule(void) { }
"""
HEADER = """\
#define FPU_BIT 0x10
static __forceinline uint32_t raise(void)
{
    uint32_t old, high = 0x50;
    __asm
    {
        mrs old, basepri
        msr basepri, high
    }
    __dsb(15);
    return old;
}
"""
ARMCC = (
    HEAD
    + """\
__asm void PendSV_Handler(void);
__asm void PendSV_Handler( void )
{
    IMPORT  schedule
    extern  running;

    PRESERVE8
    mrs     r0, psp             ; the task's stack \x85
    tst     lr, #FPU_BIT
    bne     no_fpu_saved
    vstmdb  r0!, {s16-s31}
no_fpu_saved
    stmdb   r0!, {r4-r11, lr}   // what is left
    ldr     r1, =__cpp(&running)
    ldr     r2, [r1]
    str     r0, [r2]
    push    {r1, lr}
    bl      schedule
    pop     {r1, lr}
    ldr     r2, [r1]
    ldr     r0, [r2]
    ldmia   r0!, {r4-r11, lr}   /* as above */
    tst     lr, #FPU_BIT
    it      eq
    vldmiaeq r0!, {s16-s31}
    msr     psp, r0
    bx      lr
    ALIGN
}

__asm void SVC_Handler( void )
{
    ldr     r1, =running
    ldr     r2, [r1]
    ldr     r0, [r2]
    ldmia   r0!, {r4-r11, lr}
    msr     psp, r0
    bx      lr
}

__asm void start_first_task( void )
{
    cpsie   i
    svc     0
    nop
}

uint32_t idle(void) { __wfi(); return raise() + __clz(3); }
"""
)


def code(port: SwitchPort) -> list[str]:
    """The C without comments."""
    lines = [line.partition("/*")[0].rstrip() for line in port.replacement.decode().splitlines()]
    return [line for line in lines if line and "(void)" not in line and "( void )" not in line]


def ported(folder: Path, text: str, header: str = HEADER) -> list[SwitchPort]:
    tree = fixture(folder, text)
    tree.files[0].write_bytes(text.encode("latin-1"))
    (folder / "machine.h").write_text(header)
    return replace(tree, files=(*tree.files, folder / "machine.h")).port()


@pytest.mark.parametrize("eol", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_the_same_c_comes_out(tmp_path: Path, eol: str) -> None:
    ours = ported(tmp_path / "a", ARMCC.replace("\n", eol))
    gnu = fixture(tmp_path / "b", (SOURCES / "running_task.c").read_text()).port()
    for name in ("PendSV_Handler", "SVC_Handler", "start_first_task"):
        (found,) = [port for port in ours if port.name == name and b"{" in port.replacement]
        assert (found.status, found.proof is not None) == ("rewritten", True), found.reason
        assert code(found) == code(named(gnu, name))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0x20 << 1", 0x40),
        ("1 << 2 + 3u", 32),
        ("(1UL << 31)", 1 << 31),
        ("010", 8),
        ("3 - 4", None),
        ("1 << 31 >> 31", None),
        ("4 / 0", None),
        ("LEVEL << 4", None),
        ("089", None),
    ],
)
def test_an_expression_of_c_has_the_value_it_has_there(text: str, value: int | None) -> None:
    assert value_of(text) == value


def test_a_number_that_c_calculates_is_proved(tmp_path: Path) -> None:
    lock = "__asm void lock(void)\n{\n mov r0, #__cpp(0x20 << 1)\n msr basepri, r0\n bx lr\n}\n"
    (port,) = [port for port in ported(tmp_path, lock) if port.name == "lock"]
    assert port.proof is not None
    assert b"virt_int_mask" in port.replacement


def test_comments_and_prototypes_are_the_files_own(tmp_path: Path) -> None:
    ports = ported(tmp_path, ARMCC)
    prototype, handler = [port for port in ports if port.name == "PendSV_Handler"]
    assert prototype.replacement.strip() == b"void PendSV_Handler(void);"
    assert b"void PendSV_Handler( void )\n{" in handler.replacement
    assert b"__asm" not in handler.replacement
    assert b"/* stmdb r0!, {r4-r11, lr} */" in handler.replacement


IF_LINE = 1 + ARMCC[: ARMCC.index("    bl      schedule")].count("\n")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            "    IF :DEF:FAST\n    bl schedule\n    ENDIF\n",
            f"switch.c:{IF_LINE}: 'IF' of its assembler decides here what is assembled; leave",
        ),
        ("    bl __cpp(tasks[0].run)\n", "can't be compiled"),
        ("wait\n    cmp r0, r2\n    bne wait\n", "a loop"),
    ],
)
def test_what_isnt_understood_is_escalated(line: str, reason: str, tmp_path: Path) -> None:
    found = ported(tmp_path, ARMCC.replace("    bl      schedule\n", line))
    assert any(port.status == "escalated" and reason in port.reason for port in found), found


@pytest.mark.parametrize("included", [True, False])
def test_a_header_that_isnt_understood_matters_where_it_is_included(
    included: bool, tmp_path: Path
) -> None:
    """CMSIS comes with headers for Cortex-A beside those that a project includes."""
    other = "__asm void clear(void)\n{\n  IF {FPU} == 32\n  nop\n  ENDIF\n  bx lr\n}\n"
    text = ARMCC.replace("#include", '#include "other.h"\n#include', 1) if included else ARMCC
    (tmp_path / "other.h").write_text(other)
    tree = fixture(tmp_path, text)
    tree.files[0].write_bytes(text.encode("latin-1"))
    (tmp_path / "machine.h").write_text(HEADER)
    headers = (tmp_path / "machine.h", tmp_path / "other.h")
    found = replace(tree, files=(*tree.files, *headers)).port()
    escalated = [port.reason for port in found if port.status == "escalated"]
    assert bool(escalated) == included
    assert all("other.h:3: 'IF' of its assembler decides" in reason for reason in escalated)


def test_what_asks_for_an_fpu_is_a_condition_of_the_c(tmp_path: Path) -> None:
    """With an FPU and without, both arms are proved."""
    asked = """\
    IF {FPU} != "SoftVFP"
    str     r1, [r2, #4]
    ELSE
    str     r1, [r2, #8]
    ENDIF
    bl      schedule
"""
    ports = ported(tmp_path, ARMCC.replace("    bl      schedule\n", asked))
    handler = [port for port in ports if port.name == "PendSV_Handler"][-1]
    assert handler.proof is not None, handler.reason
    lines = [line.split(b"/*")[0].strip() for line in handler.replacement.splitlines()]
    place = lines.index(b"#if defined(__ARM_FP)")
    assert lines[place + 2] == b"#else" and lines[place + 4] == b"#endif"


def test_text_that_is_cut_off_is_escalated(tmp_path: Path) -> None:
    (found,) = ported(tmp_path, ARMCC[: ARMCC.index("    bx      lr")])
    assert found.status == "escalated"


def test_a_start_ends_with_its_supervisor_call_whatever_stands_behind_it(tmp_path: Path) -> None:
    """No return, and the next function in memory is no part of it."""
    begin, end = ARMCC.index("__asm void start_first_task"), ARMCC.index("uint32_t idle")
    at = ARMCC.index("__asm void PendSV_Handler( void )")
    text = ARMCC[:at] + ARMCC[begin:end] + ARMCC[at:begin] + ARMCC[end:]
    found = [port for port in ported(tmp_path, text) if port.name == "start_first_task"]
    assert [port.status for port in found] == ["rewritten"], [port.reason for port in found]
    assert b"virt_svc(0);" in found[0].replacement
