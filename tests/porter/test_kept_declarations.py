"""A local that only asm statements used is declared as long as what replaces them uses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import port_text

SAVE = 'asm volatile("mrs %0, primask\\n cpsid i" : "=r"(old));'
RESTORE = 'asm volatile("msr primask, %0" :: "r"(old));'


def ported(folder: Path, text: str) -> str:
    return port_text(folder, text.encode())[0].decode()


@pytest.mark.parametrize("before", ["", "unsigned old;\n"])
def test_the_saved_mask_is_still_declared(tmp_path: Path, before: str) -> None:
    text = (
        f"{before}void f(void)\n{{\n    unsigned old;\n\n    {SAVE}\n    g();\n    {RESTORE}\n}}\n"
    )
    assert (
        "void f(void)\n{\n    unsigned old;\n\n    old = virt_int_save(VIRT_PRIMASK);\n    g();\n"
        "    virt_int_restore(VIRT_PRIMASK, old);\n}\n"
    ) in ported(tmp_path, text)


def test_one_declarator_of_several_stays(tmp_path: Path) -> None:
    text = (
        f"void f(void)\n{{\n    unsigned old, i = 3;\n\n    {SAVE}\n    g(i);\n    {RESTORE}\n}}\n"
    )
    assert "    unsigned old, i = 3;\n" in ported(tmp_path, text)


def test_what_is_stored_for_the_next_round_stays(tmp_path: Path) -> None:
    loop = f"    for (;;) {{\n        {RESTORE}\n        old = next;\n    }}\n"
    text = f"void f(unsigned next)\n{{\n    unsigned old = next;\n\n{loop}}}\n"
    assert "        old = next;\n" in ported(tmp_path, text)


def test_what_the_new_text_does_not_use_still_goes(tmp_path: Path) -> None:
    text = (
        "void f(void)\n{\n    unsigned level = 0x40;\n\n"
        '    asm volatile("msr basepri, %0" :: "r"(level));\n}\n'
    )
    assert "level" not in ported(tmp_path, text)
