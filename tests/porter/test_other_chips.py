"""Chips that are no STM32 have other blocks where an STM32 has clocks, power and pins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.judging.verdict import Status
from porter.port import port_project
from tests.porter.helpers import DOMAIN, escalations, port_files, port_text

DEEP = (
    b"#include <stdint.h>\n#define %s\n#define SCR (*(volatile uint32_t *)0xE000ED10)\n"
    b"void f(uint32_t x) { SCR %s; __WFI(); }\n"
)
POWER = 0x40007000  # of an STM32; a UART of an MPS2 board
SOURCE = f"void f(void) {{ *(volatile unsigned *){POWER:#x} = 1; }}\n".encode()


@pytest.mark.parametrize(("chip", "escalated"), [("STM32F405RG", 1), ("MPS2-AN386", 0)])
def test_the_chip_says_whose_an_address_is(tmp_path: Path, chip: str, escalated: int) -> None:
    result = port_files(tmp_path, {"main.c": SOURCE}, replace(DOMAIN, chip=chip))
    assert len(escalations(result)) == escalated


@pytest.mark.parametrize(
    ("header", "write", "escalated"),
    [
        (b"__NVIC_PRIO_BITS 3", b"|= 4", True),
        (b"__NVIC_PRIO_BITS 3", b"= x", True),
        (b"__NVIC_PRIO_BITS 3", b"|= 16", False),
        (b"__NVIC_PRIO_BITS 3", b"&= ~4u", False),
        (b"STM32F405xx", b"|= 4", False),
        (b"NOTHING", b"|= 4", True),
    ],
)
def test_how_a_chips_deep_sleep_ends_may_be_unknown(
    tmp_path: Path, header: bytes, write: bytes, escalated: bool
) -> None:
    """A wait returns; SAM's backup, LPC's deep power-down and others' end in a reset."""
    found = escalations(port_files(tmp_path, {"main.c": DEEP % (header, write)}, None))
    told = [it for it in found if "whether the chip starts anew" in it]
    assert bool(told) is escalated, found


def test_an_address_that_another_chips_header_names_is_no_ones(tmp_path: Path) -> None:
    """USART1 of an STM32F1 is SYSCFG of an STM32F2: its data aren't a boot table's."""
    files = {
        "f2/syscfg.h": b"struct syscfg_map { volatile unsigned MEMRMP, PMC; };\n"
        b"#define SYSCFG_BASE ((struct syscfg_map *)0x40013800)\n",
        "f1/serial.c": b"struct uart { volatile unsigned status, data; };\n"
        b"#define UART1 ((struct uart *)0x40013800)\n"
        b"void put(int c)\n{\n    struct uart *up = UART1;\n"
        b"    while (!(up->status & 128));\n    up->data = c;\n}\n",
    }
    result = port_files(tmp_path, files, None)
    assert all("SYSCFG->" in it and "another chip's" in it for it in escalations(result)), (
        escalations(result)
    )
    (serial,) = (it for it in result.files if it.file.name == "f1/serial.c")
    assert b"up->data = c;" in serial.ported


RP2040 = b"""\
typedef struct { volatile unsigned reset, wdsel, done; } resets_t;
#define RESETS_BASE 0x4000C000u
#define RESETS ((resets_t *)RESETS_BASE)
"""


@pytest.mark.parametrize("base", [0, 0x1000, 0x2000, 0x3000])
def test_a_block_has_aliases_that_set_and_clear(tmp_path: Path, base: int) -> None:
    code = f"void f(void) {{ ((resets_t *)(RESETS_BASE + {base:#x}))->reset = 64; }}\n".encode()
    reasons = escalations(port_files(tmp_path, {"main.c": RP2040 + code}, None))
    assert reasons and all("RESETS->reset" in it for it in reasons)


F103 = b"""\
typedef struct { volatile unsigned CRL, CRH, IDR, ODR, BSRR, BRR, LCKR; } GPIO_TypeDef;
#define GPIOA ((GPIO_TypeDef *)0x40010800)
typedef struct { volatile unsigned CCR, CNDTR, CPAR, CMAR; } DMA_Channel_TypeDef;
#define DMA1_Channel1 ((DMA_Channel_TypeDef *)0x40020008)
"""


@pytest.mark.parametrize("register", ["CMAR", "CCR"])
def test_the_machines_chip_has_no_say_in_what_another_ones_headers_tell(
    tmp_path: Path, register: str
) -> None:
    """Channel 1 of an STM32F1's DMA is where an STM32F4 has port A."""
    code = f"void f(void) {{ GPIOA->BSRR = 32; DMA1_Channel1->{register} = 0x20000000; }}\n"
    text = F103 + code.encode()
    result = port_files(tmp_path, {"main.c": text}, replace(DOMAIN, grants=(range(9),)))
    (port,) = result.files
    assert f"DMA1_Channel1->{register} = 0x20000000;".encode() in port.ported
    assert b"hyp_pin_write(0, 32)" in port.ported
    assert any("isn't granted" in it for it in escalations(result))


KINETIS = b"""\
typedef struct { volatile unsigned PDOR, PSOR, PCOR, PTOR, PDIR, PDDR; } GPIO_Type;
#define GPIOA ((GPIO_Type *)0x400FF000)
typedef struct { volatile unsigned CMD, EVENT; } FLASH_Type;
#define FLASH ((FLASH_Type *)0x40034000)
"""


