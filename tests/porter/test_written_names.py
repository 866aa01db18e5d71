"""A variable that asm or a macro writes isn't what it began with: a lock would become an unlock."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import port_text

SAVE = 'asm volatile("mrs %0, primask\\n cpsid i" : "=r"(old));'
RESTORE = 'asm volatile("msr primask, %0" :: "r"(old));'
HELD = "virt_int_restore(VIRT_PRIMASK, old);"


def ported(folder: Path, text: str) -> str:
    return port_text(folder, text.encode())[0].decode()


@pytest.mark.parametrize(
    "write",
    [
        SAVE,
        'asm volatile("mrs %[o], primask" : [o] "=r"((old)));',
        'asm volatile("mov %0, #1" : "+r"(old));',
        "asm { mrs old, primask }",
        "SAVE(old);",
        "SET(old);",
        "SET_OLD;",
        "FILL(old);",
    ],
)
def test_a_restored_local_is_what_was_written(tmp_path: Path, write: str) -> None:
    macros = (
        '#define SAVE(x) asm volatile("mrs %0, primask" : "=r"(x))\n'
        "#define SET(x) do { x = 1; } while (0)\n#define SET_OLD SET(old)\n"
        "#define FILL(x) fill(&(x))\n"
    )
    write = write.replace("asm {", "__asm {")
    text = f"{macros}void f(void)\n{{\n    unsigned old = 0;\n\n    {write}\n    {RESTORE}\n}}\n"
    assert HELD in ported(tmp_path, text)


def test_so_is_a_restored_threshold(tmp_path: Path) -> None:
    after = ported(
        tmp_path,
        'void f(void)\n{\n    unsigned old = 0;\n    asm("mrs %0, basepri" : "=r"(old));\n'
        '    asm("msr basepri, %0" :: "r"(0x40));\n    g();\n'
        '    asm("msr basepri, %0" :: "r"(old));\n}\n',
    )
    assert "virt_int_restore(VIRT_BASEPRI, old);" in after


def test_a_static_written_by_asm_in_another_function_is_kept(tmp_path: Path) -> None:
    after = ported(
        tmp_path,
        "static unsigned level = 0;\n"
        'void set(unsigned x) { asm("mov %0, %1" : "=r"(level) : "r"(x)); }\n'
        'void lock(void) { asm("msr basepri, %0" :: "r"(level)); }\n',
    )
    assert "virt_int_restore(VIRT_BASEPRI, level);" in after


def test_a_macro_that_only_reads_leaves_a_constant(tmp_path: Path) -> None:
    after = ported(
        tmp_path,
        "#define SHIFTED(x) ((x) << 4)\n#define IS(x, y) ((x) == (y) && (x) <= 9)\n"
        "void f(void) { unsigned n = 4; g(IS(n, 4)); __set_BASEPRI(SHIFTED(n)); }\n",
    )
    assert "virt_int_mask(VIRT_BASEPRI);" in after
