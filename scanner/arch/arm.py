"""The M-profile: ARMv6-M, ARMv7-M with and without DSP, ARMv8-M with the main extension."""

from __future__ import annotations

from scanner.arch.model import Architecture
from scanner.decode.disassembler import ThumbDisassembler
from scanner.decode.thumb import Thumb
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

_RUNS = {
    "armv6m": ("armv6m",),
    "armv7m": ("armv6m", "armv7m"),
    "armv7em": ("armv6m", "armv7m", "armv7em"),
    "armv8m.main": ("armv6m", "armv7m", "armv7em", "armv8m.base", "armv8m.main"),
}

RULES = (
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
ADDRESS_RULES = (ppb.RULE, mmio.RULE)


def architecture(name: str) -> Architecture:
    """One of the four; they share tables and differ in what rules make of a match."""
    return Architecture(name, _RUNS[name], Thumb(), ThumbDisassembler(), RULES, ADDRESS_RULES)