@pytest.mark.parametrize("code", ["GPIOA->PDOR = 1;", "GPIOA->PDDR |= 1;", "FLASH->CMD = 2;"])
def test_blocks_of_an_stm32s_names_may_be_another_vendors(tmp_path: Path, code: str) -> None:
    text = KINETIS + f"void f(void) {{ {code} }}\n".encode()
    result = port_files(tmp_path, {"main.c": text}, None)
    (reason,) = escalations(result)
    assert "serves the whole chip" in reason
    assert not any(port.edits for port in result.files)


@pytest.mark.parametrize(
    "told",
    [
        b"#define FMC_CTL (*(volatile unsigned *)0x40022010)\n",
        b"typedef struct { volatile unsigned MODER; } GPIO_TypeDef;\n"
        b"#define GPIOA ((GPIO_TypeDef *)0x40020000)\n",
    ],
    ids=["another vendor's register in a port", "ports, and none there"],
)
def test_a_port_is_assumed_only_where_nothing_speaks_against_it(
    tmp_path: Path, told: bytes
) -> None:
    text = told + b"void f(void) { *(volatile unsigned *)0x40022014 = 1; }\n"
    result = port_files(tmp_path, {"main.c": text}, None)
    assert not any(b"hyp_pin" in port.ported for port in result.files)


def test_no_port_of_an_stm32_is_assumed_on_another_core(tmp_path: Path) -> None:
    text = "void f(void) { *(volatile unsigned *)0x40022014 = 1; }\n"
    (tmp_path / "main.c").write_text(text)
    risc = port_project(tmp_path, cpu=("-march=rv32imac_zicsr", "-mabi=ilp32"))
    arm = port_project(tmp_path, cpu=("-mcpu=cortex-m4",))
    assert risc.found == 0 and risc.devices and arm.found == 1


def test_registers_by_their_own_macros_say_where_their_blocks_are(tmp_path: Path) -> None:
    """An F1's by numbers: with the F4's map RCC_APB2ENR would be a register of GPIOE."""
    code = (
        b"#define RCC_APB2ENR (*(volatile unsigned *)0x40021018)\n"
        b"#define GPIOA_CRL (*(volatile unsigned *)0x40010800)\n"
        b"#define GPIOA_ODR (*(volatile unsigned *)(0x40010800 + 0x0C))\n"
        b"void f(void) { RCC_APB2ENR |= 4; GPIOA_CRL = 0x44244444; GPIOA_ODR ^= 1u << 5; }\n"
    )
    ported, port = port_text(tmp_path, code)
    assert b"void f(void) { hyp_pin_toggle(0, 1u << 5); }" in ported
    assert {it.status for it in port.verdicts} == {Status.REWRITTEN}


def test_another_familys_names_are_no_stm32f4s(tmp_path: Path) -> None:
    code = (
        b"#define RCC_AHBENR (*(volatile unsigned *)0x40021014)\n"
        b"void f(void) { RCC_AHBENR |= 2; }\n"
    )
    ported, _ = port_text(tmp_path, code, None)
    assert b"hyp_pin" not in ported and ported.endswith(b"void f(void) { }\n")


def test_a_port_is_not_counted_from_where_another_chip_has_its_first(tmp_path: Path) -> None:
    chip = (
        b"typedef struct { volatile unsigned MODER, r[3], IDR, ODR, BSRR; } GPIO_TypeDef;\n"
        b"#define GPIOA_BASE 0x40020000UL\n#define GPIOA ((GPIO_TypeDef *)GPIOA_BASE)\n"
    )
    code = (
        b"#define GPIO(n) ((GPIO_TypeDef *)(GPIOA_BASE + 0x400 * (n)))\n"
        b"void set(int n) { GPIO_TypeDef *port = GPIO(n); port->BSRR = 8; }\n"
    )
    files = {
        "one/stm32f429xx.h": chip,
        "one/a.c": b"#include <stm32f429xx.h>\n" + code,
        "two/b.c": b"#include <stm32l432xx.h>\n" + code,
    }
    result = port_files(tmp_path, files, None)
    assert escalations(result) == ["port: which port this is can't be told"]
    assert any(b"hyp_pin_write(" in it.ported for it in result.files if it.file.name == "one/a.c")


ELSEWHERE = """\
typedef struct {{ volatile unsigned {fields}; }} part_t;
#define PART ((part_t *)0x40003000UL)
void f(void) {{ PART->{third} = 1; }}
"""


@pytest.mark.parametrize(
    ("fields", "third", "is_watchdog"),
    [("START_RX, free, START_TX", "START_TX", False), ("KR, PR, RLR", "RLR", True)],
)
def test_another_vendors_device_is_no_watchdog_where_an_stm32_has_its(
    fields: str, third: str, is_watchdog: bool, tmp_path: Path
) -> None:
    """Its writes were removed without a word; only the new chip is an STM32."""
    text = ELSEWHERE.format(fields=fields, third=third).encode()
    domain = replace(DOMAIN, chip="STM32F405RG", grants=(range(9),))
    result = port_files(tmp_path, {"main.c": text}, domain)
    (verdict,) = [it for port in result.files for it in port.verdicts if it.site.what == "PART"]
    assert verdict.rule == ("watchdog" if is_watchdog else "foreign-device"), verdict.reason
    assert is_watchdog or verdict.status.value == "escalated"
