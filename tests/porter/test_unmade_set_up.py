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
#define RCC_CR_HSI48ON (1u << 12)
#define RCC_CFGR_ADCPRE (3u << 14)
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
        "RCC->CR |= RCC_CR_HSI48ON;",
        "while (!(RCC->CR & 1u << 27)) { }",
        "while (!(RCC->CSR & 1u << 9)) { }",
        "RCC->CFGR |= which << 21;",
        "RCC->CFGR &= ~(1u << 23); RCC->CFGR |= which << 23;",
        "MODIFY_REG(RCC->CFGR, 7u << 24, which << 24);",
        "if (which) SYSCFG->PMC |= 1u; else SYSCFG->PMC &= ~1u;",
    ],
)
def test_a_person_is_told(tmp_path: Path, write: str) -> None:
    code = f"void f(unsigned which) {{ {write} }}\n".encode()
    reasons = escalations(port_files(tmp_path, {"main.c": HEADER + code}))
    assert len(reasons) == write.count("->")
    assert all("take this out if the machine can do without" in reason for reason in reasons)


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


L0 = b"""\
typedef struct { volatile unsigned CR, ICSCR, CRRCR, CFGR, r[16], CSR; } RCC_TypeDef;
#define RCC ((RCC_TypeDef *)0x40021000)
#define RCC_CR_HSIKERON (1u << 9)
"""
L4 = L0.replace(b"CRRCR, CFGR", b"CFGR, PLLCFGR")


@pytest.mark.parametrize(
    ("header", "write", "stays"),
    [
        (L0, "RCC->CR |= 1u << 5;", True),
        (L4, "RCC->CR |= 1u << 5;", False),
        (L4, "RCC->CR |= 1u << 2;", True),
        (L4, "RCC->CR |= RCC_CR_HSIKERON;", True),
        (L0, "while (!(RCC->CRRCR & 2u)) { }", True),
        (L0, "RCC->CR |= 1u << 8;", False),
    ],
)
def test_a_clock_that_serves_a_device(
    header: bytes, write: str, stays: bool, tmp_path: Path
) -> None:
    result = port_files(tmp_path, {"main.c": header + f"void f(void) {{ {write} }}\n".encode()})
    assert bool(escalations(result)) == stays


OWN = b"""\
#define REG(a) (*(volatile unsigned *)(a))
#define SYSCFG_CFG1 REG(0x40013804)
#define SYSCFG_EXTISS0 REG(0x40013808)
#define SYSCFG_CPSCTL REG(0x40013820)
#define CPS_RDY (1u << 8)
#define OPAMP1_CSR REG(0x40013838)
"""


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("SYSCFG_CFG1 = (SYSCFG_CFG1 & ~(1u << 23)) | which;", 2),
        ("if (SYSCFG_CPSCTL & CPS_RDY) g();", 1),
        ("OPAMP1_CSR &= ~(0xFu << 14);", 1),
        ("SYSCFG_EXTISS0 |= 1u;", 0),
    ],
)
def test_another_makers_block_at_the_address(code: str, told: int, tmp_path: Path) -> None:
    text = OWN + f"void g(void);\nvoid f(unsigned which) {{ {code} }}\n".encode()
    result = port_files(tmp_path, {"main.c": text})
    assert len(escalations(result)) == told, escalations(result)


OTHER_MAKER = b"""\
typedef struct { volatile unsigned CR, SYSCFG, CFGR2, ADC1CFGR; } RCC_Type;
#define RCC ((RCC_Type *)0x40021000)
typedef struct { volatile unsigned KR, PR, RLR, SR, CR; } IWDG_Type;
#define IWDG ((IWDG_Type *)0x40003000)
typedef struct { volatile unsigned KR, PR, RLR, SR, WINR; } IWDG2_Type;
#define IWDG2 ((IWDG2_Type *)0x58004800)
typedef struct { volatile unsigned CFGR1, r, EXTICR[4], CFGR2; } SYSCFG_TypeDef;
#define SYSCFG ((SYSCFG_TypeDef *)0x40010000)
"""


@pytest.mark.parametrize(
    "write",
    [
        "RCC->ADC1CFGR = which;",
        "RCC->CFGR2 = (RCC->CFGR2 & ~(3u << 24)) | which << 24;",
        "RCC->CFGR2 |= 1u << 4;",
        "*(volatile unsigned *)(0x4001001C + which) = 1;",  # comparators in SYSCFG's page
        "IWDG->CR |= 1;",  # an interrupt instead of the reset
        "IWDG2->WINR = 0x800;",
    ],
)
def test_what_has_another_meaning_at_another_makers(tmp_path: Path, write: str) -> None:
    code = f"void f(unsigned which) {{ {write} }}\n".encode()
    result = port_files(tmp_path, {"main.c": OTHER_MAKER + code}, None)
    assert "if the machine can do without" in escalations(result)[0]


