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


SET = "#define SET(port, m) ((port)->BSRR = (m))\n"
ALL = "void f(void) { SET(GPIOB, 1 << 4); }\nint main(void) { f(); for (;;) { } }\n"


@pytest.mark.parametrize(
    ("others", "is_spent"),
    [
        ("", True),
        ("void g(GPIO_TypeDef *p) { SET(p, 1); }\nvoid (*hook)(GPIO_TypeDef *) = g;\n", False),
        ("#define UP() SET(GPIOB, 2)\nvoid g(void) { UP(); }\nvoid (*hook)(void) = g;\n", True),
        ("static void g(GPIO_TypeDef *p) { if (0) SET(p, 1); }\nvoid (*hook)() = g;\n", True),
    ],
)
def test_a_body_whose_uses_are_all_ported_needs_nobody(
    tmp_path: Path, others: str, is_spent: bool
) -> None:
    _, port = port_text(tmp_path, (HEAD + SET + others + ALL).encode(), None)
    (body,) = [it for it in port.verdicts if it.site.where == "SET"]
    assert (body.status.value == "left") == is_spent, body.reason
    assert not is_spent or "rewritten where they stand" in body.reason


@pytest.mark.parametrize(
    ("use", "is_ported"),
    [
        ("UP();", True),
        ("if (n) UP(); else DOWN();", True),
        ("for (;;) { UP(); }", True),
        ("n = UP();", False),
        ("n = (int) UP();", False),
        ("show(UP());", False),
        ("TWICE();", False),
        ("return UP();", False),
    ],
)
def test_a_macro_that_is_a_write_may_be_given_another_value(
    tmp_path: Path, use: str, is_ported: bool
) -> None:
    macros = "#define UP() SET(GPIOB, 2)\n#define DOWN() (SET(GPIOB, 2 << 16))\n"
    macros += "#define TWICE() show(UP())\nvoid show(unsigned);\n"
    text = HEAD + SET + macros + f"unsigned f(unsigned n) {{ {use} return n; }}\n"
    ported, port = port_text(tmp_path, text.encode(), None)
    assert (b"#define UP() hyp_pin_write(1, ( 2 ))" in ported) == is_ported
    about = {it.status.value for it in port.verdicts if it.site.where == "UP"}
    assert ("escalated" in about) != is_ported


TOGGLE = """#define TOGGLE(port, m) do { unsigned now = port->ODR; \\
    port->BSRR = ((now & (m)) << 16) | (~now & (m)); } while (0)
"""


def test_a_statement_that_reads_and_sets_pins_is_written_out(tmp_path: Path) -> None:
    code = TOGGLE + "#define LED() TOGGLE(GPIOB, 8)\n" \
        "void f(GPIO_TypeDef *p, int x) { if (x) TOGGLE(p, 4); else LED(); }\n"  # fmt: skip
    ported, port = port_text(tmp_path, (HEAD + code).encode(), None)
    toggled = "do { unsigned now = hyp_pin_latch(%s); hyp_pin_write(%s, ((now & (%s)) << 16) |" \
        " (~now & (%s))); } while (0)"  # fmt: skip
    assert f"#define LED() {toggled % (1, 1, 8, 8)}\n" in ported.decode()
    asked = "((uint32_t)p - 0x40010800U) / 0x400U"
    header = "#define GPIOA ((GPIO_TypeDef *)0x40010800UL)\n"
    ported, port = port_text(tmp_path / "a", (HEAD + header + code).encode(), None)
    assert f"if (x) {toggled % (asked, asked, 4, 4)}; else LED();" in ported.decode()
    assert not [it for it in port.verdicts if it.status.value == "escalated"]


@pytest.mark.parametrize(
    "body",
    [
        "do { port->BSRR = m; NVIC_EnableIRQ(3); } while (0)",
        'do { port->BSRR = m; __asm volatile ("cpsid i"); } while (0)',
        "do { port->BSRR = m; port->CRL = m; } while (0)",
        "do { port->BSRR |= m; port->BSRR = m; } while (0)",
        "do { volatile unsigned *p = &port->BSRR; port->BSRR = m; *p = 1; } while (0)",
    ],
)
def test_a_statement_that_does_more_is_told(body: str, tmp_path: Path) -> None:
    code = f"#define SET(port, m) {body}\nvoid g(void) {{ SET(GPIOB, 4); }}\n"
    ported, port = port_text(tmp_path, (HEAD + code).encode(), None)
    assert b"void g(void) { SET(GPIOB, 4); }" in ported
    assert any(it.site.what == "SET" and it.status.value == "escalated" for it in port.verdicts)


def test_a_port_that_a_macro_is_given_by_a_pointer_is_asked(tmp_path: Path) -> None:
    code = "#define GPIOA ((GPIO_TypeDef *)0x40010800UL)\nstruct key { GPIO_TypeDef *port; };\n" \
        "#define DOWN(port, m) ((port->IDR & m) == 0)\n" \
        "int f(struct key *k) { return !DOWN(k->port, 4); }\n"  # fmt: skip
    ported, _ = port_text(tmp_path, (HEAD + code).encode(), None)
    read = "hyp_pin_get(((uint32_t)k->port - 0x40010800U) / 0x400U)"
    assert f"return !(({read} & 4) == 0);" in ported.decode()
