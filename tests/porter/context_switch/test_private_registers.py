"""Assembler functions may agree on registers among themselves; C keeps to prototypes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.argument_words import no_words
from porter.context_switch.assemble import assembled
from porter.context_switch.lift_state import Signature
from porter.context_switch.private_registers import PrivateRegisters
from porter.context_switch.result import NotTranscribable
from porter.project.compile_options import CompileOptions
from tests.porter.context_switch.riscv.trees import GCC, IMAFC
from tests.porter.context_switch.trees import M4F, fixture

NOTHING, ONE = Signature((), False), Signature((False,), True)
HEAD = ".syntax unified\n.thumb\n.text\n"
SWITCH = """\
mrs r0, psp
stmdb r0!, {r4-r11, lr}
ldr r4, =cur
ldr r2, [r4]
str r0, [r2]
ldr r2, [r2, #4]
bl note
ldr r2, [r4]
ldr r0, [r2]
ldmia r0!, {r4-r11, lr}
msr psp, r0
bx lr
.ltorg
"""
REFUSED: dict[str, tuple[str, str]] = {
    "scratch": ("ldr r3, =kept; str r2, [r3]; bx lr", "reads r2 of its caller"),
    "kept": ("ldr r3, =kept; str r5, [r3]; bx lr", "reads r5 of its caller"),
    "result": ("ldr r3, =kept; ldr r6, [r3]; bx lr", "leaves r6 changed"),
    "flags": ("it eq; moveq r3, #0; bx lr", "reads the flags of its caller"),
    "floats": ("ldr r3, =kept; vldmia r3, {s16-s31}; bx lr", "leaves s16-s31 changed"),
    "moved": ("mov r1, r12; push {r1}; pop {r2}; cmp r2, #0; bx lr", "reads r12 of its caller"),
    "one path": ("movs r3, #0; beq 1f; mov r5, r3; 1: bx lr", "leaves r5 changed"),
    "wrong order": ("push {r4, r5, lr}; pop {r4}; pop {r4, pc}", "leaves r4 changed"),
    "inner": ("push {lr}; bl inner; pop {pc}", "reads r7 of its caller"),
    "tail": ("b inner", "reads r7 of its caller"),
    "argument of C": ("b report", "reads r0 of its caller"),
}
ACCEPTED = {
    "saved": "push {r4-r6, lr}; movs r4, #1; mov r5, r4; mov r0, r4; bl report; pop {r4-r6, pc}",
    "padding": "push {r3, lr}; movs r0, #1; bl report; pop {r3, pc}",
    "high": "push {r4, lr}; mov r4, r8; push {r4}; movs r4, #1; mov r8, r4; pop {r4}; mov r8, r4;"
    "pop {r4, pc}",
    "slot": "sub sp, #8; str r4, [sp, #4]; movs r4, #1; ldr r4, [sp, #4]; add sp, #8; bx lr",
    "written first": "movs r2, #5; 1: subs r2, #1; bne 1b; bx lr",
    "floats": "vpush {d8}; push {r4}; movs r4, #1; pop {r4}; vpop {d8}; bx lr",
    "inner": "push {r7, lr}; movs r7, #1; bl inner; pop {r7, pc}",
}
INNER = "ldr r3, =kept; str r7, [r3]; bx lr"
RISCV_REFUSED = {
    "sw t2, 4(gp); ret": "reads t2 of its caller",
    "li s1, 1; ret": "leaves s1 changed",
    "tail report": "reads a0 of its caller",
    "addi sp, sp, -16; sw s1, 12(sp); mv t0, sp; lw t1, 12(t0); sw t1, 4(gp); lw s1, 12(sp);"
    "addi sp, sp, 16; ret": "reads s1 of its caller",
    "addi sp, sp, -16; sw s1, 12(sp); sb zero, 12(sp); lw s1, 12(sp); addi sp, sp, 16;"
    "ret": "reads s1 of its caller",
}
RISCV_ACCEPTED = (
    "addi sp, sp, -16; sw s1, 12(sp); sw ra, 8(sp); mv s1, ra; li a0, 1; call report;"
    "lw s1, 12(sp); lw ra, 8(sp); addi sp, sp, 16; ret",
    "mv t0, s1; li s1, 3; mv s1, t0; ret",
)
CALLERS: dict[str, tuple[str, str]] = {
    "scratch": ("push {r4, lr}; mov r3, r1; bl lock; str r3, [r0]; pop {r4, pc}", "r3"),
    "link": ("mov r12, lr; bl lock; bx r12", "r12"),
    "flags": ("push {lr}; bl lock; it eq; moveq r0, #0; pop {pc}", "the flags"),
    "through another": ("push {lr}; bl wraps; str r2, [r0]; pop {pc}", "r2"),
    "kept": ("push {r4, lr}; mov r4, r1; bl lock; str r4, [r0]; pop {r4, pc}", ""),
    "on the stack": ("push {r1, lr}; bl lock; pop {r1}; str r1, [r0]; pop {pc}", ""),
    "written": ("push {lr}; bl lock; movs r1, #1; str r1, [r0]; pop {pc}", ""),
}
LOCK = "mrs r0, primask; cpsid i; bx lr"


def text(**functions: str) -> str:
    parts = [
        f".global {name}\n.type {name}, %function\n{name}:\n{body.replace(';', chr(10))}\n.ltorg\n"
        for name, body in functions.items()
    ]
    return HEAD + "".join(parts)


def refused(check: Callable[[PrivateRegisters], None], file: Path, riscv: bool = False) -> str:
    compiler, cpu = (GCC, IMAFC) if riscv else ("arm-none-eabi-gcc", M4F)
    options = CompileOptions((), (), cpu, compiler)
    found = PrivateRegisters([file], lambda file: assembled(file, options), no_words)
    try:
        check(found)
    except NotTranscribable as reason:
        return str(reason)
    return ""


def of_callee(file: Path, riscv: bool = False) -> str:
    prototypes = {"note": NOTHING, "report": ONE, "inner": NOTHING}
    return refused(lambda found: found.refuse_callee("note", prototypes.get), file, riscv)


@pytest.mark.parametrize(("body", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_callee_that_takes_more_than_arguments(body: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "note.S"
    file.write_text(text(note=body, inner=INNER))
    assert f"calls note() of note.S, which {reason}:" in of_callee(file)


@pytest.mark.parametrize("body", ACCEPTED.values(), ids=ACCEPTED)
def test_a_callee_that_keeps_to_the_standard(body: str, tmp_path: Path) -> None:
    file = tmp_path / "note.S"
    file.write_text(text(note=body, inner=INNER))
    assert of_callee(file) == ""


@pytest.mark.parametrize("body", [*RISCV_REFUSED, *RISCV_ACCEPTED])
def test_a_callee_of_riscv(body: str, tmp_path: Path) -> None:
    file = tmp_path / "note.S"
    file.write_text(f".global note\n.type note, @function\nnote: {body}\n")
    reason = of_callee(file, riscv=True)
    assert RISCV_REFUSED[body] in reason if body in RISCV_REFUSED else reason == ""


@pytest.mark.parametrize(("body", "lost"), CALLERS.values(), ids=CALLERS)
def test_a_caller_that_stays(body: str, lost: str, tmp_path: Path) -> None:
    file = tmp_path / "ring.S"
    file.write_text(text(put=body, lock=LOCK, wraps="push {lr}; bl lock; pop {pc}"))
    reason = refused(lambda found: found.refuse_callers("lock", {"lock": ONE}.get), file)
    assert reason == "" if not lost else f"and then reads {lost}, which C may change" in reason


def test_both_are_escalated(tmp_path: Path) -> None:
    body, lost = CALLERS["scratch"]
    note, reason = REFUSED["scratch"]
    source = text(PendSV_Handler=SWITCH, note=note, lock=LOCK, put=body)
    tree = fixture(tmp_path, source, M4F, "switch.S")
    header = tmp_path / "os.h"
    header.write_text("void note(void);\nunsigned lock(void);\nextern void *cur;\n")
    ports = {port.name: port for port in replace(tree, files=(*tree.files, header)).port()}
    assert {port.status for port in ports.values()} == {"escalated"}
    assert f"note() of switch.S, which {reason}" in ports["PendSV_Handler"].reason
    assert f"put() of switch.S, which stays assembler, calls it and then reads {lost}" in (
        ports["lock"].reason
    )
