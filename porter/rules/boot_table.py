"""Clocks, pins, power and flash timing: set up once, before any machine runs."""

from __future__ import annotations

from collections.abc import Iterator

from porter.rules.removed import remove_accesses
from porter.rules.rule import Rule, Sample
from porter.rules.unit import Unit
from porter.rules.verdict import Verdict
from porter.sites.access import Access

REASON = "boot table"
_WHOLE_BLOCKS = frozenset({"RCC", "SYSCFG", "AFIO"})
_REGISTERS = frozenset(
    {
        "FLASH->ACR",
        "PWR->CR", "PWR->CR1", "PWR->CR2", "PWR->CR3", "PWR->CR4", "PWR->CSR", "PWR->D3CR",
        "GPIO->MODER", "GPIO->OTYPER", "GPIO->OSPEEDR", "GPIO->PUPDR", "GPIO->AFR", "GPIO->AFRL",
        "GPIO->AFRH", "GPIO->LCKR", "GPIO->ASCR", "GPIO->CRL", "GPIO->CRH",
    }
)  # fmt: skip
_SAMPLE_HEADER = (
    "typedef struct { volatile unsigned CR, PLLCFGR, CFGR; } RCC_TypeDef;\n"
    "#define RCC ((RCC_TypeDef *)0x40023800)\n"
)


class BootTable(Rule):
    """Set-up writes go; so do the loops that wait for what they switch on."""

    id = "boot-table"
    finds = "writes to RCC, SYSCFG, PWR, FLASH->ACR and GPIO modes, and waits for ready flags"
    becomes = "nothing: the description's clocks and pins become the kernel's boot table"
    why = "two firmwares would both write them; the kernel does it once and waits once"
    samples = (
        Sample(
            _SAMPLE_HEADER + "void f(void)\n{\n    int n = 9;\n\n    RCC->CR |= 1;\n"
            "    while ((RCC->CR & 2) == 0 && n != 0) {\n        n--;\n    }\n    g();\n}\n",
            _SAMPLE_HEADER + "void f(void)\n{\n    g();\n}\n",
        ),
        Sample(_SAMPLE_HEADER + "unsigned f(void) { return RCC->CFGR; }\n", "", escalates=True),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """All of a file's set-up at once: one write may use what another read."""
        accesses = [access for access in unit.accesses() if _is_set_up(access)]
        yield from remove_accesses(self, unit, accesses, REASON, waits_end=True)


def _is_set_up(access: Access) -> bool:
    register = access.register
    if register is None:
        return False
    return register.block in _WHOLE_BLOCKS or f"{register.block}->{register.name}" in _REGISTERS
