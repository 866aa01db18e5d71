"""Set-up that the kernel's boot table doesn't make isn't taken out for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import escalations, port_files

HEADER = b"""\
typedef struct { volatile unsigned CR, PLLCFGR, CFGR, CIR, X[29], PLLI2SCFGR, Y, DCKCFGR; }
    RCC_TypeDef;
#define RCC ((RCC_TypeDef *)0x40023800)
typedef struct { volatile unsigned MEMRMP, PMC, EXTICR[4]; } SYSCFG_TypeDef;
#define SYSCFG ((SYSCFG_TypeDef *)0x40013800)
typedef struct { volatile unsigned CR, CSR; } PWR_TypeDef;
#define PWR ((PWR_TypeDef *)0x40007000)
#define RCC_CFGR_MCO2 0xC0000000u
#define PWR_CR_PLS 0xE0u
#define MODIFY_REG(reg, clear, set) ((reg) = (((reg) & ~(clear)) | (set)))
"""


@pytest.mark.parametrize(
    "write",
    [
        "RCC->PLLI2SCFGR = (192u << 6) | (2u << 28);",
        "RCC->CR |= 1u << 26;",
        "RCC->CFGR |= RCC_CFGR_MCO2;",
        "MODIFY_REG(RCC->CFGR, RCC_CFGR_MCO2, which << 30);",
        "RCC->DCKCFGR |= which;",
        "SYSCFG->PMC |= 1u << 23;",
        "SYSCFG->MEMRMP = 3;",
        "PWR->CR |= 5u << 4;",
        "MODIFY_REG(PWR->CR, PWR_CR_PLS, which);",
        "PWR->CSR |= 1u << 8;",
        "RCC->CR |= 1u << 19;",
    ],
)
def test_a_person_is_told(tmp_path: Path, write: str) -> None:
    code = f"void f(unsigned which) {{ {write} }}\n".encode()
    (reason, *_) = escalations(port_files(tmp_path, {"main.c": HEADER + code}))
    assert "take this out if the machine can do without" in reason


@pytest.mark.parametrize(
    "write",
    [
        "RCC->CR |= 1u << 24;",
        "RCC->CFGR = (RCC->CFGR & ~3u) | 2u;",
        "RCC->CFGR &= ~RCC_CFGR_MCO2;",
        "RCC->PLLI2SCFGR = 0;",
        "SYSCFG->MEMRMP = 0;",
        "SYSCFG->EXTICR[0] |= 1u;",
        "PWR->CR |= 3u << 14;",
    ],
)
def test_what_the_table_makes_goes(tmp_path: Path, write: str) -> None:
    result = port_files(tmp_path, {"main.c": HEADER + f"void f(void) {{ {write} }}\n".encode()})
    assert escalations(result) == []
    assert b"void f(void) { }" in result.files[0].ported
