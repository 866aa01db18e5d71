"""Writes of set-up registers for which no boot table stands in.

The kernel's boot table makes the system clock, the buses behind it, their clock enables and pins.
LSI, LSE, further PLLs, clocks that a device gets from elsewhere, outputs of clocks and what SYSCFG
does to memory and pads it leaves as they are after reset.
"""

from __future__ import annotations

import re

from porter.judging.unit import Unit
from porter.meaning.bits import ones, zeros
from porter.meaning.expressions import mask_around
from porter.sites.access import Access
from porter.source.c_tree import Node, text_of
from porter.source.c_types import UNKNOWN
from porter.source.values import Place

_ALL = 0xFFFF_FFFF
_RMVF = 1 << 23 | 1 << 24  # of RCC->CSR, by family; its other bits are clocks
_DBP = 1 << 8  # of PWR->CR or CR1
_PVD = 0xF << 4  # PVDE, PLS: where PWR's one control register has them
_MORE_PLLS = 1 << 26 | 1 << 28  # of RCC->CR: PLLI2S, PLLSAI, PLLSAI1, PLL2, PLL3 by family
_CSSON = 1 << 19  # of RCC->CR: NMI where the crystal fails
_WAKE_UP = 0x1F << 8  # of PWR->CSR: EWUP
_OUTPUTS = 0xFFC0_0000  # of RCC->CFGR: MCO, I2SSRC, USBPRE by family
_SYSTEM = 0x001F_FFFF  # of RCC->CFGR: what divides the system clock, and the PLL's factor
# Of RCC->CR of families with ICSCR: HSI for devices while stopped, or at their asking, MSI held by
# LSE; the other family has ready flags there.
_DEVICES = 1 << 1 | 1 << 2 | 1 << 9 | 1 << 11
_HSI_OUT = 1 << 5  # the same, to a timer; where there is a PLLCFGR, MSI's range
_ADCPRE = 3 << 14  # of RCC->CFGR, where it is at 0x40021004: F0, F1, CH32
_CFGR_WITH_ADCPRE = 0x4002_1004
_LATER = {  # ready flags of what is no clock of the system's: of BDCR all
    "CR": 1 << 27 | 1 << 29, "BDCR": _ALL, "CSR": 0x00FF_FFFF, "CRRCR": _ALL, "CR2": _ALL,
}  # fmt: skip
_NAMES_LATER = re.compile(rb"(?:LSE|LSI|PLL(?:I2S|SAI\d?|2|3)|HSI48|HSI14)\w*RDY")
_NAMES_PLL = re.compile(rb"\bRCC_\w*(?:HSI48|PLL(?:I2S|SAI\d?|2|3))ON")
_NAMES_DEVICE = re.compile(rb"\bRCC_CR_(?:HSI(?:16)?(?:OUT|KER|ASF)|MSIPLL)\w*")
_NAMES_PVD = re.compile(rb"\bPWR_CR_(?:PVDE|PLS)")
_NAMES_OUTPUT = re.compile(rb"\bRCC_\w*(?:MCO|I2SSRC|USBPRE|USBCLK|OTGFSPRE|ADCPRE)")
_CLOCKS = re.compile(
    r"PLL(?:I2S|SAI\d?|2|3)(?:CFGR|DIVR|FRACR)|DCKCFGR\d?|(?:CD|SRD|D\d)?CCIP\d?R\d?|CFGR3|CR2|CRRCR|SSCGR"
)
_PADS = re.compile(r"MEMRMP|PMCR?|CMPCR|CCCSR|CFGR[12]")
_PREDIV = 0xF  # of RCC->CFGR2: what divides the crystal before the PLL
_NAMES_PREDIV = re.compile(rb"\bRCC_CFGR2_(?:PREDIV|PLL2)")
# What sets up the system clock, the buses and pins, in all families.
_MADE = {
    "RCC": re.compile(
        r"CR|CFGR|PLLCFGR|PLLCKSELR|PLL1(?:CFGR|DIVR|FRACR)\d?|C[IF][EFC]?R|ICSCR\d?"
        r"|(?:HSI|CSI|MSI|D[123]|CD|SRD)CFGR\d?|\w*(?:ENR|RSTR)\d?[LH]?|\w*(?:LP|SM)ENR\w*"
    ),
    "SYSCFG": re.compile(r"EXTICR\d?"),
}
_OWN_NAMES = {
    "RCC": re.compile(rb"(?:(?:EN|RST|CFG|CI)R?|_CR)\d?\Z", re.IGNORECASE),
    "SYSCFG": re.compile(rb"EXTI(?:CR?|SS)\d?\Z", re.IGNORECASE),
}
_SLOW = (
    "LSI, LSE and the RTC's clock aren't part of the boot table: take this out if the machine "
    "needs none of them, else ask the block's owner"
)
_OTHERS = (
    "{}; the boot table makes the system clock, its buses and pins alone: take this out if the "
    "machine can do without, else ask the block's owner"
)


_NEVER_READY = (
    "{} waits for a clock that isn't part of the boot table, and so is never ready: take this out "
    "if the machine can do without, else ask the block's owner"
)


def never_ready(unit: Unit, access: Access) -> str | None:
    """Why the question whether a clock is ready can't go, for a person."""
    register = access.register
    if register is None or register.block != "RCC" or access.use != "read":
        return None
    found = mask_around(access.whole)
    if found is None:
        return None
    mask = unit.text.evaluator.number(found[1], access.context.scope)
    named = _NAMES_LATER.search(text_of(found[1]))
    if named or (mask and not mask & ~_LATER.get(register.name, 0)):
        return _NEVER_READY.format(register)
    return None


