"""A file is judged by the headers that it includes, and by every definition that may hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.judging.verdict import Status
from porter.result import PortResult
from tests.porter.helpers import escalations, port_files

TYPES = b"#include <stdint.h>\ntypedef struct { volatile uint32_t "
F1 = (
    TYPES
    + b"CRL, CRH, IDR, ODR, BSRR; } GPIO_TypeDef;\n#define GPIOA ((GPIO_TypeDef*)0x40010800)\n"
)
F4 = (
    TYPES
    + b"MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR, BSRR; } GPIO_TypeDef;\n"
    + b"#define GPIOA ((GPIO_TypeDef *)0x40020000)\n"
)
WRITE = b'#include "chip.h"\nvoid w(GPIO_TypeDef *p, uint16_t n) { p->BSRR = n; }\n'
TWO_CHIPS = {"f1/chip.h": F1, "f4/chip.h": F4}
SIMULATED = (
    b"#include <stdint.h>\n#if defined(USE_SIM)\n"
    b"#define ISER (*((volatile uint32_t*)0x40054010))\n#else\n"
    b"#define ISER (*((volatile uint32_t*)0xE000E100))\n#endif\n"
)
MAKEFILE = (
    b"all: a.o b.o\n%.o: %.c\n\tarm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -D@=1 -c $< -o $@\n"
).replace(b"@", b"FILE_$*")


def ported(result: PortResult) -> dict[str, bytes]:
    return {port.file.name: port.ported for port in result.files}


def statuses(result: PortResult) -> set[Status]:
    return {verdict.status for port in result.files for verdict in port.verdicts}


def test_of_two_chips_headers_the_files_own_counts(tmp_path: Path) -> None:
    files = {**TWO_CHIPS, "f1/gpio.c": WRITE, "f4/gpio.c": WRITE}
    found = ported(port_files(tmp_path, files, None))
    assert b"(uint32_t)p - 0x40010800U" in found["f1/gpio.c"]
    assert b"(uint32_t)p - 0x40020000U" in found["f4/gpio.c"]


def test_which_of_two_chips_it_is_may_not_be_known(tmp_path: Path) -> None:
    result = port_files(tmp_path, {**TWO_CHIPS, "main.c": WRITE}, None)
    (told,) = escalations(result)
    assert "0x40010800" in told
    assert "0x40020000" in told


def test_one_register_at_two_addresses_is_no_question(tmp_path: Path) -> None:
    """Set-up is taken out whichever chip it is."""
    registers = b'#include "base.h"\n#define RCC_CR (*(volatile int *)(RCC_BASE))\n'
    files = {
        "f1/base.h": b"#define RCC_BASE 0x40021000\n",
        "f4/base.h": b"#define RCC_BASE 0x40023800\n",
        "rcc.h": registers,
        "main.c": b'#include "rcc.h"\nvoid f(void) { RCC_CR |= 1; g(); }\n',
    }
    assert statuses(port_files(tmp_path, files, None)) == {Status.REWRITTEN}


@pytest.mark.parametrize(
    "code",
    [
        b"void f(void) { ISER = 1u << 3; }",
        b"#define ON() (ISER = 8)\nvoid f(void) { ON(); }",
        b"#define A(r) (r)\nvoid f(void) { A(ISER) |= 8; }",
    ],
)
def test_a_macro_with_two_definitions_is_the_stricter(tmp_path: Path, code: bytes) -> None:
    result = port_files(tmp_path, {"main.c": SIMULATED + code + b"\n"})
    (told,) = escalations(result)
    assert "0x40054010 or NVIC->ISER: ISER has several definitions" in told


def test_assembler_arms_define_nothing_for_c(tmp_path: Path) -> None:
    header = (
        b"#ifdef __ASSEMBLER__\n#define MMIO32(a) (a)\n#else\n"
        b"#define MMIO32(a) (*(volatile unsigned *)(a))\n#endif\n"
        b"#define SCB_VTOR MMIO32(0xE000ED08)\n"
    )
    code = b'#include "io.h"\nvoid f(void) { SCB_VTOR = 0x08000000; g(); }\n'
    result = port_files(tmp_path, {"io.h": header, "main.c": code})
    assert b"void f(void) { g(); }" in ported(result)["main.c"]


def test_the_build_says_which_definition_holds(tmp_path: Path) -> None:
    code = SIMULATED.replace(b"USE_SIM", b"FILE_b") + b"void f(void) { ISER = 1u << 3; }\n"
    result = port_files(tmp_path, {"a.c": code, "b.c": code, "Makefile": MAKEFILE}, None)
    assert [port.file.name for port in result.files] == ["a.c"]
    assert statuses(result) == {Status.REWRITTEN}


def test_a_register_of_no_known_type_is_no_question_in_an_arm_that_is_off(tmp_path: Path) -> None:
    code = F4 + b"void f(void) { GPIOA->ODR; }\n#ifdef FAR\nvoid g(void) { GPIOJ->MODER = 1; }\n"
    files = {"a.c": code + b"#endif\n", "b.c": b"", "Makefile": MAKEFILE}
    assert not [it for it in escalations(port_files(tmp_path / "off", files)) if "GPIOJ" in it]
    files["a.c"] = b"#define FAR\n" + files["a.c"]
    assert [it for it in escalations(port_files(tmp_path / "on", files)) if "GPIOJ" in it]


@pytest.mark.parametrize("same", [False, True])
def test_a_header_means_what_it_means_in_every_file(tmp_path: Path, same: bool) -> None:
    """Rewritten only if that is right in all of them."""
    header = SIMULATED.replace(b"USE_SIM", b"FILE_c" if same else b"FILE_b")
    header += b"static inline void on(void) { ISER = 1u << 3; }\n"
    use = b'#include "on.h"\nvoid f%(void) { on(); }\n'
    files = {"on.h": header, "a.c": use.replace(b"%", b"a"), "b.c": use.replace(b"%", b"b")}
    result = port_files(tmp_path, {**files, "Makefile": MAKEFILE}, None)
    told = escalations(result)
    assert bool(told) == (not same)
    if told:
        assert "a.c" in told[0]
        assert "b.c" in told[0]


API = b"#define IDLE SLEEP\n#define REST IDLE\n"
IDLES = (
    b'#include "names.h"\n#include "api.h"\n'
    b"void f4_sleep(void) { *(volatile int *)0xE000ED9C = g(); }\n"
)


@pytest.mark.parametrize(
    ("f1", "f4", "call"),
    [
        (b"#define SLEEP f1_sleep\n", b"#define SLEEP f4_sleep\n", b"REST();"),
        (b"#define SLEEP f1_sleep\n", b"#define SLEEP\n", b"f4_sleep(); SLEEP"),
        (b"#define SLEEP\n", b"#define SLEEP f4_sleep\n", b"REST();"),
        (b"#define SLEEP (f1())\n", b"#define SLEEP f4_sleep\n", b"REST();"),
    ],
)
def test_another_name_is_what_the_files_own_headers_make_of_it(
    tmp_path: Path, f1: bytes, f4: bytes, call: bytes
) -> None:
    """A function that is called by a name of a name isn't one that nothing uses."""
    files = {
        "f1/names.h": f1,
        "f4/names.h": f4,
        "api.h": API,
        "f1/user.c": b'#include "names.h"\n#include "api.h"\nvoid u(void) { REST(); }\n',
        "f4/main.c": IDLES + b"int main(void) { " + call + b" }\n",
    }
    assert statuses(port_files(tmp_path, files, None)) == {Status.ESCALATED}
