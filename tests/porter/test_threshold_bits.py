"""BASEPRI keeps the bits that the chip's priorities have: a number without them masks nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.porter.helpers import DOMAIN, escalations, port_files, port_text

_WRITES = ["__set_BASEPRI({});", 'asm("msr basepri, %0" :: "r"({}));']


def _bits(number: int) -> str:
    return f"#define __NVIC_PRIO_BITS {number}\n"


@pytest.mark.parametrize("write", _WRITES)
@pytest.mark.parametrize(
    ("bits", "number", "operation"),
    [
        (4, "0x01", "unmask"),
        (4, "0x0F", "unmask"),
        (4, "0x10", "mask"),
        (4, "0x5F", "mask"),
        (3, "0x1F", "unmask"),
        (8, "0x01", "mask"),
        (4, "1 << (8 - __NVIC_PRIO_BITS)", "mask"),
    ],
)
def test_bits_that_the_chip_does_not_have(
    tmp_path: Path, write: str, bits: int, number: str, operation: str
) -> None:
    text = f"{_bits(bits)}void f(void) {{ {write.format(number)} }}\n"
    ported, _ = port_text(tmp_path, text.encode())
    assert f"void f(void) {{ virt_int_{operation}(VIRT_BASEPRI); }}" in ported.decode()


@pytest.mark.parametrize("write", _WRITES)
@pytest.mark.parametrize("head", ["", _bits(4) + "#undef __NVIC_PRIO_BITS\n" + _bits(3)])
def test_a_number_of_lower_bits_on_a_chip_that_nobody_names(
    tmp_path: Path, write: str, head: str
) -> None:
    text = f"{head}void f(void) {{ {write.format('0x08')} }}\n"
    result = port_files(tmp_path, {"main.c": text.encode()})
    (told,) = escalations(result)
    assert "whether BASEPRI = 0x8 masks depends on" in told
    assert "describe it, define __NVIC_PRIO_BITS" in told


@pytest.mark.parametrize(("bits", "operation"), [(4, "unmask"), (8, "mask")])
@pytest.mark.parametrize("write", _WRITES)
def test_the_described_chip_says_how_many(
    tmp_path: Path, write: str, bits: int, operation: str
) -> None:
    domain = replace(DOMAIN, priority_bits=bits)
    ported, _ = port_text(tmp_path, f"void f(void) {{ {write.format(5)} }}".encode(), domain)
    assert f"void f(void) {{ virt_int_{operation}(VIRT_BASEPRI); }}" in ported.decode()


def test_the_projects_own_chip_comes_first(tmp_path: Path) -> None:
    text = _bits(8) + "void f(void) { __set_BASEPRI(5); }\n"
    ported, _ = port_text(tmp_path, text.encode(), replace(DOMAIN, priority_bits=4))
    assert "virt_int_mask(VIRT_BASEPRI)" in ported.decode()


@pytest.mark.parametrize("number", ["0x20", "0xFF", "0"])
def test_upper_bits_need_no_chip(tmp_path: Path, number: str) -> None:
    result = port_files(
        tmp_path, {"main.c": f"void f(void) {{ __set_BASEPRI({number}); }}".encode()}
    )
    assert not escalations(result)


def test_a_raise_by_bits_that_are_not_there(tmp_path: Path) -> None:
    text = _bits(4) + "void f(void) { __set_BASEPRI_MAX(2); }\n"
    (told,) = escalations(port_files(tmp_path, {"main.c": text.encode()}))
    assert "raising the threshold to 0 does nothing" in told
