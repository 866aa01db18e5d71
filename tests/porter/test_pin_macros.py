"""Macros that are given a port: what they make of its pins stays, and what statement they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import port_text

HEAD = (
    "typedef struct { volatile unsigned CRL, CRH, IDR, ODR, BSRR, BRR; } GPIO_TypeDef;\n"
    "#define GPIOB ((GPIO_TypeDef *)0x40010C00UL)\n"
)
MADE = {
    "port->IDR & (m) ? 1 : 0": "(hyp_pin_get(1) & (1 << 4) ? 1 : 0)",
    "(!!((port)->IDR & m))": "(!!(hyp_pin_get(1) & 1 << 4))",
    "(((port)->IDR & (m)) == 0)": "((hyp_pin_get(1) & (1 << 4)) == 0)",
    "(~(port)->IDR)": "(~hyp_pin_get(1))",
    "((port)->ODR + 1)": "(hyp_pin_latch(1) + 1)",
    "(port->IDR)": "hyp_pin_get(1)",
}
STATEMENTS = {
    "{ port->BSRR = m; }": "{ hyp_pin_write(1, 4); }",
    "do { port->BSRR = (m); } while (0)": "do { hyp_pin_write(1, ( 4 )); } while (0)",
}


@pytest.mark.parametrize("body", MADE)
def test_what_a_macro_makes_of_pins_stays(body: str, tmp_path: Path) -> None:
    code = f"#define GET(port, m) {body}\nint f(void) {{ return GET(GPIOB, 1 << 4); }}\n"
    ported, _ = port_text(tmp_path, (HEAD + code).encode(), None)
    assert f"return {MADE[body]};" in ported.decode()


def test_in_another_macro_too(tmp_path: Path) -> None:
    code = "#define GET(port, m) (GPIO##port->IDR & (m))\n#define UP GET(B, 4)\n" \
        "int f(void) { return UP; }\n"  # fmt: skip
    ported, _ = port_text(tmp_path, (HEAD + code).encode(), None)
    assert b"#define UP (hyp_pin_get(1) & (4))\n" in ported


@pytest.mark.parametrize("body", STATEMENTS)
def test_a_statement_stays_one(body: str, tmp_path: Path) -> None:
    code = f"#define SET(port, m) {body}\n#define LED SET(GPIOB, 4)\n" \
        "void f(int x) { LED; if (x) SET(GPIOB, 8); else LED; }\n"  # fmt: skip
    ported, _ = port_text(tmp_path, (HEAD + code).encode(), None)
    assert f"#define LED {STATEMENTS[body]}\n" in ported.decode()
    assert b"if (x) hyp_pin_write(1, " in ported


@pytest.mark.parametrize("body", ["{ port->BSRR = m; f(0); }", "if (m) port->BSRR = m"])
def test_more_than_an_operation_is_told(body: str, tmp_path: Path) -> None:
    code = f"void f(int);\n#define SET(port, m) {body}\nvoid g(void) {{ SET(GPIOB, 4); }}\n"
    ported, port = port_text(tmp_path, (HEAD + code).encode(), None)
    assert b"hyp_pin" not in ported
    assert any("can't be told" in it.reason for it in port.verdicts)
