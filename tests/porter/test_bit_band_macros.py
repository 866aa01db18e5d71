"""Macros that make a bit-band alias of a register's address: no value can stand for it there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.project.domain import BootRegister
from tests.porter.helpers import DOMAIN, escalations, port_files

KNOWN = replace(DOMAIN, registers=(BootRegister("FVM_RCC_CR", 0x4002_3800, 0x83, 0xFFFF_FFFF),))
HEADER = b"""\
#include <stdint.h>
typedef struct { volatile uint32_t MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR; } GPIO_TypeDef;
typedef struct { volatile uint32_t CR, PLLCFGR, CFGR; } RCC_TypeDef;
#define GPIOA ((GPIO_TypeDef *)0x40020000)
#define RCC ((RCC_TypeDef *)0x40023800)
#define AT(a, b) (0x42000000 + ((a) & 0xFFFFF) * 32 + (b) * 4)
#define OF(x, b) (*(volatile uint32_t *)(0x42000000 + ((uint32_t)&(x) & 0xFFFFF) * 32 + (b) * 4))
#define PTR(p, b) (*(volatile uint32_t *)AT((uint32_t)(p), b))
"""


@pytest.mark.parametrize(
    "code",
    [
        b"#define ON() (*(volatile uint32_t *)AT((uint32_t)&RCC->CR, 16) = 1)\n"
        b"void f(void) { ON(); }\n",
        b"void f(unsigned n) { PTR(&RCC->CR, n) = 1; }\n",
        b"int f(unsigned n) { return OF(RCC->CR, n) != 0; }\n",
        b"void f(unsigned n) { PTR(&GPIOA->ODR, n) = 1; }\n",
        b"int f(unsigned n) { return OF(GPIOA->IDR, n) != 0; }\n",
        b"#define READ(r, m) ((r) & (m))\nint f(void) { return READ(*&RCC->CR, 2); }\n",
    ],
)
def test_an_escalated_macro_stays_as_it_is(tmp_path: Path, code: bytes) -> None:
    result = port_files(tmp_path, {"main.c": HEADER + code}, KNOWN)
    assert escalations(result)
    assert [port.edits for port in result.files] == [()]


def test_the_value_still_stands_for_a_plain_read(tmp_path: Path) -> None:
    code = b"#define READ(r, m) ((r) & (m))\nint f(void) { return READ(RCC->CR, 2); }\n"
    result = port_files(tmp_path, {"main.c": HEADER + code}, KNOWN)
    assert escalations(result) == []
    assert b"READ(FVM_RCC_CR, 2)" in result.files[0].ported


@pytest.mark.parametrize(
    ("number", "is_address"),
    [
        (b"0x42470000", True),  # bit 0 of RCC->CR
        (b"0x42470001", False),  # no word
        (b"0x434D4421", False),  # "CMD!"
        (b"0x434D4420", False),  # no block is behind this one
    ],
)
def test_a_number_is_an_alias_where_a_register_is_behind_it(
    tmp_path: Path, number: bytes, is_address: bool
) -> None:
    code = b"#define TAG " + number + b"UL\nunsigned use(unsigned a) { return a ^ 1; }\n"
    code += b"int main(void) { return (int)use(TAG); }\n"
    assert bool(escalations(port_files(tmp_path, {"main.c": HEADER + code}))) is is_address


def test_any_alias_that_is_written_through_is_one(tmp_path: Path) -> None:
    code = b"#define TAG 0x434D4420UL\nint main(void) { *(volatile unsigned *)TAG = 1; }\n"
    assert escalations(port_files(tmp_path, {"main.c": HEADER + code}))
