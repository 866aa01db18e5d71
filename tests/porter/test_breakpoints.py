"""Stops for a debugger, which a machine doesn't have."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.asm.breakpoints import WHY_SEMIHOSTING, WHY_STOP
from porter.judging.verdict import Status
from tests.porter.helpers import escalations, port_files, port_text

ANGEL = b"#define ANGEL 0xAB\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b'void f(void) { __asm volatile("bkpt 0xab" ::: "memory"); }\n', WHY_SEMIHOSTING),
        (b'void f(void) { __asm volatile("bkpt %0" :: "i"(ANGEL)); }\n', WHY_SEMIHOSTING),
        (b"void f(void) { __BKPT(ANGEL); }\n", WHY_SEMIHOSTING),
        (b"int f(int n, void *p) { return __semihost(n, p); }\n", WHY_SEMIHOSTING),
        (b"void f(void) { __BKPT(0); }\n", WHY_STOP),
        (b'void f(void) { __asm("nop\\n\\tBKPT #3"); }\n', WHY_STOP),
        (b"__asm void f(void) { BKPT 1 }\n", WHY_STOP),
        (b'void f(void) { __asm(".inst.n 0xbe00"); }\n', WHY_STOP),
    ],
)
def test_a_breakpoint_is_told(tmp_path: Path, text: bytes, reason: str) -> None:
    (told,) = escalations(port_files(tmp_path, {"main.c": ANGEL + text}))
    assert told.endswith(": " + reason)


def test_a_call_of_the_debugger_on_riscv(tmp_path: Path) -> None:
    call = b'"slli x0, x0, 0x1f\\n ebreak\\n srai x0, x0, 7"'
    text = b"void f(void) { __asm(%s); }\nvoid g(void) { __asm(%s); }\n" % (call, b'"c.ebreak"')
    first, second = escalations(port_files(tmp_path, {"main.c": text}))
    assert first == f"ebreak: {WHY_SEMIHOSTING}"
    assert second == f"c.ebreak: {WHY_STOP}"


@pytest.mark.parametrize("text", [b"stop:\n    bkpt #0\n", b".macro stop\n    bkpt #0\n.endm\n"])
def test_one_in_an_assembler_file(tmp_path: Path, text: bytes) -> None:
    (told,) = escalations(port_files(tmp_path, {"stop.s": b"    .thumb\n    .text\n" + text}))
    assert told == f"bkpt #0: {WHY_STOP}"


def test_a_definition_is_no_use(tmp_path: Path) -> None:
    """CMSIS' header has it; a project that never calls it has nothing to do."""
    core = b'#define __BKPT(value) __ASM volatile ("bkpt "#value)\n'
    _, port = port_text(tmp_path, core + b"int main(void) { for (;;) { } }\n")
    assert [it.status for it in port.verdicts] == [Status.LEFT]


def test_what_else_its_statement_does_stays(tmp_path: Path) -> None:
    text = b'void f(void) { __asm volatile("cpsid i\\n bkpt 0"); }\n'
    ported, port = port_text(tmp_path, text)
    assert ported == text
    assert [it.status for it in port.verdicts] == [Status.ESCALATED, Status.ESCALATED]