@pytest.mark.parametrize("write", ["RCC->CFGR2 |= 3;", "IWDG2->WINR = 0xFFF;", "IWDG2->RLR = 99;"])
def test_what_a_machine_has_goes(tmp_path: Path, write: str) -> None:
    code = f"void f(void) {{ {write} }}\n".encode()
    assert escalations(port_files(tmp_path, {"main.c": OTHER_MAKER + code}, None)) == []


def test_an_f1s_registers_by_plain_numbers(tmp_path: Path) -> None:
    ports = b"#define GPIOA_BASE 0x40010800\n#define RCC_BASE 0x40021000\n"
    code = (
        b"void f(void) { *(volatile unsigned *)0x40021018 |= 4; }\n"
        b"void g(void) { *(volatile unsigned *)0x4002102C = 0x10; }\n"
    )
    (reason,) = escalations(port_files(tmp_path, {"main.c": ports + code}, None))
    assert "RCC->CFGR2" in reason


def test_an_adcs_prescaler_is_its_own(tmp_path: Path) -> None:
    header = HEADER.replace(b"0x40023800", b"0x40021000").replace(
        b"PLLCFGR, CFGR", b"CFGR, PLLCFGR"
    )
    code = b"void f(void) { RCC->CFGR |= 2u << 14; }\n"
    assert len(escalations(port_files(tmp_path / "f1", {"main.c": header + code}))) == 1
    assert not escalations(port_files(tmp_path / "f4", {"main.c": HEADER + code}))
    named = b"void f(unsigned x) { MODIFY_REG(RCC->CFGR, RCC_CFGR_ADCPRE, x); }\n"
    assert len(escalations(port_files(tmp_path / "name", {"main.c": header + named}))) == 1


def test_what_is_cleared_before_anything_sets_it_goes(tmp_path: Path) -> None:
    code = b"void begin(void) { SYSCFG->PMC &= ~1u; }\nint main(void) { begin(); for (;;); }\n"
    assert not escalations(port_files(tmp_path, {"main.c": HEADER + code}))


@pytest.mark.parametrize(
    ("elsewhere", "asked"),
    [
        (b"void off(void) { ENR &= ~4u; }", 1),
        (b"void off(void) { ENR ^= 4u; }", 1),
        (b"void off(void) { ENR = 0; }", 1),
        (b"void off(void) { ENR &= ~8u; }", 0),
        (b"void on(void) { ENR |= 4u; }", 0),
        (b"void on(void) { ENR = ENR | 8u; }", 0),
    ],
)
def test_a_clock_that_the_program_takes_away(tmp_path: Path, elsewhere: bytes, asked: int) -> None:
    header = b"#define ENR (RCC->AHB1ENR)\n" + HEADER.replace(b"X[29]", b"A[8], AHB1ENR, X[20]")
    code = b"int info(void) { if (!(ENR & 4u)) return 0; return 1; }\n" + elsewhere
    reasons = escalations(port_files(tmp_path, {"main.c": header + code + b"\n"}))
    assert len(reasons) == asked
    assert all("the program also takes that away" in reason for reason in reasons)


PINS = b"""\
typedef struct { volatile unsigned MODER, OTYPER; } GPIO_TypeDef;
#define GPIOB ((GPIO_TypeDef *)0x40020400)
"""


@pytest.mark.parametrize(
    ("code", "asked"),
    [
        (b"if (x) GPIOB->MODER &= ~(3u << 6); else GPIOB->MODER |= 1u << 6;", 2),
        (b"GPIOB->MODER ^= 1u << 6;", 1),
        (b"GPIOB->MODER = GPIOB->MODER ^ 1u << 6;", 2),
        (b"if (x) GPIOB->MODER |= 1u << 6; else GPIOB->MODER |= 1u << 8;", 0),
        (b"if (x) GPIOB->MODER |= 1u << 6; else GPIOB->OTYPER &= ~(1u << 6);", 0),
    ],
)
def test_a_mode_that_depends_on_something(tmp_path: Path, code: bytes, asked: int) -> None:
    text = PINS + b"void f(int x) { " + code + b" }\n"
    assert len(escalations(port_files(tmp_path, {"main.c": text}))) == asked


def test_both_halves_of_a_pulse_have_one_verdict(tmp_path: Path) -> None:
    """By a struct of the project's own, whose names say nothing of a reset."""
    text = b"struct rcc { volatile unsigned ccr, cfg, cir, apb2_rr, apb1_rr; };\n" \
        b"#define RCC_BASE ((struct rcc *)0x40021000)\nvolatile int stuck;\n" \
        b"void f(void) { struct rcc *r = RCC_BASE; r->apb1_rr = 0x600000; r->apb1_rr = 0; }\n" \
        b"int main(void) { for (;;) if (stuck) f(); }\n"  # fmt: skip
    result = port_files(tmp_path, {"main.c": text})
    assert escalations(result) and not result.files[0].edits
