"""Types of <stdint.h> that a project declares in its own way: guest.h brings the other one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import escalations, port_files

USE = b"void f(void) { __disable_irq(); }\n"


@pytest.mark.parametrize(
    ("declared", "is_told"),
    [
        (b"typedef unsigned int uint32_t;", True),
        (b"typedef signed int int32_t;", True),
        (b"typedef char int8_t;", True),
        (b"typedef unsigned uint32_t;", True),
        (b"typedef unsigned long uint32_t;", False),
        (b"typedef unsigned long int uint32_t;", False),
        (b"typedef signed char int8_t;", False),
        (b"typedef unsigned short int uint16_t;", False),
        (b"typedef long long int int64_t;", False),
        (b"typedef unsigned uintptr_t;", False),
        (b"typedef unsigned int u32;", False),
        (b"typedef unsigned int *uint32_t_p;", False),
        (b"#if 0\ntypedef unsigned int uint32_t;\n#endif", False),
    ],
)
def test_a_type_that_stdint_has_otherwise_is_told(
    tmp_path: Path, declared: bytes, is_told: bool
) -> None:
    result = port_files(
        tmp_path, {"types.h": declared + b"\n", "main.c": b'#include "types.h"\n' + USE}
    )
    assert [("<stdint.h>" in it) for it in escalations(result)] == [True] * is_told


def test_who_needs_no_header_of_the_guest_may_declare_what_he_likes(tmp_path: Path) -> None:
    result = port_files(tmp_path, {"main.c": b"typedef unsigned int uint32_t;\nint f(void);\n"})
    assert escalations(result) == []
