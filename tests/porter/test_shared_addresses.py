"""Addresses that a variable of a header keeps, and what other files do through it."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.judging.verdict import Status
from tests.porter.helpers import escalations, port_files

TYPES = b"#pragma once\n#include <stdint.h>\n"
MAKEFILE = b"%.o: %.c\n\tarm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -c $< -o $@\nall: main.o\n"
ICSR = b"(volatile uint32_t *)0xE000ED04"


@pytest.mark.parametrize("build", [{}, {"Makefile": MAKEFILE}])
@pytest.mark.parametrize("variable", [b"*const icsr = " + ICSR, b"*icsr = " + ICSR])
def test_what_a_file_does_through_a_headers_pointer(
    tmp_path: Path, build: dict[str, bytes], variable: bytes
) -> None:
    """The header is included by another one, with and without a build that tells."""
    header = TYPES + b"static volatile uint32_t " + variable + b";\n"
    result = port_files(
        tmp_path,
        {
            "hw.h": header,
            "all.h": b'#include "hw.h"\n',
            "main.c": b'#include "all.h"\nint main(void) { *icsr = 1u << 28; for (;;); }\n',
            **build,
        },
    )
    assert escalations(result) == []
    ported = {port.file.name: port.ported for port in result.files}
    assert b"virt_yield();" in ported["main.c"]


def test_a_number_that_a_header_keeps_is_an_address(tmp_path: Path) -> None:
    header = TYPES + b"static const uint32_t system = 0xE000ED00;\n"
    use = b'#include "hw.h"\nvoid f(void) { *(volatile uint32_t *)(system + 4) = 1u << 28; }\n'
    result = port_files(tmp_path, {"hw.h": header, "main.c": use})
    ported = {port.file.name: port.ported for port in result.files}
    assert b"virt_yield();" in ported["main.c"]


def test_a_macro_that_uses_a_headers_pointer_is_a_site(tmp_path: Path) -> None:
    header = (
        TYPES
        + b"static volatile uint32_t *const icsr = "
        + ICSR
        + b";\n#define PEND() (*icsr = 1u << 28)\n#define GIVEN(icsr) (*icsr = 1u << 28)\n"
    )
    result = port_files(tmp_path, {"hw.h": header, "main.c": b'#include "hw.h"\nint n;\n'})
    places = [v.site.where for port in result.files for v in port.verdicts if v.site.where]
    assert places == ["PEND"]


@pytest.mark.parametrize(
    "text",
    [
        b"void f(volatile uint32_t *icsr) { *icsr = 1u << 28; }\n",
        b"void f(void) { uint32_t n, *icsr = &n; *icsr = 1u << 28; }\n",
    ],
)
def test_a_local_name_hides_the_headers(tmp_path: Path, text: bytes) -> None:
    header = TYPES + b"static volatile uint32_t *const icsr = " + ICSR + b";\n"
    result = port_files(tmp_path, {"hw.h": header, "main.c": b'#include "hw.h"\n' + text})
    assert [port.file.name for port in result.files] == ["hw.h"]


def test_a_static_variable_of_a_c_file_is_its_own(tmp_path: Path) -> None:
    """Without a build that tells, every file is looked at with all names of the project."""
    owner = TYPES + b"static volatile uint32_t *const icsr = " + ICSR + b";\n"
    other = TYPES + b"extern uint32_t *icsr;\nvoid f(void) { *icsr = 1u << 28; }\n"
    result = port_files(tmp_path, {"owner.c": owner, "other.c": other})
    assert [port.file.name for port in result.files] == ["owner.c"]


def test_a_written_pointer_of_a_header_goes_where_it_cant_be_followed(tmp_path: Path) -> None:
    header = TYPES + b"static volatile uint32_t *icsr = " + ICSR + b";\n"
    use = b'#include "hw.h"\nuint32_t n;\nvoid f(void) { *icsr = 1; icsr = &n; *icsr = 1; }\n'
    result = port_files(tmp_path, {"hw.h": header, "main.c": use})
    assert [port.file.name for port in result.files if any(
        v.status is Status.ESCALATED for v in port.verdicts)] == ["hw.h"]  # fmt: skip


def test_a_pointer_that_other_files_use_by_extern_is_followed_there(tmp_path: Path) -> None:
    owner = TYPES + b"volatile uint32_t *const icsr = " + ICSR + b";\n"
    other = TYPES + b"extern volatile uint32_t *const icsr;\nvoid f(void) { *icsr = 1u << 28; }\n"
    result = port_files(tmp_path, {"owner.c": owner, "other.c": other})
    assert escalations(result) == []
    (port,) = [it for it in result.files if it.edits]
    assert port.file.name == "other.c" and b"{ virt_yield(); }" in port.ported
