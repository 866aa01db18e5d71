"""Instructions of Arm's that an IT block gives a condition: what they are, they are still."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from porter.asm.leaps import WHY_RETURN
from porter.port import port_project
from porter.source import mnemonics
from tests.porter.helpers import escalations

_CPU = ("-mcpu=cortex-m4", "-mthumb")
_HEAD = "    .syntax unified\n    .thumb\n    .text\n    .global f\n    .type f, %function\nf:\n"


def _places(folder: Path, text: str, *, is_c: bool) -> list[str]:
    lines = "".join(f'"{line.strip()}\\n"' for line in text.splitlines())
    c = f"void f(void) {{ __asm volatile({lines}); }}\n"
    (folder / ("main.c" if is_c else "f.s")).write_text(c if is_c else _HEAD + text + "\n")
    result = port_project(folder, cpu=_CPU)
    found = [it for file in result.files for it in file.verdicts]
    assert len(escalations(result)) == len(found)
    return [it.site.what for it in found]


@pytest.mark.parametrize("is_c", [True, False])
@pytest.mark.parametrize(
    "line",
    ["wfieq", "wfeeq", "seveq", "svceq 0", "swieq #0", "mrseq r0, primask", "msreq basepri, r0",
     "WFIEQ", "svceq #1", "msreq psp, r0"],
)  # fmt: skip
def test_a_privileged_instruction_under_a_condition(tmp_path: Path, line: str, is_c: bool) -> None:
    text = f"cmp r0, #0\n it eq\n {line}\n bx lr"
    name, _, operands = line.partition(" ")
    assert _places(tmp_path, text, is_c=is_c) == [f"{name.lower()} {operands}".strip()]


@pytest.mark.parametrize("is_c", [True, False])
@pytest.mark.parametrize("line", ["wfi.w", "wfi.n", "wfial", "wfieq.w", "wfieq.n", "msr.w psp, r0"])
def test_its_width(tmp_path: Path, line: str, is_c: bool) -> None:
    assert len(_places(tmp_path, f"{line}\n bx lr", is_c=is_c)) == 1


@pytest.mark.parametrize("is_c", [True, False])
def test_what_only_looks_like_one_is_none(tmp_path: Path, is_c: bool) -> None:
    text = """teq r0, r1
    itte eq
    moveq r0, #1
    addeq r1, r1, #1
    lslne r0, r0, #2
    bls 1f
    ble 1f
    muls r0, r1, r0
    1: bx lr"""
    assert not _places(tmp_path, text, is_c=is_c)


def test_a_jump_that_a_condition_guards_leaves(tmp_path: Path) -> None:
    (tmp_path / "f.s").write_text(_HEAD + "ldr lr, =0xfffffffd\n it eq\n bxeq lr\n bx r1\n")
    (told,) = escalations(port_project(tmp_path, cpu=_CPU))
    assert told.endswith(": " + WHY_RETURN)


@pytest.mark.parametrize(("line", "found"), [("popne {r4, pc}", 1), ("pop {r4, pc}", 0)])
def test_code_goes_on_behind_a_return_that_a_condition_guards(
    tmp_path: Path, line: str, found: int
) -> None:
    block = "it ne\n " if found else ""
    text = f"{block}{line}\n .short 0xb672\n bx lr"
    assert len(_places(tmp_path, text, is_c=False)) == found


def test_no_word_has_two_readings() -> None:
    known = mnemonics.BASES
    assert not {base + it for base, it in product(known, mnemonics.CONDITIONS)} & known


@pytest.mark.parametrize(
    ("word", "base", "condition"),
    [("bls", "b", "ls"), ("bllt", "bl", "lt"), ("teq", "teq", ""), ("muls", "mul", ""),
     ("adcscs", "adc", "cs"), ("vmls.f32", "vmls", ""), ("vmovne.f32", "vmov", "ne"),
     ("svcvc", "svc", "vc"), ("bxal", "bx", ""), ("ldrhs", "ldr", "hs"), ("csrrs", "csrrs", ""),
     ("fence.i", "fence.i", "")],
)  # fmt: skip
def test_the_parts_of_a_word(word: str, base: str, condition: str) -> None:
    assert mnemonics.split(word) == (base, condition)
