"""Who writes PSP and CONTROL otherwise than by calls of CMSIS' functions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from porter.judging.special_writes import CONTROL, PSP, writes
from porter.program.knowledge import Knowledge
from porter.project.build import read_build
from porter.source.source_file import SourceFile

ASM = '__asm volatile("msr control, %0" :: "r"(c));'
WRITES = [
    (CONTROL, "a.c", f"void f(int c) {{ {ASM} }}"),
    (CONTROL, "a.c", 'void f(void) { __asm volatile("\\tMSR\\tCONTROL, r0"); }'),
    (CONTROL, "a.c", 'void f(void) { register unsigned c __asm("control"); c = 3; }'),
    (CONTROL, "a.c", 'void f(void) { __arm_wsr("CONTROL", 3); }'),
    (CONTROL, "a.c", '#define DROP() __asm volatile("msr control, r0")\n'),
    (CONTROL, "a.S", "go:\n    msr control, r0\n    bx lr\n"),
    (CONTROL, "a.S", "go:\n    msrne\tcontrol, r0\n"),
    (PSP, "a.c", "void f(unsigned x) { __set_PSP(x); }"),
    (PSP, "a.c", "#define STACK(x) __set_PSP(x)\n"),
]
OWN = [
    (CONTROL, "a.h", f"static void __set_CONTROL(int c) {{ {ASM} }}"),
    (CONTROL, "a.h", '#define __set_CONTROL(VALUE) (__arm_wsr("CONTROL", (VALUE)))\n'),
    (CONTROL, "a.h", 'int __get_CONTROL(void) { register int c __asm("control"); return c; }'),
    (CONTROL, "a.c", "void f(void) { __set_CONTROL(2); }"),
    (CONTROL, "a.c", 'void f(void) { puts("control"); /* msr control, r0 */ }'),
    (CONTROL, "a.S", "go:\n    mrs r0, control\n    /* msr control, r0 */\n"),
    (PSP, "a.h", "void __set_PSP(unsigned);"),
    (PSP, "a.h", '#define __set_PSP(VALUE) (__arm_wsr("PSP", (VALUE)))\n'),
]  # fmt: skip


def _found(register: re.Pattern[bytes], name: str, text: str, folder: Path) -> list[int]:
    file = folder / name
    file.write_text(text)
    source = SourceFile.read(folder, file)
    knowledge = Knowledge(read_build(folder, [file]), [source], {})
    return list(writes(source, lambda: knowledge.text(source), register))


@pytest.mark.parametrize(("register", "name", "text"), WRITES)
def test_a_write_is_seen(register: re.Pattern[bytes], name: str, text: str, tmp_path: Path) -> None:
    assert len(_found(register, name, text, tmp_path)) == 1


@pytest.mark.parametrize(("register", "name", "text"), OWN)
def test_what_cmsis_has_for_it_is_none(
    register: re.Pattern[bytes], name: str, text: str, tmp_path: Path
) -> None:
    assert not _found(register, name, text, tmp_path)
