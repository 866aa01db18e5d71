"""PRIMASK is one bit: a number without it opens, whatever else it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import port_text


@pytest.mark.parametrize(
    ("register", "number", "operation"),
    [
        ("primask", "1", "mask(VIRT_PRIMASK)"),
        ("primask", "0x80000001", "mask(VIRT_PRIMASK)"),
        ("primask", "0x80000000", "unmask(VIRT_PRIMASK)"),
        ("primask", "2", "unmask(VIRT_PRIMASK)"),
        ("basepri", "0x40", "mask(VIRT_BASEPRI)"),
        ("basepri", "0x100", "unmask(VIRT_BASEPRI)"),
    ],
)
def test_a_known_number_masks_by_the_bits_that_the_register_has(
    tmp_path: Path, register: str, number: str, operation: str
) -> None:
    intrinsic = f"__set_{register.upper()}({number});"
    for statement in (f'asm("msr {register}, %0" :: "r"({number}));', intrinsic):
        ported, _ = port_text(tmp_path, f"void f(void) {{ {statement} }}\n".encode())
        assert f"void f(void) {{ virt_int_{operation}; }}" in ported.decode()
