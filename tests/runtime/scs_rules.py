"""The system control space: its registers, and what the kernel may and must write into each.

Sources: docs/hardware-obligations.md.
"""

from __future__ import annotations

from typing import NamedTuple

SCS = range(0xE000E000, 0xE000F000)
_ALL_ONES = 0xFFFFFFFF


class Rule(NamedTuple):
    """A register of the system control space: what may be written, what boot has to write."""

    allowed: frozenset[int] | None = None  # None: any value, e.g. one read from a table
    boot: int | None = None  # on every path from reset to the first interrupt
    isb: bool = False  # needs ISB after DSB
    own: bool = False  # the procedure that writes it also settles it


def rules(vector_table: int) -> dict[str, Rule]:
    """The rule of each register that the kernel may write; it may write no other."""

    def only(*values: int, isb: bool = False, own: bool = True) -> Rule:
        return Rule(frozenset(values), values[0], isb, own)

    return {
        "ACTLR": only(0),
        "SYST_CSR": only(0, 7, own=False),
        "SYST_RVR": Rule(),
        "SYST_CVR": Rule(frozenset({0})),
        "NVIC_ISER": Rule(),
        "NVIC_ICER": Rule(boot=_ALL_ONES),
        "NVIC_ICPR": Rule(boot=_ALL_ONES),
        "NVIC_IPR": only(0x80808080),
        "ICSR": Rule(frozenset({0x0A000000, 0x10000000}), 0x0A000000),
        "VTOR": only(vector_table, isb=True),
        "AIRCR": Rule(frozenset({0x05FA0000, 0x05FA0004}), 0x05FA0000, own=True),
        "SCR": only(0),
        "CCR": only(0x210),
        "SHPR1": only(0),
        "SHPR2": only(0x80000000),
        "SHPR3": only(0x80F00000),
        "SHCSR": Rule(boot=0x00070000),
        "CFSR": Rule(boot=_ALL_ONES),
        "HFSR": Rule(boot=_ALL_ONES),
        "CPACR": Rule(None, 0, isb=True, own=True),
        "MPU_CTRL": only(0, 5, isb=True),
        "MPU_RNR": Rule(),
        "MPU_REGION": Rule(isb=True),
        "DEMCR": Rule(),
        "FPCCR": only(0x80000000),
        "FPDSCR": only(0),
    }


REGISTERS = {
    0xE000E008: "ACTLR", 0xE000E010: "SYST_CSR", 0xE000E014: "SYST_RVR", 0xE000E018: "SYST_CVR",
    0xE000ED04: "ICSR", 0xE000ED08: "VTOR", 0xE000ED0C: "AIRCR", 0xE000ED10: "SCR",
    0xE000ED14: "CCR", 0xE000ED18: "SHPR1", 0xE000ED1C: "SHPR2", 0xE000ED20: "SHPR3",
    0xE000ED24: "SHCSR", 0xE000ED28: "CFSR", 0xE000ED2C: "HFSR", 0xE000ED88: "CPACR",
    0xE000ED94: "MPU_CTRL", 0xE000ED98: "MPU_RNR", 0xE000EDFC: "DEMCR", 0xE000EF34: "FPCCR",
    0xE000EF3C: "FPDSCR", **dict.fromkeys(range(0xE000ED9C, 0xE000EDBC, 4), "MPU_REGION"),
}  # fmt: skip
BANKS = {
    "NVIC_ISER": range(0xE000E100, 0xE000E140),
    "NVIC_ICER": range(0xE000E180, 0xE000E1C0),
    "NVIC_ICPR": range(0xE000E280, 0xE000E2C0),
    "NVIC_IPR": range(0xE000E400, 0xE000E4F0),
}
