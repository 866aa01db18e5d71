"""The M-profile: ARMv6-M, ARMv7-M with and without DSP, ARMv8-M with the main extension."""

from __future__ import annotations

from scanner.arch.model import Architecture
from scanner.decode.disassembler import ThumbDisassembler
from scanner.decode.thumb import Thumb
from scanner.rules import (
    arm_state,
    baseline_only,
    bkpt,
    bxns,
    coproc,
    cps,
    exc_return,
    foreign,
    mmio,
    mrs,
    msr,
    outside,
    ppb,
    secure_state,
    setend,
    sg,
    svc,
    tt,
    wfx,
)
from scanner.rules.model import Pattern

_RUNS = {
    "armv6m": ("armv6m",),
    "armv7m": ("armv6m", "armv7m"),
    "armv7em": ("armv6m", "armv7m", "armv7em"),
    "armv8m.main": ("armv6m", "armv7m", "armv7em", "armv8m.base", "armv8m.main"),
}

_EVERY = (cps.RULE, msr.RULE, mrs.RULE, svc.RULE, bkpt.RULE, wfx.RULE, setend.RULE)
_RULES = {
    "armv6m": (*_EVERY, bxns.RULE, baseline_only.RULE),
    "armv7m": (*_EVERY, coproc.RULE, bxns.RULE, foreign.RULE),
    "armv7em": (*_EVERY, coproc.RULE, bxns.RULE, foreign.RULE),
    "armv8m.main": (
        *_EVERY,
        coproc.RULE,
        bxns.RULE_V8M,
        sg.RULE,
        secure_state.RULE,
        tt.RULE,
        foreign.RULE,
    ),
}
_NEWER = {
    "armv8m.main": (
        *sg.RULE.patterns,
        *secure_state.RULE.patterns,
        *tt.RULE.patterns,
        Pattern(32, 0xFFE0D07E, 0xF380800A),  # MSR MSPLIM, PSPLIM and their _NS
        Pattern(32, 0xFFFFF07E, 0xF3EF800A),  # MRS
        Pattern(32, 0xFFF00F8F, 0xE8D00F8F),  # LDA, LDAEX and their narrower forms
        Pattern(32, 0xFFF00F8F, 0xE8C00F8F),  # STL
    )
}
ADDRESS_RULES = (ppb.RULE, mmio.RULE, exc_return.RULE, arm_state.RULE, outside.RULE)


def architecture(name: str) -> Architecture:
    """One of the four; they share the tables of instructions."""
    return Architecture(
        name,
        _RUNS[name],
        Thumb(),
        ThumbDisassembler(),
        _RULES[name],
        ADDRESS_RULES,
        _NEWER.get(name, ()),
    )
