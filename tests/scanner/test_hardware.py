"""What the rules say that hardware does, tried without privilege on QEMU's M3, M4, M7 and M33.

QEMU has no Cortex-M0+. Where it differs from silicon stands in docs/scanner.md.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from scanner.arch.registry import architecture
from scanner.policy import Policy
from scanner.report.finding import Severity
from scanner.target import Target
from tests.scanner.unprivileged import (
    BOARDS,
    LEFT_SECURE,
    OTHER,
    RAN,
    UNCHANGED,
    ZERO,
    Case,
    run,
)

ARCHITECTURES = {"m3": "armv7m", "m4": "armv7em", "m7": "armv7em", "m33": "armv8m.main"}
NON_SECURE = 0x00002000
SAVED = 0x38000100

EVERYWHERE = {
    "cpsid i": Case((0xB672,)), "cpsie i": Case((0xB662,)), "cpsid f": Case((0xB671,)),
    "cpsie if": Case((0xB663,)),
    **{
        f"msr {number:#x}": Case((0xF380, 0x8800 | number), 0x40)
        for number in (4, 5, 8, 9, 10, 11, 16, 17, 18, 19, 20, 0x88, 0x89, 0x90, 0x94, 0xC0)
    },
    **{
        f"mrs {number:#x}": Case((0xF3EF, 0x8000 | number))
        for number in (1, 3, 5, 7, 8, 9, 10, 11, 16, 17, 18, 19, 0x88, 0xC0)
    },
    "svc 1": Case((0xDF01,)), "bkpt 1": Case((0xBE01,)),
    "wfi": Case((0xBF30,)), "wfe": Case((0xBF20,)), "sev": Case((0xBF40,)),
    "wfi.w": Case((0xF3AF, 0x8003)),
    "mcr p0": Case((0xEE00, 0x0010)), "cdp p7": Case((0xEE10, 0x0701)),
    "ldc p4": Case((0xED90, 0x5400)),
    "vadd.f32 without a grant": Case((0xEE30, 0x0A20)),
    "smc": Case((0xF7F0, 0x8000)), "hvc": Case((0xF7E0, 0x8000)), "cps.w": Case((0xF3AF, 0x8740)),
    "blx": Case((0xF000, 0xE800)), "rfe": Case((0xE9B0, 0xC000)), "srs": Case((0xE98D, 0xC013)),
    "bxj": Case((0xF3C0, 0x8F00)), "eret": Case((0xF3DE, 0x8F00)),
    "subs pc, lr": Case((0xF3DE, 0x8F04)),
}  # fmt: skip
SECURE_WORLD = {
    "bxns": Case((0x470C,), NON_SECURE), "blxns": Case((0x478C,), NON_SECURE),
    "sg": Case((0xE97F, 0xE97F)), "tt": Case((0xE841, 0xF000), 0x38000000),
    "vlstm": Case((0xEC21, 0x0A00), SAVED), "vlldm": Case((0xEC31, 0x0A00), SAVED),
}  # fmt: skip


def severity(arch: str, halfwords: tuple[int, ...]) -> tuple[str, Severity]:
    """The rule that speaks of an instruction, and how grave it says that is."""
    core, target = architecture(arch), Target(arch, Policy(fpu=False))
    for rule in core.rules:
        for pattern in rule.patterns:
            if pattern.bits != 16 * len(halfwords):
                continue
            value = halfwords[0] if len(halfwords) == 1 else halfwords[0] << 16 | halfwords[1]
            judgement = rule.judge(value, target) if value & pattern.mask == pattern.match else None
            if judgement is not None:
                return rule.id, judgement.severity
    raise AssertionError(f"no rule speaks of {halfwords}")


@pytest.mark.parametrize("core", BOARDS)
def test_severities_are_what_the_core_does(tmp_path: Path, core: str) -> None:
    board, arch = BOARDS[core], ARCHITECTURES[core]
    cases = {**EVERYWHERE, **(SECURE_WORLD if board.armv8m else {})}
    outcomes = dict(zip(cases, run(board, list(cases.values()), tmp_path), strict=True))
    assert len(outcomes) == len(cases)
    for name, case in cases.items():
        outcome, register = outcomes[name]
        rule, grave = severity(arch, case.halfwords)
        if grave == "traps" or rule == "coproc":
            assert outcome not in (RAN, LEFT_SECURE), name
        elif rule == "bxns":
            assert outcome == LEFT_SECURE, name
        else:  # silent, or a matter of policy: no trap tells, and no mask or stack pointer moved
            assert outcome == RAN, name
        if rule == "mrs":
            assert register == ZERO, name
        elif rule not in ("bxns", "tt"):
            assert register == UNCHANGED, name
        if rule == "tt":
            assert register == OTHER, name


@pytest.mark.parametrize("core", BOARDS)
def test_what_is_allowed_runs_and_the_system_space_faults(tmp_path: Path, core: str) -> None:
    allowed = {
        "mrs apsr": Case((0xF3EF, 0x8000)), "mrs control": Case((0xF3EF, 0x8014)),
        "msr apsr": Case((0xF380, 0x8800), 0), "dsb": Case((0xF3BF, 0x8F4F)),
    }  # fmt: skip
    registers = (0xE000ED04, 0xE000ED08, 0xE000E010, 0xE000E100, 0xE000ED94, 0xE000ED88, 0xE000EDF0)
    accesses = [Case((word,), address) for address in registers for word in (0x6808, 0x6008)]
    returns = [Case((0x4708,), value) for value in (0xFFFFFFF1, 0xFFFFFFF9, 0xFFFFFFFD)]  # BX R1
    even = BOARDS[core].code + 0x100
    to_arm = [Case((word,), even) for word in (0x4708, 0x4788)]  # BX R1, BLX R1
    found = run(BOARDS[core], [*allowed.values(), *accesses, *returns, *to_arm], tmp_path)
    *found, bx, blx = found
    assert {bx[0], blx[0]} == {"usage fault"}
    behind = len(allowed) + len(accesses)
    assert {outcome for outcome, _ in found[: len(allowed)]} == {RAN}
    assert {outcome for outcome, _ in found[len(allowed) : behind]} == {"bus fault"}
    assert {outcome for outcome, _ in found[behind:]} == {"memory fault"}


@pytest.mark.parametrize("core", BOARDS)
def test_where_qemu_differs_from_silicon(tmp_path: Path, core: str) -> None:
    """If these change, docs/scanner.md has to."""
    cases = {
        "setend": (Case((0xB658,)), RAN),
        "cps, should-be-zero bits set": (Case((0xB67F,)), "usage fault"),
        "msr, should-be-zero bits set": (Case((0xF390, 0xA811)), "usage fault"),
        "mrs, should-be-one bits clear": (Case((0xF3E0, 0xA011)), "usage fault"),
    }
    found = run(BOARDS[core], [case for case, _ in cases.values()], tmp_path)
    assert {name: outcome for name, (outcome, _) in zip(cases, found, strict=True)} == {
        name: expected for name, (_, expected) in cases.items()
    }