def cleared_later(unit: Unit, access: Access) -> str | None:
    """Why a write that only clears can't go: what it clears the same function sets, or it isn't
    the first to run."""
    register = access.register
    if register is None or access.operator not in (b"&=", b"=") or access.value is None:
        return None
    bits = _ALL & ~ones(access.value, unit.text.evaluator, access.context.scope)
    if access.operator == b"=" and unit.text.evaluator.number(access.value) != 0:
        return None
    for other in unit.accesses():
        is_same = other.register == register and other.operator in (b"|=", b"=")
        if not is_same or other.value is None or (why := unmade(unit, other)) is None:
            continue
        set_bits = _changed(unit, other)
        is_near = other.context.root == access.context.root
        if set_bits & bits and (is_near or unit.why_again(access) is not None):
            return why
    return None


def unmade(unit: Unit, access: Access) -> str | None:
    """Why a write can't go, for a person; None if the boot table sees to it, or it only clears."""
    register, value = access.register, access.value
    if register is None or access.use != "write" or value is None:
        return None
    if access.operator == b"&=" and not _is_unknown(register.block, register.name, access):
        return None
    evaluator, scope = unit.text.evaluator, access.context.scope
    surely, perhaps = ones(value, evaluator, scope), _ALL & ~zeros(value, evaluator, scope)
    match register.block, register.name:
        case "RCC", "BDCR":
            return f"{register}: {_SLOW}"
        case "RCC", "CSR":
            return f"{register}: {_SLOW}" if perhaps & ~_RMVF else None
        case "PWR", "CR" | "CR1" if surely & _DBP:
            return f"{register}: {_SLOW}"
        case "PWR", "CR" if surely & _PVD or _NAMES_PVD.search(text_of(access.whole)):
            what = "watches the supply"
        case "PWR", "CSR" if surely & _WAKE_UP:
            what = "makes a pin end standby"
        case "RCC", "CR" if surely & _CSSON:
            what = "has a failing crystal raise NMI"
        case "RCC", "CR" if surely & _MORE_PLLS:
            what = "starts another PLL"
        case "RCC", "CR" if _NAMES_PLL.search(text_of(access.whole)):
            what = "starts another PLL, or a clock of a device"
        case "RCC", "CR" if surely & _of_devices(unit, access) or _NAMES_DEVICE.search(
            text_of(access.whole)
        ):
            what = "has a clock serve a device"
        case "RCC", "CFGR" if (changed := _changed(unit, access)) and not changed & _SYSTEM:
            what = "puts out a clock, or chooses a device's"
        case "RCC", "CFGR" if surely & _outputs(unit, access) or _NAMES_OUTPUT.search(
            text_of(access.whole)
        ):
            what = "puts out a clock, or chooses a device's"
        case "RCC", name if _CLOCKS.fullmatch(name) and perhaps:
            what = "sets up another PLL, or chooses a device's clock"
        case "SYSCFG", name if _PADS.fullmatch(name) and perhaps:
            what = "changes what memory, pads or interfaces of the chip do"
        case "PWR", "CR2" if perhaps:
            what = "switches supplies or watches them"
        case "RCC", "CFGR2" if not perhaps & ~_PREDIV or _NAMES_PREDIV.search(
            text_of(access.whole)
        ):
            return None
        case block, name if perhaps and not _is_made(block, name, access):
            what = "is nothing like that" if name[0] != "+" else "isn't known to be like that"
        case _:
            return None
    return f"{register} {_OTHERS.format(what)}"


def _changed(unit: Unit, access: Access) -> int:
    """Bits that a write may set which the register didn't have before."""
    if access.value is None:
        return 0
    evaluator, scope = unit.text.evaluator, access.context.scope
    place = evaluator.value(access.place, scope)
    own = {place.address: _ALL} if isinstance(place, Place) and place.address is not None else {}
    return _ALL & ~zeros(access.value, evaluator, scope, own)


def _of_devices(unit: Unit, access: Access) -> int:
    """Bits of RCC->CR that are no system clock's, where the header's fields tell the family."""
    owner = access.place.child_by_field_name("argument")
    if owner is None or not _has(unit, owner, b"ICSCR"):
        return 0
    return _DEVICES | (0 if _has(unit, owner, b"PLLCFGR") else _HSI_OUT)


def _has(unit: Unit, owner: Node, field: bytes) -> bool:
    found = unit.text.evaluator.text(text_of(owner) + b"->" + field)
    return isinstance(found, Place) and found.type != UNKNOWN


def _outputs(unit: Unit, access: Access) -> int:
    """Bits of RCC->CFGR that are no system clock's."""
    place = unit.text.evaluator.value(access.place, access.context.scope)
    has_adc = isinstance(place, Place) and place.address == _CFGR_WITH_ADCPRE
    return _OUTPUTS | (_ADCPRE if has_adc else 0)


def _is_unknown(block: str, name: str, access: Access) -> bool:
    """Whether nobody says what a register is: a block of another vendor, or another block."""
    return name.startswith("+") and not _is_made(block, name, access)


def _is_made(block: str, name: str, access: Access) -> bool:
    """Whether the boot table knows a register. One that no header describes is known by the
    project's own name for it."""
    if block not in _MADE:
        return True
    if name.startswith("+"):
        return _OWN_NAMES[block].search(access.site.what.encode("latin-1")) is not None
    return _MADE[block].fullmatch(name) is not None
