"""Addresses that no number of the text is, but a computation: products, shifts, complements."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.judging.verdict import Status
from tests.porter.helpers import escalations, port_files, port_text

START = b"""#include <stdint.h>
enum { HIGH = 0xE000, LOW = 0xED04 };
typedef volatile uint32_t *reg;
typedef struct { volatile uint32_t CPUID, ICSR; } core;
#define W32(a) (*(volatile uint32_t *)(a))
#define ADDRESS(high, low) (((high) << 16) + (low))
"""


@pytest.mark.parametrize(
    "place",
    [
        b"*(volatile uint32_t *)(0xE000u * 0x10000u + 0xED04u)",
        b"*(volatile uint32_t *)~0x1FFF12FBu",
        b"*(volatile uint32_t *)((0xE000u << 16) + 0xED04u)",
        b"*(volatile uint32_t *)(0xE000 << 16 | 0xED04)",
        b"*(volatile uint32_t *)(0xE000E000u | 0xD04u)",
        b"*(volatile uint32_t *)(0xE000ED00u + sizeof(uint32_t))",
        b"*(volatile uint32_t *)(0xE000ED00u + sizeof(reg))",
        b"*(volatile uint32_t *)(0xF000ED04u + 0xF0000000u)",
        b"*(volatile uint32_t *)(uintptr_t)(0x70007682ull * 2)",
        b"*(volatile uint32_t *)(-0x1FFF12FC)",
        b"*(volatile uint32_t *)('\\xE0' * 16777216u + 0xED04)",
        b"*(volatile uint32_t *)(HIGH * 65536u + LOW)",
        b"*(reg)(HIGH * 65536u + LOW)",
        b"*(volatile uint32_t *)ADDRESS(0xE000u, 0xED04u)",
        b"W32(ADDRESS(HIGH, 0xED00u + 4))",
        b"W32((HIGH << 16) + 0xED04)",
        b"((volatile uint32_t *)(HIGH * 65536u + 0xED00))[1]",
        b"((core *)(HIGH * 65536u + 0xED00))->ICSR",
    ],
)
def test_a_computed_address_is_the_register_that_it_is(tmp_path: Path, place: bytes) -> None:
    text = START + b"void f(void) { " + place + b" = 1u << 28; }\n"
    ported, port = port_text(tmp_path, text)
    assert b"void f(void) { virt_yield(); }" in ported
    assert {verdict.status for verdict in port.verdicts} == {Status.REWRITTEN}


@pytest.mark.parametrize(
    "variable",
    [
        b"static volatile uint32_t *const icsr = (reg)(0xE000u * 0x10000u + 0xED04u);\n",
        b"static const reg icsr = (reg)~0x1FFF12FBu;\n",
    ],
)
def test_a_variable_keeps_a_computed_address(tmp_path: Path, variable: bytes) -> None:
    ported, _ = port_text(tmp_path, START + variable + b"void f(void) { *icsr = 1u << 28; }\n")
    assert b"void f(void) { virt_yield(); }" in ported


def test_a_headers_variable_keeps_a_computed_address(tmp_path: Path) -> None:
    variable = b"static volatile uint32_t *const icsr = (reg)((0xE000u << 16) + 0xED04u);\n"
    use = b'#include "hw.h"\nvoid f(void) { *icsr = 1u << 28; }\n'
    result = port_files(tmp_path, {"hw.h": START + variable, "main.c": use})
    assert b"virt_yield();" in {port.file.name: port.ported for port in result.files}["main.c"]


def test_the_type_of_a_variable_counts(tmp_path: Path) -> None:
    """An uint16_t holds 0xE000 of 0x1E000."""
    text = b"void f(void) { uint16_t a = 0x1E000; W32((a << 16) + 0xED04) = 1u << 28; }\n"
    ported, _ = port_text(tmp_path, START + text)
    assert b"virt_yield();" in ported


def test_a_computed_address_in_a_macro_is_a_site_there(tmp_path: Path) -> None:
    text = (
        START + b"#define PEND() do { *(reg)((0xE000u << 16) + 0xED04u) = 1u << 28; } while (0)\n"
    )
    ported, _ = port_text(tmp_path, text + b"void f(void) { PEND(); }\n")
    assert b"#define PEND() do { virt_yield(); } while (0)" in ported


@pytest.mark.parametrize(
    "code",
    [
        b"void g(uint32_t); void f(void) { g((0xE000u << 16) + 0xED04u); }",
        b"void *f(void) { return (void *)(HIGH * 0x10000u + 0xED04u); }",
    ],
)
def test_a_computed_address_that_is_handed_on_is_escalated(tmp_path: Path, code: bytes) -> None:
    result = port_files(tmp_path, {"main.c": START + code + b"\n"})
    assert len(escalations(result)) == 1


def test_an_unknown_offset_is_no_known_register(tmp_path: Path) -> None:
    """What is written there may be any of the registers behind CPUID."""
    text = b"void f(int n) { *(volatile uint32_t *)(0xE000ED00u + n) = 1; }\n"
    ported, port = port_text(tmp_path, START + text)
    assert text in ported
    assert [verdict.status for verdict in port.verdicts] == [Status.ESCALATED]


@pytest.mark.parametrize(
    "code",
    [
        b"uint32_t f(uint32_t v) { return v & ~0x1FFF0FFFu; }",
        b"uint32_t f(void) { uint32_t v = (7u << 29) | (5u << 4); return v | 1; }",
        b"static const uint32_t table[] = { (0xE000u << 16) + 0xED04u, 1 };",
        b"uint32_t f(uint32_t v) { return v * (0x9E3779B1u * 3u) + (1u << 31); }",
        b"uint32_t f(void) { return W32((0x4000u << 16) + 0x4404); }",
        b"uint32_t f(void) { return *(reg)((0x4000u << 16) + 0x4400); }",
        b"uint32_t f(uint32_t v) { v ^= ~0x1FFF12FBu; return v == 0xE000u * 0x10000u + 0xED04u; }",
        b"uint32_t f(void) { return W32((0xE000u << 16 >> 16) + 0x3FFF6404u); }",
        b"uint32_t f(void) { return W32(0xE000u / 0u + 0xED04u); }",
    ],
)
def test_a_computed_number_that_is_no_address_is_no_site(tmp_path: Path, code: bytes) -> None:
    assert not port_files(tmp_path, {"main.c": START + code + b"\n"}).files


NESTED = b"#define R(a) (*(volatile uint32_t *)(a))\n#define SET(p, n) R((p) + 0x18) = 1u << (n)\n"
IN_MACROS = [b"uint32_t b = 0x40020000; SET(b, 5);", b"SET(0x40020400, 3);",
             b"uint32_t b; b = 0x40020000; SET(b, 5);"]  # fmt: skip


@pytest.mark.parametrize("code", IN_MACROS)
def test_a_macro_of_macros_is_given_an_address(tmp_path: Path, code: bytes) -> None:
    text = b"#include <stdint.h>\n" + NESTED + b"void f(void) { " + code + b" }\n"
    assert len(escalations(port_files(tmp_path, {"main.c": text}, None))) == 1


def test_a_constructor_keeps_an_address(tmp_path: Path) -> None:
    text = (
        b"struct Rcc { volatile unsigned cr; };\nclass D {\n    const unsigned base;\npublic:\n"
        b"    constexpr D() : base(0x40023800) {}\n"
        b"    void on() const { reinterpret_cast<Rcc *>(base)->cr |= 1u << 16; }\n};\n"
        b"D d;\nint main() { d.on(); for (;;) { } }\n"
    )
    assert len(escalations(port_files(tmp_path, {"main.cpp": text}, None))) == 1


@pytest.mark.parametrize(
    ("table", "access"),
    [
        (b"GPIO_TypeDef *ports[2] = { GPIOA, GPIOA };", b"ports[i]->ODR ^= 8;"),
        (b"const struct { GPIO_TypeDef *port; int pin; } led = { GPIOA, 5 };",
         b"led.port->ODR ^= 8;"),
        (b"GPIO_TypeDef *one[1] = { GPIOA };", b"one[0]->ODR |= 8;"),
    ],
)  # fmt: skip
def test_an_access_through_a_table_of_pointers_is_one(
    tmp_path: Path, table: bytes, access: bytes
) -> None:
    text = (
        b"typedef struct { volatile unsigned MODER, r[3], IDR, ODR; } GPIO_TypeDef;\n"
        b"#define GPIOA ((GPIO_TypeDef *)0x40020000)\n%s\nvoid f(int i) { %s }\n" % (table, access)
    )
    (port,) = port_files(tmp_path, {"main.c": text}, None).files
    assert port.ported.count(b"hyp_pin_") == 1 and access not in port.ported
