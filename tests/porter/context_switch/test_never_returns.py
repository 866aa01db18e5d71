"""Calls of functions that C declares never to return: nothing goes on behind them."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch.result import SwitchPort
from tests.porter.context_switch.test_refusals import FRAME, RESUME
from tests.porter.context_switch.trees import M4F, fixture

# Behind the call r1 and r2 are what they were only where it isn't made.
GUARDED = "ldr r3, [r2, #4]\ncmp r0, r3\nbhs 1f\nmov r0, r2\nbl overflow\n1: str r0, [r2, #8]\n"
PREDICATED = GUARDED.replace("bhs 1f\nmov r0, r2\nbl", "itt lo\nmovlo r0, r2\nbllo")
MASKED = GUARDED.replace("mov r0", "cpsid i\nmov r0")
BEHIND = "ldr r3, [r2, #4]\ncmp r0, r3\nbhs 1f\nmov r0, r2\nbl overflow\nb .\n1: str r0, [r2, #8]\n"
TEXT = """\
#include <stdint.h>
extern void *volatile task;
{declared}
__attribute__((naked)) void PendSV_Handler(void)
{{
    __asm volatile({asm});
}}
"""
DECLARED = [
    "void overflow(void *task) __attribute__((noreturn));",
    "_Noreturn void overflow(void *task);",
    "#include <stdnoreturn.h>\nnoreturn void overflow(void *task);",
    "#define FATAL __attribute__((__noreturn__))\nFATAL void overflow(void *task);",
]


def port(folder: Path, assembler: str, declared: str) -> SwitchPort:
    asm = " ".join(f'"{line}\\n"' for line in (FRAME + assembler + RESUME).splitlines())
    ports = fixture(folder, TEXT.format(asm=asm, declared=declared), M4F).port()
    return next(it for it in ports if it.name == "PendSV_Handler")


@pytest.mark.parametrize("declared", DECLARED)
def test_what_the_call_destroys_is_read_by_nobody(declared: str, tmp_path: Path) -> None:
    found = port(tmp_path, GUARDED, declared)
    assert found.proof is not None, found.reason
    assert b"overflow((void *)" in found.replacement and b"for (;;);" in found.replacement


@pytest.mark.parametrize("text", [PREDICATED, MASKED, BEHIND])
def test_in_other_forms(text: str, tmp_path: Path) -> None:
    found = port(tmp_path, text, DECLARED[0])
    assert found.proof is not None, found.reason


@pytest.mark.parametrize(
    "declared",
    [
        "void overflow(void *task);",
        "void overflow(void *task), other(void) __attribute__((noreturn));",
        "void other(void) __attribute__((noreturn));\nvoid overflow(void *task);",
    ],
)
def test_one_that_may_return_does(declared: str, tmp_path: Path) -> None:
    found = port(tmp_path, GUARDED, declared)
    assert "the call of overflow() destroyed" in found.reason
