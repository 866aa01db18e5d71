"""Thumb: what each instruction that LLVM knows should be to the scanner, and why some aren't.

Every halfword that is an instruction by itself is compared; of those of two halfwords every first
one with second ones of every form, and with all of them where special registers, hints, barriers
and states are.
"""

from __future__ import annotations

import re

from proofs.encodings.comparison import UNKNOWN, Comparison, Reason, Row, compare
from proofs.encodings.llvm import Decoder, Encoding, decode
from proofs.encodings.scanner_tables import is_wide

A_PROFILE = Decoder(
    "thumbv8a-none-eabi", "+neon,+crypto,+fp-armv8,+mp,+virtualization,+trustzone,+hwdiv,+crc"
)
CORES = {
    "armv6m": Decoder("thumbv6m-none-eabi"),
    "armv7m": Decoder("thumbv7m-none-eabi", "+vfp4d16sp"),
    "armv7em": Decoder("thumbv7em-none-eabi", "+vfp4d16sp"),
    "armv8m.main": Decoder("thumbv8m.main-none-eabi", "+8msecext,+dsp,+fp-armv8d16sp"),
}
"""The scanner's cores, and LLVM's with a floating-point unit, so that it has a name for those."""

WHOLE = ("armv6m", "armv8m.main")
"""Cores for which all forms are tried: their tables are the smallest and the largest."""

_WIDE = range(0xE800, 0x10000)
_SYSTEM, _SYSTEM_FORM = range(0xF380, 0xF400), (0xD000, 0x8000)

_RULES = {
    "svc": "svc", "bkpt": "bkpt", "wfi": "wfx", "wfe": "wfx", "sev": "wfx", "setend": "setend",
    "sg": "sg", "bxns": "bxns", "blxns": "bxns", "vlldm": "vlstm", "vlstm": "vlstm",
    "hvc": "foreign", "smc": "foreign", "eret": "foreign", "bxj": "foreign", "hlt": "foreign",
    "tt": "tt", "ttt": "tt", "tta": "tt", "ttat": "tt",
}  # fmt: skip
_FAMILIES = (
    (re.compile(r"rfe\w*|srs\w*|dcps\d"), "foreign"),
    (re.compile(r"v(ld|st)\d"), "foreign"),
    (re.compile(r"mcrr?2?|mrrc2?|mrc2?|cdp2?|(ldc|stc)2?l?|v\w+|fld\w+|fst\w+"), "coproc"),
    (re.compile(r"aes\w+|sha\d\w+"), "coproc"),
)
_HARMLESS = {
    "msr": re.compile(r"([ie]?apsr|xpsr)(_\w+)?"),
    "mrs": re.compile(r"apsr|eapsr|epsr|control|4"),
}
"""Flags may be written, whatever is named with them; CONTROL and all without IPSR may be read."""


def rule_of(text: str, wide: bool) -> str | None:
    """The rule that should speak of an instruction, by the name that LLVM has for it."""
    mnemonic, _, operands = text.partition(" ")
    mnemonic = mnemonic.partition(".")[0]
    first, _, second = operands.partition(", ")
    if mnemonic.startswith("cps"):
        return "foreign" if wide else "cps"
    if mnemonic in _HARMLESS:
        register = first if mnemonic == "msr" else second
        return None if _HARMLESS[mnemonic].fullmatch(register) else mnemonic
    if (mnemonic == "blx" and first.startswith("#")) or text.startswith("subs pc, lr"):
        return "foreign"
    if mnemonic in _RULES:
        return _RULES[mnemonic]
    return next((rule for form, rule in _FAMILIES if form.fullmatch(mnemonic)), None)


def wanted(arch: str, row: Row) -> str | None:
    """What should be told of an encoding."""
    wide = len(row.encoding) == 2
    if row.text is not None:
        return rule_of(row.text, wide)
    if row.elsewhere is None:
        return None
    rule = rule_of(row.elsewhere, wide)
    if arch == "armv6m" and rule not in ("cps", "setend", *_HARMLESS):
        return "foreign"  # whatever it is on a larger core; banked registers are special ones here
    return rule


def _should_be_zero(arch: str, row: Row) -> bool:
    is_branch = row.text is not None and row.text.startswith(("bx ", "blx "))
    return row.found == {"bxns"} and (is_branch or row.text is None)


def _deliberate(arch: str, row: Row) -> bool:
    return len(row.encoding) == 2 and row.encoding[0] >> 4 == 0xF7F and not row.found


def _larger_core(arch: str, row: Row) -> bool:
    return arch == "armv6m" and row.text is None and "foreign" in row.found


REASONS = (
    Reason(
        "BX and BLX with a bit set that makes them BXNS and BLXNS on ARMv8-M: told on other cores, "
        "where LLVM doesn't look at it or knows no BLXNS",
        _should_be_zero,
    ),
    Reason(
        "ARMv6-M has it not and LLVM's larger cores neither: undefined, and told as foreign",
        _larger_core,
    ),
    Reason("UDF, which traps because somebody wanted it", _deliberate),
    UNKNOWN,
)


def narrow() -> list[Encoding]:
    """All instructions of one halfword."""
    return [(half,) for half in range(_WIDE.start)]


def wide(whole: bool) -> list[Encoding]:
    """Every first halfword with second ones of every form; with `whole` all of some."""
    low = [0, 0xFFF, *(1 << bit for bit in range(12))] if whole else [0, 0x801, 0xFFF]
    seconds = [form << 12 | rest for form in range(16) for rest in low]
    found = {(first, second) for first in _WIDE for second in seconds}
    mask, match = _SYSTEM_FORM
    special = [second for second in range(0, 0x10000) if second & mask == match]
    if whole:
        found |= {(first, second) for first in _SYSTEM for second in special}
        found |= {(0xE97F, second) for second in range(0x10000)}
        found |= {(0xE840 | n, 0xF000 | rest) for n in range(16) for rest in range(0x1000)}
    else:
        found |= {(first, s) for first in (0xF380, 0xF3A0, 0xF3AF, 0xF3BF, 0xF3EF) for s in special}
    return sorted(found)


def compare_all(arch: str, whole: bool) -> Comparison:
    """One core, its lengths included."""
    result = Comparison()
    for encodings in (narrow(), wide(whole)):
        elsewhere = decode(A_PROFILE, encodings)
        result.add(compare(arch, CORES[arch], elsewhere, encodings, wanted, REASONS))
    lengths = [first for first in range(0x10000) if is_wide(arch, first) != (first in _WIDE)]
    result.unexplained += [f"{arch} {first:04x}: its length" for first in lengths]
    return result
