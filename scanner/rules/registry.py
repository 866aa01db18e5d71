"""All rules, in the order in which a report lists them at equal addresses."""

from __future__ import annotations

from scanner.rules import (
    bkpt,
    bxns,
    coproc,
    cps,
    foreign,
    mmio,
    mrs,
    msr,
    ppb,
    setend,
    svc,
    wfx,
)
from scanner.rules.model import AddressRule, InstructionRule

THUMB_RULES: tuple[InstructionRule, ...] = (
    cps.RULE,
    msr.RULE,
    mrs.RULE,
    svc.RULE,
    bkpt.RULE,
    wfx.RULE,
    coproc.RULE,
    setend.RULE,
    bxns.RULE,
    foreign.RULE,
)
THUMB_ADDRESS_RULES: tuple[AddressRule, ...] = (ppb.RULE, mmio.RULE)
