"""Where the members of structs are: bit-fields and alignments."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.judging.verdict import Status
from porter.source.c_types import CType, TypeTable
from porter.source.evaluate import Evaluator
from porter.source.macros import MacroTable
from porter.source.values import Place
from tests.porter.helpers import port_text

_SHARED = b"#include <stdint.h>\ntypedef unsigned int uint32_t; typedef unsigned char uint8_t;\n"
_MACRO = b"#define AL8 __attribute__((aligned(8)))\n"


def _table(body: bytes) -> TypeTable:
    types = TypeTable()
    types.add_text(
        _SHARED + b"typedef struct {" + body + b"} T; struct outer { T first[2]; T t; };"
    )
    Evaluator(MacroTable(), types).text(b"((T *)0)->x")  # counts, and lays the struct out
    return types


@pytest.mark.parametrize(
    ("body", "offsets", "size"),
    [
        (b"uint32_t a:9; uint32_t :19; volatile uint32_t p:1; uint32_t :3; int n;", [0, 0, 4], 8),
        (b"uint32_t a:20, b:12, c:1; uint32_t n;", [0, 0, 4, 8], 12),
        (b"uint32_t a:20, :4, b:12; uint32_t n;", [0, 4, 8], 12),
        (b"uint32_t a:1; uint32_t :0; uint32_t b:1; uint32_t n;", [0, 4, 8], 12),
        (b"uint32_t a:9; uint8_t b:7; uint8_t c:1; uint8_t n;", [0, 1, 2, 3], 4),
        (b"uint32_t a:4; uint8_t n;", [0, 1], 4),
        (b"uint8_t a:4; uint8_t b:5; uint8_t n;", [0, 1, 2], 3),
        (b"uint8_t a; uint32_t b __attribute__((aligned(8)));", [0, 8], 16),
        (b"uint8_t a; _Alignas(8) uint32_t b; uint32_t n;", [0, 8, 12], 16),
        (b"uint8_t a; struct { uint8_t x; } __attribute__((aligned(4))) b;", [0, 4], 8),
        (b"uint8_t a; uint32_t :20; uint8_t n;", [0, 4], 8),
        (b"uint8_t a; uint32_t :0; uint8_t n;", [0, 4], 8),
        (b"uint8_t a; double b; uint8_t c;", [0, 8, 16], 24),
        (b"uint32_t a; union { uint32_t w; struct { uint32_t x:3, y:2; } b; } u; int n;",
         [0, 4, 8], 12),
    ],
)  # fmt: skip
def test_members_are_where_the_compiler_puts_them(
    body: bytes, offsets: list[int], size: int
) -> None:
    types = _table(body)
    members = types.members(CType("struct", 0, b"T"))
    assert [member.offset for member in members.values()] == offsets
    place = Evaluator(MacroTable(), types).text(b"((struct outer *)0x40000000)->t")
    assert isinstance(place, Place)
    assert place.address == 0x4000_0000 + 2 * size
    assert not types.is_unclear(CType("struct", 0, b"T"))


@pytest.mark.parametrize(
    "body",
    [
        b"uint8_t a; uint32_t b __attribute__((aligned(WIDE)));",
        b"uint8_t a; uint32_t b __attribute__((aligned));",
        b"uint8_t a; __ALIGNED(8) uint32_t b;",
        b"uint8_t a; uint32_t b __ALIGNED(8);",
        b"uint8_t a; __align(8) uint32_t b;",
        b"uint32_t a:WIDTH; uint32_t b;",
    ],
)
def test_a_layout_that_cannot_be_told_is_unclear(body: bytes) -> None:
    types = _table(body)
    assert types.is_unclear(CType("struct", 0, b"T"))
    assert all(member.part for member in types.members(CType("struct", 0, b"T")).values())


@pytest.mark.parametrize(
    ("members", "access"),
    [
        (b"uint32_t active:9; uint32_t :19; volatile uint32_t set:1; uint32_t :3;", b"p->set = 1"),
        (b"union { uint32_t w; struct { uint32_t x:28, set:1; } b; } u;", b"p->u.b.set = 1"),
        (b"uint32_t active:9; uint32_t :23;", b"x = p->active"),
        (b"uint8_t a; volatile uint32_t b __ALIGNED(8);", b"p->b = 1u << 28"),
        (b"uint32_t a; volatile uint32_t b[2] __attribute__((aligned(WIDE)));", b"p->b[x] = 1"),
        (b"uint8_t a; volatile uint32_t b AL8;", b"p->b = 1u << 28"),
        (b"uint8_t a; AL8 volatile uint32_t b;", b"p->b = 1u << 28"),
        (b"uint32_t a:W; struct { volatile uint32_t c; } b;", b"p->b.c = 1"),
    ],
)
def test_a_part_of_a_register_is_escalated(tmp_path: Path, members: bytes, access: bytes) -> None:
    text = (
        _SHARED + _MACRO + b"typedef struct { " + members + b" } reg_t;\n"
        b"void f(int x)\n{\n    " + access.replace(b"p->", b"((reg_t *)0xE000ED04)->") + b";\n}\n"
    )
    ported, port = port_text(tmp_path, text)
    assert ported == text
    assert [verdict.status for verdict in port.verdicts] == [Status.ESCALATED]


def test_a_register_behind_bit_fields_is_known(tmp_path: Path) -> None:
    text = (
        _SHARED + b"struct scb { volatile uint32_t cpuid, icsr, vtor;\n"
        b"    struct { uint32_t :1; uint32_t clear:1, reset:1; uint32_t :13, key:16; } a;\n"
        b"    volatile uint32_t scr, ccr; };\n"
        b"void f(void)\n{\n    ((struct scb *)0xE000ED00)->ccr = 1;\n}\n"
    )
    _, port = port_text(tmp_path, text)
    assert ["SCB->CCR" in verdict.reason for verdict in port.verdicts] == [True]


def test_an_aligned_register_is_known(tmp_path: Path) -> None:
    text = (
        _SHARED + b"struct al { uint8_t a; volatile uint32_t icsr __attribute__((aligned(8))); };\n"
        b"void f(void)\n{\n    ((struct al *)0xE000ECFC)->icsr = 1u << 28;\n}\n"
    )
    ported, _ = port_text(tmp_path, text)
    assert b"virt_yield();" in ported


_INSIDE = b"""unsigned %b(void)
{
    struct regs { volatile unsigned %b; } *regs = (struct regs *)0x40023800;
    return regs->CFGR;
}
"""


def test_a_struct_that_a_function_declares_is_laid_out(tmp_path: Path) -> None:
    text = b"void sink(unsigned);\n" + _INSIDE % (b"f", b"CR, PLLCFGR, CFGR")
    _, port = port_text(tmp_path, text + b"int main(void) { sink(f()); for (;;) { } }\n")
    (verdict,) = [it for it in port.verdicts if it.site.what == "regs"]
    assert "RCC->CFGR" in verdict.reason


def test_two_functions_may_have_structs_of_one_tag(tmp_path: Path) -> None:
    """Nobody says what the second one is by the first."""
    text = b"void sink(unsigned);\n" + _INSIDE % (b"f", b"CR, PLLCFGR, CFGR")
    text += _INSIDE % (b"g", b"CFGR, CR")
    _, port = port_text(tmp_path, text + b"int main(void) { sink(f() + g()); for (;;) { } }\n")
    _, second = [it for it in port.verdicts if it.site.what == "regs"]
    assert "RCC->CFGR" not in second.reason
    assert second.status is Status.ESCALATED
