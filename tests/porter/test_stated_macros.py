"""A macro that is one write may lose its value only where nobody asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import escalations, port_files, port_text

_NVIC = b"#define ISER ((volatile unsigned *)0xE000E100)\n"
_ON = _NVIC + b"#define ON(i) (ISER[(i) / 32] = 1u << ((i) & 31))\n"
_PORTED = b"#define ON(i) (hyp_irq_ena(i))\n"
_CSR = b"#define CSR (*(volatile unsigned *)0xE000E010)\n"


@pytest.mark.parametrize(
    "use",
    [
        b"void f(void) { ON(37); }\n",
        b"void f(int x) { if (x) ON(37); else ON(28); }\n",
        b"void f(int x) { do ON(37); while (x); switch (x) { case 1: ON(28); } }\n",
        b"#define BOTH ON(37)\nvoid f(void) { BOTH; }\n",
        b"#define BOTH() (ON(37))\nvoid f(int x) { if (x) BOTH(); }\n",
        b"#define BOTH() do { ON(37); ON(28); } while (0)\nvoid f(void) { BOTH(); }\n",
    ],
)
def test_statements_ask_for_no_value(tmp_path: Path, use: bytes) -> None:
    ported, _ = port_text(tmp_path, _ON + use)
    assert _PORTED in ported
    assert ported.endswith(use)


@pytest.mark.parametrize(
    "use",
    [
        b"unsigned f(void) { return ON(37); }\n",
        b"void f(void) { unsigned s = (unsigned)ON(37); ON(28); }\n",
        b"void f(int x) { x ? ON(37) : ON(28); }\n",
        b"void g(unsigned); void f(void) { g(ON(37)); }\n",
        b"void f(int x) { while (ON(37)) x--; }\n",
        b"#define BOTH() (ON(37) + 1)\nint f(void) { return BOTH(); }\n",
        b"#define BOTH() ON(37)\nint f(void) { BOTH(); return BOTH(); }\n",
        b"void f(void) { unsigned s; s = ON(37); }\n",
    ],
)
def test_who_asks_for_the_value_keeps_it(tmp_path: Path, use: bytes) -> None:
    ported, port = port_text(tmp_path, _ON + use)
    assert _PORTED not in ported
    assert [it.reason for it in port.verdicts if it.site.what == "ISER"]


def test_another_file_may_ask(tmp_path: Path) -> None:
    files = {"nvic.h": _ON, "a.c": b'#include "nvic.h"\nvoid f(void) { ON(37); }\n'}
    assert escalations(port_files(tmp_path / "one", files)) == []
    files["b.c"] = b'#include "nvic.h"\nunsigned g(void) { return ON(28); }\n'
    assert escalations(port_files(tmp_path / "two", files)) != []


def test_what_goes_leaves_an_expression(tmp_path: Path) -> None:
    """`(STOP())` and `if (x) STOP(); else` still need one."""
    text = b"#define SCR (*(volatile unsigned *)0xE000ED10)\n#define AWAKE() SCR &= ~4u\n"
    use = b"#define BOTH() (AWAKE())\nvoid f(int x) { if (x) BOTH(); else AWAKE(); }\n"
    ported, _ = port_text(tmp_path, text + use)
    assert ported.endswith(b"#define AWAKE() ((void)0)\n" + use)


def test_without_parameters(tmp_path: Path) -> None:
    text = _CSR + b"#define STOP CSR &= ~1u\nvoid f(void) { STOP; }\n"
    ported, _ = port_text(tmp_path, text)
    assert b"#define STOP hyp_tick_set(0)\n" in ported


def test_two_lines_at_once(tmp_path: Path) -> None:
    """One expression, since a use may be the body of an `if`."""
    text = _NVIC + b"#define ON() ISER[0] = 3u << 27\nvoid f(int x) { if (x) ON(); else x++; }\n"
    ported, _ = port_text(tmp_path, text, None)
    assert b"#define ON() hyp_irq_ena(27), hyp_irq_ena(28)\n" in ported


_GPIO = (
    b"typedef struct { volatile unsigned MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR, BSRR; }"
    b" GPIO_TypeDef;\n#define GPIOA ((GPIO_TypeDef *)0x40020000)\n"
    b"#define LED(on) ((on) ? (GPIOA->ODR |= 32) : (GPIOA->ODR &= ~32))\n"
)


def test_a_choice_of_two_writes_is_a_statement_too(tmp_path: Path) -> None:
    ported, _ = port_text(tmp_path / "not", _GPIO + b"void f(int x) { LED(x); }\n")
    assert b"((on) ? (hyp_pin_write(0, 32)) : (hyp_pin_set(0, 32, 0)))" in ported
    ported, port = port_text(tmp_path / "asked", _GPIO + b"int f(int x) { return LED(x); }\n")
    assert b"hyp_pin" not in ported
    assert [it.reason for it in port.verdicts if it.site.what == "GPIOA"]


def test_a_line_may_be_chosen_without_if(tmp_path: Path) -> None:
    head = b"#define SET (*(volatile unsigned *)0xE000E104)\n"
    line = b"void f(int x) { x ? (SET = 1u << 5) : (void)0; }\n"
    ported, _ = port_text(tmp_path / "one", head + line)
    assert b"x ? (hyp_irq_ena(37)) : (void)0;" in ported
    two = b"void f(int x) { x ? (SET = 3u << 5) : (void)0; }\n"
    ported, port = port_text(tmp_path / "two", head + two)
    assert b"hyp_irq" not in ported and port.verdicts[0].reason
