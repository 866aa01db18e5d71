"""Registers that a project's own structs name as it likes: the manual's name decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.judging.verdict import Status
from tests.porter.helpers import port_text

STRUCTS = b"""\
#include <stdint.h>
typedef struct {
    volatile uint32_t mode, otype, ospeedr, pull, in, out, bsrr, lock, AFRL, AFRH;
} gpio_t;
typedef struct { volatile uint32_t cr, pllcfgr, cfgr; } rcc_t;
#define GPIOA ((gpio_t *)0x40020000)
#define RCC ((rcc_t *)0x40023800)
"""


@pytest.mark.parametrize(
    ("statement", "ported"),
    [
        (b"GPIOA->out |= 1u << 5;", b"hyp_pin_write(0, 1u << 5);"),
        (b"GPIOA->bsrr = 1u << 5;", b"hyp_pin_write(0, 1u << 5);"),
        (b"while (!(GPIOA->in & 32)) {}", b"while (!(hyp_pin_get(0) & 32)) {}"),
        (b"GPIOA->mode = 0x400;", b""),
        (b"GPIOA->AFRL = 7;", b""),
        (b"RCC->cr |= 1;", b""),
    ],
)
def test_a_register_is_known_by_where_it_is(
    statement: bytes, ported: bytes, tmp_path: Path
) -> None:
    text = STRUCTS + b"int main(void) {\n    " + statement + b"\n    return 0;\n}\n"
    found, port = port_text(tmp_path, text)
    assert [verdict.status.name for verdict in port.verdicts] == ["REWRITTEN"]
    assert ported in found and statement not in found


def test_a_member_may_be_written_by_another_name(tmp_path: Path) -> None:
    text = STRUCTS + b"#define LEVELS out\nint main(void) { GPIOA->LEVELS |= 1u << 5; return 0; }\n"
    found, port = port_text(tmp_path, text)
    assert [verdict.status.name for verdict in port.verdicts] == ["REWRITTEN"]
    assert b"{ hyp_pin_write(0, 1u << 5); return 0; }" in found


def test_a_member_of_a_member_by_one_name_is_told(tmp_path: Path) -> None:
    text = STRUCTS + b"typedef struct { gpio_t port; } board_t;\n#define LEVELS port.out\n"
    text += (
        b"#define BOARD ((board_t *)0x40020000)\nint main(void) { BOARD->LEVELS = 7; return 0; }\n"
    )
    _, port = port_text(tmp_path, text)
    assert [verdict.status.name for verdict in port.verdicts] == ["ESCALATED"]


def test_where_the_port_isnt_known_small_letters_are(tmp_path: Path) -> None:
    text = STRUCTS + b"void off(gpio_t *port) { port->bsrr = 1u << 21; }\n"
    text += b"int main(void) { off(GPIOA); }\n"
    found, port = port_text(tmp_path, text)
    assert port.verdicts[0].status is Status.REWRITTEN and b"port->bsrr = " not in found
    odd = text.replace(b"bsrr", b"set_reset")
    (tmp_path / "odd").mkdir()
    _, port = port_text(tmp_path / "odd", odd)
    assert port.verdicts[0].status is Status.ESCALATED


@pytest.mark.parametrize(
    ("statement", "ported"),
    [
        (b"while (!(GPIOA->input & 32)) {}", b"while (!(hyp_pin_get(0) & 32)) {}"),
        (b"GPIOA->output |= 1u << 5;", b"hyp_pin_write(0, 1u << 5);"),
    ],
)
def test_ports_of_an_older_chip_are_laid_out_otherwise(
    statement: bytes, ported: bytes, tmp_path: Path
) -> None:
    """At 8 is what is read, where newer ones have a pin's speed."""
    text = b"""\
#include <stdint.h>
typedef struct { volatile uint32_t low, high, input, output, set, reset, lock; } port_t;
#define GPIOA ((port_t *)0x40010800)
int main(void) {
    """
    found, _ = port_text(tmp_path, text + statement + b"\n    return 0;\n}\n")
    assert ported in found
