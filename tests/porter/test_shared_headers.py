"""Headers that assembler files include too: the guest API, which is C, is hidden from those."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import port_files

ADDED = b"#include <fvm/guest.h>\n"
LOCK = b'static inline void lock(void) { __asm volatile("cpsid i"); }\n'
MACRO = b'#define LOCK() __asm volatile("cpsid i")\n'
SIZE = b"#define SIZE 128\n"
USER = b'#include "config.h"\nvoid f(void) { lock(); }\n'
ASSEMBLER = b'#include "config.h"\n.text\nmov r0, #SIZE\n'


def ported(folder: Path, header: bytes, assembler: bytes = ASSEMBLER) -> bytes:
    files = {"config.h": header, "more.h": b'#include "config.h"\n', "main.c": USER}
    result = port_files(folder, files | {"entry.S": assembler})
    return next(port.ported for port in result.files if port.file.name == "config.h")


@pytest.mark.parametrize(
    "condition",
    [
        b"#ifndef __ASSEMBLER__\n",
        b"#if !defined(__ASSEMBLY__)\n",
        b"#if !defined (__IASMARM__) && !defined(HOST)\n",
        b"#ifdef _ASMLANGUAGE\n.equ SIZE_OF, 4\n#else\n",
    ],
)
@pytest.mark.parametrize("own", [b"", b"#include <stdint.h>\n"])
def test_it_goes_where_the_headers_c_is(tmp_path: Path, condition: bytes, own: bytes) -> None:
    before = b"#ifndef CONFIG_H\n#define CONFIG_H\n" + SIZE + condition + own
    found = ported(tmp_path, before + LOCK + b"#endif\n#endif\n")
    assert found.startswith(before + ADDED + b"static inline")


def test_a_condition_in_front_of_the_place_serves_too(tmp_path: Path) -> None:
    before = SIZE + b"#ifndef __ASSEMBLER__\n#include <stdint.h>\n"
    found = ported(tmp_path, before + b"#endif\n" + MACRO)
    assert found.startswith(before + ADDED + b"#endif\n")


@pytest.mark.parametrize("assembler", [ASSEMBLER, b'#include "more.h"\n.text\nmov r0, #SIZE\n'])
def test_it_brings_its_own_condition_where_there_is_none(tmp_path: Path, assembler: bytes) -> None:
    found = ported(tmp_path, SIZE + MACRO, assembler)
    assert b"#ifndef __ASSEMBLER__\n" + ADDED + b"#endif\n" in found


def test_a_header_for_c_alone_gets_the_plain_line(tmp_path: Path) -> None:
    found = ported(tmp_path, SIZE + MACRO, b".text\nnop\n")
    assert found.startswith(ADDED)
    assert b"__ASSEMBLER__" not in found


def test_a_word_of_the_projects_own_says_nothing_of_the_language(tmp_path: Path) -> None:
    own = b"#ifdef HAVE_EXTENDED_ASM\n#define A 1\n#else\nint fallback(void);\n#endif\n"
    files = {
        "features.h": b"#define HAVE_EXTENDED_ASM 1\n",
        "config.h": b'#include "features.h"\n' + own + MACRO,
        "main.c": USER,
    }
    result = port_files(tmp_path, files)
    found = next(port.ported for port in result.files if port.file.name == "config.h")
    assert found.startswith(b'#include "features.h"\n' + ADDED + own)


def test_a_compilers_word_for_assembler_hides_nothing(tmp_path: Path) -> None:
    word = b"#ifndef __ASM\n#define __ASM __asm\n#endif\n"
    found = ported(tmp_path, SIZE + word + MACRO, b".text\nnop\n")
    assert found.startswith(ADDED)


@pytest.mark.parametrize("after", ["", "#include <stdint.h>\n", "#define RATE 9600\n"])
def test_a_default_at_the_head_of_a_file_is_no_include_guard(tmp_path: Path, after: str) -> None:
    head = f"#ifndef CLOCK\n#define CLOCK 8\n#endif\n{after}"
    body = 'static inline void off(void) { __asm volatile ("cpsid i"); }\n'
    files = {"h.h": (head + body).encode(), "m.c": b'#include "h.h"\nint main(void) { off(); }\n'}
    (port,) = [it for it in port_files(tmp_path, files).files if it.edits]
    text = port.ported.decode()
    first = text.index("#include <fvm/guest.h>")
    assert first < text.index("#ifndef CLOCK") or first > text.index("#endif")
