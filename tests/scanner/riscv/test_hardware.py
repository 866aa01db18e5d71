"""What the rules say hardware does, tried in user mode on QEMU's virt machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from scanner.arch.riscv import RULES
from scanner.policy import Policy
from scanner.rules import csr
from scanner.target import Target
from tests.scanner.riscv.user_mode import FLOATING_POINT_ON, RAN, narrow, run

VIRT = Target("rv32imafc", Policy(fpu=False), profile="qemu-virt")
ILLEGAL, BREAKPOINT, LOAD_FAULT, STORE_FAULT, CALL = "2", "3", "5", "7", "8"

CASES = {
    "mret": (0x30200073, ILLEGAL),
    "sret": (0x10200073, ILLEGAL),
    "uret": (0x00200073, ILLEGAL),
    "dret": (0x7B200073, ILLEGAL),
    "mnret": (0x70200073, ILLEGAL),
    "sfence.vma": (0x12000073, ILLEGAL),
    "sinval.vma": (0x16000073, ILLEGAL),
    "cease": (0x30500073, ILLEGAL),
    "hlv.b": (0x60054573, ILLEGAL),
    "custom system": (0x8C000073, ILLEGAL),
    "wfi": (0x10500073, ILLEGAL),
    "ecall": (0x00000073, CALL),
    "ebreak": (0x00100073, BREAKPOINT),
    "c.ebreak": (narrow(0x9002), BREAKPOINT),
    "fence.i": (0x0000100F, RAN),
    "cbo.inval": (0x0005200F, ILLEGAL),
    "cbo.clean": (0x0015200F, ILLEGAL),
    "cbo.zero": (0x0045200F, ILLEGAL),
    "vsetvli": (0x0D0072D7, ILLEGAL),
    "vadd.vv": (0x02108057, ILLEGAL),
    "vle8.v": (0x02050007, ILLEGAL),
    "vse32.v": (0x02056027, ILLEGAL),
    "custom-0": (0x0000000B, ILLEGAL),
    "custom-1": (0x0000002B, ILLEGAL),
    "custom-2": (0x0000005B, ILLEGAL),
    "custom-3": (0x0000007B, ILLEGAL),
    "fadd.s": (0x00C58553, ILLEGAL),
    "fmv.x.w": (0xE0050553, ILLEGAL),
    "flw": (0x00012507, ILLEGAL),
    "c.flwsp": (narrow(0x6502), ILLEGAL),
}


def test_every_row(tmp_path: Path) -> None:
    seen = run(tmp_path, [[word] for word, _ in CASES.values()])
    assert dict(zip(CASES, seen, strict=True)) == {
        name: cause for name, (_, cause) in CASES.items()
    }


def test_what_traps_by_the_rules_traps(tmp_path: Path) -> None:
    """Of all rules but those of a policy: `traps` must trap, silence would be worse."""
    for name, (word, cause) in CASES.items():
        bits = 16 if word >> 16 == 1 else 32
        value = word & 0xFFFF if bits == 16 else word
        for rule in RULES:
            if any(p.bits == bits and value & p.mask == p.match for p in rule.patterns):
                judgement = rule.judge(value, VIRT)
                if judgement is not None and judgement.severity != "policy":
                    assert (judgement.severity == "traps") is (cause != RAN), name


def test_floating_point_runs_where_it_is_on(tmp_path: Path) -> None:
    words = [[0x00C58553], [0xE0050553], [0x00301573], [0x00102573]]
    assert run(tmp_path, words) == ILLEGAL * 4
    assert run(tmp_path, words, FLOATING_POINT_ON) == RAN * 4


@pytest.mark.parametrize("operation", [0x1073, 0x2573], ids=["csrrw x0, x0", "csrrs a0, x0"])
def test_all_4096_registers(tmp_path: Path, operation: int) -> None:
    """Hardware runs only what the rule allows; what the rule says traps, traps."""
    words = [number << 20 | operation for number in range(0x1000)]
    seen = run(tmp_path, [[word] for word in words])
    assert len(seen) == 0x1000
    for word, result in zip(words, seen, strict=True):
        judgement = csr.RULE.judge(word, VIRT)
        assert result in (RAN, ILLEGAL)
        if judgement is not None:
            assert judgement.severity in ("traps", "policy"), hex(word >> 20)
            assert result == ILLEGAL, hex(word >> 20)
    assert seen.count(RAN) == (0 if operation == 0x1073 else 38)


def test_system_blocks_are_out_of_reach(tmp_path: Path) -> None:
    """LUI a0 with the block's page, then a load or a store: one PMP entry opens RAM alone."""
    load, store = 0x00052583, 0x00B52023
    pages = {"CLINT": 0x02004, "PLIC": 0x0C000, "UART": 0x10000}
    cases = [[page << 12 | 0x537, access] for page in pages.values() for access in (load, store)]
    assert run(tmp_path, cases) == (LOAD_FAULT + STORE_FAULT) * len(pages)
    assert run(tmp_path, [[0x80000537, load]]) == RAN
