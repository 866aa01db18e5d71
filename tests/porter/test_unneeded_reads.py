"""Who asks which chip it is only to set up what the boot table sets up asks for nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.porter.helpers import DOMAIN, escalations, port_files

HEADER = b"""\
typedef struct { volatile unsigned ACR; } FLASH_TypeDef;
#define FLASH ((FLASH_TypeDef *)0x40023C00)
#define IDCODE (*(volatile unsigned *)0xE0042000)
#define PREFETCH_ENABLE() (FLASH->ACR |= 1u << 8)
unsigned revision(void);
void show(unsigned n);
extern unsigned wanted;
"""
CHIP = b"""\
#include "chip.h"
unsigned revision(void)
{
    /* the upper half */
    return IDCODE >> 16;
}
"""


def port(folder: Path, body: bytes, chip: bytes = CHIP) -> tuple[bytes, list[str]]:
    main = b'#include "chip.h"\nint main(void)\n{\n    %s\n    for (;;) { }\n}\n' % body
    result = port_files(folder, {"chip.h": HEADER, "chip.c": chip, "main.c": main})
    ported = {it.file.name: it.ported for it in result.files}
    return ported["chip.c"], escalations(result)


@pytest.mark.parametrize(
    "body",
    [
        b"if (revision() >= 0x1001) { PREFETCH_ENABLE(); }",
        b"if (revision() >= 0x1001) FLASH->ACR |= 1u << 8;",
        b"unsigned r = revision(); if (r == 1 || r == 2) { PREFETCH_ENABLE(); }",
        b"if (0) { show(revision()); }\n    if (revision() > 3) PREFETCH_ENABLE();",
    ],
)
def test_what_decides_about_removed_set_up_alone_needs_nobody(tmp_path: Path, body: bytes) -> None:
    chip, problems = port(tmp_path, body)
    assert problems == []
    assert b"return 0u >> 16;" in chip and b"/* the upper half */" in chip


@pytest.mark.parametrize(
    "body",
    [
        b"show(revision());",
        b"if (revision() >= 0x1001) { PREFETCH_ENABLE(); show(1); }",
        b"if (revision() >= 0x1001) { PREFETCH_ENABLE(); } else { wanted = 1; }",
        b"if (revision() >= 0x1001) { PREFETCH_ENABLE(); }\n    show(revision());",
        b"while (revision() < 3) { PREFETCH_ENABLE(); }",
        b"unsigned (*ask)(void) = revision; if (ask() > 3) { PREFETCH_ENABLE(); }",
        b"wanted = revision();",
        b"if (revision() > 3) { goto out; }\n    out:",
    ],
)
def test_what_decides_about_anything_else_needs_a_person(tmp_path: Path, body: bytes) -> None:
    chip, problems = port(tmp_path, body)
    assert any("0xE0042000" in it for it in problems)
    assert b"return IDCODE >> 16;" in chip


def test_a_file_beside_the_project_may_ask(tmp_path: Path) -> None:
    beside = tmp_path / "guest.c"
    beside.write_text("int late(void) { return revision() > 3; }\n")
    main = b'#include "chip.h"\nint main(void) { if (revision() > 3) PREFETCH_ENABLE(); }\n'
    files = {"chip.h": HEADER, "chip.c": CHIP, "main.c": main}
    domain = replace(DOMAIN, beside=(beside,))
    assert any("0xE0042000" in it for it in escalations(port_files(tmp_path / "p", files, domain)))


def test_a_function_that_does_more_than_return_it_stays(tmp_path: Path) -> None:
    chip = CHIP.replace(b"return", b"wanted = IDCODE;\n    return")
    text, problems = port(tmp_path, b"if (revision() > 3) PREFETCH_ENABLE();", chip)
    assert problems and text.count(b"IDCODE") == 2
