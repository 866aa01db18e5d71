"""An address is the value of an expression, however it is spelt."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.judging.verdict import Status
from tests.porter.helpers import escalations, port_files, port_text

START = b"#include <stdint.h>\n"
VTOR = b"0xE000ED08"
AHB1ENR = b"0x40023830"


@pytest.mark.parametrize(
    "name",
    [
        b"#define A ((uint32_t)0x40023830)\n",
        b"#define A 0x40023830UL\n",
        b"#define A (0x40000000+0x23830)\n",
        b"#define A (0x4002<<16|0x3830)\n",
        b"#define BUS 0x40020000\n#define BLOCK (BUS + 0x3800)\n#define A (BLOCK + 0x30)\n",
        b"enum { A = 0x40023830 };\n",
        b"enum { FIRST = 0x4002382F, A };\n",
        b"const uint32_t A = 0x40023830;\n",
        b"static const uintptr_t A = 0x40023830u;\n",
    ],
)
@pytest.mark.parametrize(
    "write",
    [
        b"*(volatile uint32_t*)A = 1;",
        b"*(volatile uint32_t *)(uintptr_t)A = 1;",
        b"*((volatile uint32_t *)A) = 1;",
        b"((volatile uint32_t *)A)[0] = 1;",
        b"*((volatile uint32_t *)(A - 4) + 1) = 1;",
        b"((struct one *)A)->word = 1;",
    ],
)
def test_a_named_address_is_the_register_there(tmp_path: Path, name: bytes, write: bytes) -> None:
    start = START + b"struct one { volatile uint32_t word; };\n" + name
    ported, port = port_text(tmp_path, start + b"void f(void) { " + write + b" g(); }\n")
    assert b"void f(void) { g(); }" in ported
    assert {verdict.status for verdict in port.verdicts} == {Status.REWRITTEN}


@pytest.mark.parametrize(
    "code",
    [
        b"void f(void) { uint32_t a; a = 0x40023830; *(volatile uint32_t *)a = 1; g(); }",
        b"void f(void) { uint32_t a = AHB; *(volatile uint32_t *)(a + 0x30) = 1; g(); }",
        b"#define AT(p) (*(volatile uint32_t *)(p))\nvoid f(void) { AT(AHB + 48) = 1; g(); }",
        b"#define ENABLE() (*(volatile uint32_t *)(AHB + 48) = 1)\nvoid f(void) { ENABLE(); g(); }",
    ],
)
def test_an_address_on_its_way(tmp_path: Path, code: bytes) -> None:
    text = START + b"#define AHB 0x40023800u\n" + code + b"\n"
    ported, port = port_text(tmp_path, text)
    assert b"= 1;" not in ported.split(b"void f")[1]
    assert {verdict.status for verdict in port.verdicts} == {Status.REWRITTEN}


@pytest.mark.parametrize(
    "code",
    [
        b"void f(int k) { *(volatile uint32_t *)(k ? 0x40023830 : 0x20000000) = 1; }",
        b"void f(int k) { uint32_t a; a = 0x20000000; if (k) a = A; *(volatile int *)a = 1; }",
        b"void write_reg(uint32_t, uint32_t);\nvoid f(void) { write_reg(0x40023830, 1); }",
        b"void write_reg(uint32_t, uint32_t);\nvoid f(void) { write_reg(A, 1); }",
        b"struct d { uint32_t base; };\nvoid f(struct d *d) { d->base = A; }",
        b"struct d { uint32_t base; };\nstruct d d = { .base = A };",
        b"struct d { uint32_t base; int n; };\nstruct d d = { 0x40023830, 1 };",
        b"uint32_t f(void) { return A; }",
    ],
)
def test_an_address_that_may_be_one_is_escalated(tmp_path: Path, code: bytes) -> None:
    text = START + b"#define A 0x40023830\n" + code + b"\n"
    result = port_files(tmp_path, {"main.c": text})
    assert len(escalations(result)) == 1


@pytest.mark.parametrize(
    "code",
    [
        b"#define A 0x40004400\nvoid f(void) { *(volatile uint32_t *)A = 1; }",
        b"uint32_t f(uint32_t v) { return v ^ 0x40023830; }",
        b"int f(uint32_t v) { return v == 0x40023830; }",
        b"#define MODE 0x40000000\nvoid set(uint32_t);\nvoid f(void) { set(MODE | 0x20); }",
    ],
)
def test_what_the_machine_may_have_is_no_site(tmp_path: Path, code: bytes) -> None:
    assert not port_files(tmp_path, {"main.c": START + code + b"\n"}).files


_BUILD = b"all: main.o regs.o\n%.o: %.c\n\tarm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -c $< -o $@\n"
_TYPES = b"typedef struct { unsigned CPUID, ICSR; } scb_t;\n"
_EXTERN = b"extern volatile scb_t * const CORE;\n"
_DEFINED = b"volatile scb_t * const CORE = (scb_t *)0xE000ED00;\n"
_USE = b"int main(void) { CORE->ICSR |= 1u << 28; return 0; }\n"


def test_a_constant_pointer_may_be_declared_first(tmp_path: Path) -> None:
    ported, port = port_text(tmp_path, _TYPES + _EXTERN + _DEFINED + _USE)
    assert b"{ virt_yield(); return 0; }" in ported
    assert all(it.status is not Status.ESCALATED for it in port.verdicts)


@pytest.mark.parametrize("makefile", [{"Makefile": _BUILD}, {}])
def test_a_constant_pointer_of_another_file_is_an_address(
    tmp_path: Path, makefile: dict[str, bytes]
) -> None:
    include = b'#include "regs.h"\n'
    files = {"regs.h": _TYPES + _EXTERN, "regs.c": include + _DEFINED, "main.c": include + _USE}
    result = port_files(tmp_path / "known", {**files, **makefile})
    assert [it.file.name for it in result.files if b"virt_yield();" in it.ported] == ["main.c"]
    assert escalations(result) == []


def test_a_pointer_that_others_may_change_is_none(tmp_path: Path) -> None:
    other = _TYPES + b"extern volatile scb_t *CORE;\n" + _USE
    files = {"regs.c": _TYPES + _DEFINED, "main.c": other, "Makefile": _BUILD}
    assert escalations(port_files(tmp_path, files))


@pytest.mark.parametrize(
    "body",
    [
        "uint32_t a = 0x40023800; a += 0x30; *(volatile uint32_t *)a |= 1;",
        "uint32_t a; a = 0x40023800; a = a + n; *(volatile uint32_t *)(a) |= 1;",
        "uint32_t a = 0x40023800 + 4; *(volatile uint32_t *)(a + 0x2c) |= 1; a++;",
    ],
)
def test_an_integer_that_grows_into_an_address(body: str, tmp_path: Path) -> None:
    head = "#include <stdint.h>\ntypedef struct { volatile uint32_t CR; } RCC_TypeDef;\n"
    head += "#define RCC ((RCC_TypeDef *)0x40023800)\n"
    text = f"{head}void f(uint32_t n) {{ {body} }}\n"
    assert escalations(port_files(tmp_path, {"main.c": text.encode()}, None))


def test_a_long_table_of_numbers_has_addresses_by_chance(tmp_path: Path) -> None:
    others = ", ".join(f"0x{0x1234_5678 * n & 0x7FFF_FFFF:08X}" for n in range(1, 40))
    font = f"const unsigned font[] = {{ {others}, 0xE000ED08 }};\n"
    registers = ", ".join(f"0xE000E{n:03X}" for n in range(0x100, 0x200, 4))
    table = f"const unsigned all[] = {{ {registers} }};\n"
    use = "unsigned f(int i) { return %s[i]; }\n"
    assert not escalations(port_files(tmp_path / "a", {"a.c": (font + use % "font").encode()}))
    assert escalations(port_files(tmp_path / "b", {"a.c": (table + use % "all").encode()}))


REGIONS = """\
#include <stdint.h>
#define RBAR (*(volatile uint32_t *)0xE000ED9C)
#define SOURCE (*(volatile uint32_t *)0x40026018)
#define REGION 0xE0000000
#define VTABLE 0xE000ED08
struct kept { uint32_t at; } kept;
"""
STORES = """\
#define RCC_BASE 0x40023800
void set(uint32_t at);
static void store(uint32_t at, uint32_t value) { *(volatile uint32_t *)at = value; }
"""


@pytest.mark.parametrize(
    "value",
    ["0xE0000000", "0xE000E000", "0xE0000000 | 0x10", "(uint32_t)(REGION + 16)", "VTABLE"],
)
@pytest.mark.parametrize("operator", ["=", "|="])
def test_a_value_for_the_systems_own_register_is_no_address(
    tmp_path: Path, value: str, operator: str
) -> None:
    """The write is told."""
    text = f"{REGIONS}void f(void) {{ RBAR {operator} {value}; }}\n"
    (reason,) = escalations(port_files(tmp_path, {"main.c": text.encode()}, None))
    assert "the kernel owns the MPU" in reason


@pytest.mark.parametrize(
    "code",
    [
        "SOURCE = 0xE0000000;",
        "store(0x40026018, 0x40023830);",
        "kept.at = VTABLE;",
        "set(0xE000ED08);",
    ],
)
def test_a_number_that_goes_elsewhere_may_be_an_address(tmp_path: Path, code: str) -> None:
    text = f"{REGIONS}{STORES}void f(void) {{ {code} }}\n"
    (reason,) = escalations(port_files(tmp_path, {"main.c": text.encode()}, None))
    assert "goes where it can't be followed" in reason


PORTS = b"""\
#include <stdint.h>
typedef struct { volatile uint32_t MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR, BSRR; } GPIO_TypeDef;
#define GPIOA_BASE (0x40020000u)
#define GPIOB_BASE (GPIOA_BASE + 0x400u)
"""


def test_how_far_an_address_is_from_another_one_is_a_number(tmp_path: Path) -> None:
    text = b"uint32_t port(GPIO_TypeDef *p) { return ((uint32_t)p - (GPIOA_BASE)) / "
    text += b"((GPIOB_BASE) - (GPIOA_BASE)); }\n"
    ported, port = port_text(tmp_path, PORTS + text)
    assert ported == PORTS + text
    assert not [it for it in port.verdicts if it.status is Status.ESCALATED]


@pytest.mark.parametrize(
    "code",
    [
        b"uint32_t port(uint32_t n) { return GPIOB_BASE - n; }\n",
        b"uint32_t port(uint32_t n) { return n - GPIOA_BASE + GPIOB_BASE; }\n",
    ],
)
def test_an_address_that_a_distance_is_taken_from_or_added_to_is_one(
    tmp_path: Path, code: bytes
) -> None:
    (found,) = escalations(port_files(tmp_path, {"main.c": PORTS + code}))
    assert found.startswith("GPIOB_BASE") and "hand on a pointer to the type" in found
