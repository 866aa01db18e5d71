"""Writes of set-up registers for which no boot table stands in.

The kernel's boot table makes the system clock, the buses behind it, their clock enables and pins.
LSI, LSE, further PLLs, clocks that a device gets from elsewhere, outputs of clocks and what SYSCFG
does to memory and pads it leaves as they are after reset.
"""

from __future__ import annotations

import re

from porter.judging.unit import Unit
from porter.meaning.bits import ones, zeros
from porter.sites.access import Access
from porter.source.c_tree import text_of

_ALL = 0xFFFF_FFFF
_RMVF = 1 << 23 | 1 << 24  # of RCC->CSR, by family; its other bits are clocks
_DBP = 1 << 8  # of PWR->CR or CR1
_PVD = 0xF << 4  # PVDE, PLS: where PWR's one control register has them
_MORE_PLLS = 1 << 26 | 1 << 28  # of RCC->CR: PLLI2S, PLLSAI, PLLSAI1, PLL2, PLL3 by family
_CSSON = 1 << 19  # of RCC->CR: NMI where the crystal fails
_WAKE_UP = 0x1F << 8  # of PWR->CSR: EWUP
_OUTPUTS = 0xFFC0_0000  # of RCC->CFGR: MCO, I2SSRC, USBPRE by family
_NAMES_PVD = re.compile(rb"\bPWR_CR_(?:PVDE|PLS)")
_NAMES_OUTPUT = re.compile(rb"\bRCC_\w*(?:MCO|I2SSRC|USBPRE|USBCLK|OTGFSPRE)")
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
_OWN_NAME = re.compile(rb"(?:(?:EN|RST|CFG|CI)R?|_CR|EXTICR?)\d?\Z", re.IGNORECASE)
_SLOW = (
    "LSI, LSE and the RTC's clock aren't part of the boot table: take this out if the machine "
    "needs none of them, else ask the block's owner"
)
_OTHERS = (
    "{}; the boot table makes the system clock, its buses and pins alone: take this out if the "
    "machine can do without, else ask the block's owner"
)


def unmade(unit: Unit, access: Access) -> str | None:
    """Why a write can't go, for a person; None if the boot table sees to it, or it only clears."""
    register, value = access.register, access.value
    if register is None or access.use != "write" or value is None or access.operator == b"&=":
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
        case "RCC", "CFGR" if surely & _OUTPUTS or _NAMES_OUTPUT.search(text_of(access.whole)):
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


def _is_made(block: str, name: str, access: Access) -> bool:
    """Whether the boot table knows a register. One that no header describes is known by the
    project's own name for it."""
    if block not in _MADE:
        return True
    if name.startswith("+"):
        return _OWN_NAME.search(access.site.what.encode("latin-1")) is not None
    return _MADE[block].fullmatch(name) is not None
