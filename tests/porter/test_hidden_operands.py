"""Macros that are given the register of an instruction: each use says what they do."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.judging.verdict import Status
from tests.porter.helpers import escalations, port_files, port_text

SET = (
    b"#define set_csr(reg, bit) ({ unsigned long old; \\\n"
    b'  __asm__ volatile ("csrrs %0, " #reg ", %1" : "=r"(old) : "rK"(bit)); old; })\n'
)
MASK = b'#define MASK(reg, v) __asm volatile("msr " #reg ", %0" :: "r"(v) : "memory")\n'


def test_registers_that_all_files_give_are_named(tmp_path: Path) -> None:
    result = port_files(
        tmp_path,
        {
            "csr.h": SET,
            "a.c": b'#include "csr.h"\nvoid a(void) { set_csr(mstatus, 8); }\n',
            "b.c": b'#include "csr.h"\n#define OPEN(r) set_csr(r, 128)\n'
            b"void b(void) { OPEN(mie); }\n",
        },
    )
    assert escalations(result) == [
        "csrrs %0, reg, %1: a part of the template is a macro: write it out "
        "(set_csr is used with mstatus, mie)"
    ]


def test_a_harmless_use_beside_another_one_changes_nothing(tmp_path: Path) -> None:
    text = MASK + b"void f(void) { MASK(apsr, 0); MASK(basepri, 1); }\n"
    _, port = port_text(tmp_path, text)
    assert [verdict.status for verdict in port.verdicts] == [Status.ESCALATED]


def test_a_hidden_part_of_an_instruction_is_one_site(tmp_path: Path) -> None:
    text = b'#define CPS(x) __asm volatile("cps" #x " i")\nvoid f(void) { CPS(id); CPS(ie); }\n'
    _, port = port_text(tmp_path, text)
    assert [verdict.reason for verdict in port.verdicts] == [
        "a part of the template is a macro: write it out (CPS is used with cpsid i, cpsie i)"
    ]


@pytest.mark.parametrize("uses", [b"", b"void f(void) { MASK(apsr, 0); }\n"])
def test_a_macro_without_harmful_uses_is_left(tmp_path: Path, uses: bytes) -> None:
    _, port = port_text(tmp_path, MASK + uses)
    assert [verdict.status for verdict in port.verdicts] == [Status.LEFT]


def test_a_use_in_a_macro_without_parameters_counts(tmp_path: Path) -> None:
    text = MASK + b"#define LOCK MASK(primask, 1)\nvoid f(void) { LOCK; }\n"
    _, port = port_text(tmp_path, text)
    assert [verdict.status for verdict in port.verdicts] == [Status.ESCALATED]


def test_a_register_that_an_unknown_macro_names_is_escalated(tmp_path: Path) -> None:
    text = b'#include "gone.h"\nvoid f(void) { __asm volatile("msr " LOCK_REGISTER ", r0"); }\n'
    _, port = port_text(tmp_path, text)
    assert [verdict.status for verdict in port.verdicts] == [Status.ESCALATED]


def test_a_second_definition_of_the_macro_is_not_judged_by_the_first(tmp_path: Path) -> None:
    other = b"#ifdef HOST\n#define MASK(reg, v) (void)(v)\n#else\n" + MASK + b"#endif\n"
    _, port = port_text(tmp_path, other + b"void f(void) { MASK(primask, 1); }\n")
    assert [verdict.status for verdict in port.verdicts] == [Status.ESCALATED]


@pytest.mark.parametrize(
    "text",
    [
        b"#define NAMED(n) extern int n asm(#n)\nNAMED(x);\n",
        b'#define LOAD(r) __asm volatile("ldr r0, " #r)\nvoid f(void) { LOAD([r1]); }\n',
        b"#define ALIAS(n) asm(PREFIX #n)\nint x ALIAS(y);\n",
    ],
)
def test_what_is_no_instruction_for_the_kernel_is_no_site(tmp_path: Path, text: bytes) -> None:
    _, port = port_text(tmp_path, text)
    assert [verdict.status for verdict in port.verdicts if verdict.status is not Status.LEFT] == []
