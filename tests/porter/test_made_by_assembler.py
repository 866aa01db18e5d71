"""Instructions that no text has: the assembler puts them together, or takes them in."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.port import port_project
from tests.porter.helpers import escalations

_CPU = ("-mcpu=cortex-m4", "-mthumb")
_HIDDEN = {
    "repeated for each": (r".irp x, cpsid\n \\x i\n.endr", "cpsid i"),
    "letter by letter": (r".irpc x, ie\n wf\\x\n.endr", "wfi"),
    "a macro": (r".macro d a\n cp\\a i\n.endm\n d sid", ".macro d a"),
    "another syntax": (r".altmacro\n.macro d a\ncp&a i\n.endm\nd sid\n.noaltmacro", ".altmacro"),
    "a file": (r".include \"x.mac\"", "cpsid i"),
    "a file of bytes": (r".incbin \"x.bin\"", "cpsid i"),
    "no file": (r".include \"away.mac\"", '.include "away.mac"'),
    "an operand": (r".irp x, msr\n \\x basepri, %0\n.endr", "msr BASEPRI, r0"),
}
_PLAIN = [
    r".rept 16\n nop\n.endr",
    r".irp x, r0, r1\n mov \\x, #0\n.endr",
    r".macro more r\n add \\r, \\r, #1\n.endm\n more r0",
    r".pushsection .rodata\n.incbin \"x.bin\"\n.popsection",
    r"nop @ .irp x, cpsid\n",
]


def _told(folder: Path, text: str) -> list[str]:
    (folder / "x.mac").write_text(" cpsid i\n")
    (folder / "x.bin").write_bytes(b"\x72\xb6")
    (folder / "main.c").write_text(text)
    return [it.partition(": ")[0] for it in escalations(port_project(folder, cpu=_CPU))]


@pytest.mark.parametrize(("text", "what"), _HIDDEN.values(), ids=_HIDDEN)
def test_it_is_told(tmp_path: Path, text: str, what: str) -> None:
    operands = ' :: "r"(7)' if "%0" in text else ""
    c = f'void f(void) {{ __asm volatile ("{text}"{operands}); }}\n'
    assert _told(tmp_path, c) == [what]


@pytest.mark.parametrize("text", _PLAIN)
def test_what_makes_nothing_for_the_kernel_stays(tmp_path: Path, text: str) -> None:
    assert not _told(tmp_path, f'void f(void) {{ __asm volatile ("{text}"); }}\n')


def test_outside_of_functions(tmp_path: Path) -> None:
    assert _told(tmp_path, r'asm (".irp x, wfi\n f: \\x\n bx lr\n.endr");' + "\n") == ["wfi"]


def test_in_a_macro_of_c(tmp_path: Path) -> None:
    text = r'#define TEXT ".irp x, wfi\n \\x\n.endr"' + "\nvoid f(void) { __asm (TEXT); }\n"
    assert _told(tmp_path, text) == ["wfi"]
    body = r'#define SLEEP() __asm (".irp x, wfi\n \\x\n.endr")' + "\nvoid f(void) { SLEEP(); }\n"
    assert _told(tmp_path, body) == ["wfi"]


_HEAD = "    .syntax unified\n    .thumb\n    .text\n    .global f\n"
_IRP = ".irp x, wfi\n \\x\n.endr\n"
_FUNCTION = ".thumb_func\nf: "
_REFUSED = " vadd.f32 s0, s1, s2, s3, s4\n"
_IN_FILES = {
    "in front of the functions": (f"local:\n{_IRP} bx lr\n{_FUNCTION}nop\n bx lr\n", "wfi"),
    "bytes that code runs into": (f'{_FUNCTION}nop\n.incbin "x.bin"\n bx lr\n',
                                  '.incbin "x.bin"'),
    "the assembler refuses it": (f"{_FUNCTION}nop\n{_IRP}{_REFUSED} bx lr\n", ".irp x, wfi"),
    "a label before it": (f"{_FUNCTION}.irp x, fi\n w\\x\n.endr\n{_REFUSED} bx lr\n",
                          ".irp x, fi"),
}  # fmt: skip
_PLAIN_FILES = [
    f"local:\n.rept 2\n nop\n.endr\n bx lr\n{_FUNCTION}nop\n bx lr\n",
    f'{_FUNCTION}ldr r0, =blob\n bx lr\nblob: .incbin "x.bin"\n',
    f".rept 2\n .word 0\n.endr\n{_FUNCTION}{_REFUSED} bx lr\n",
    f".macro h name\n .weak \\name\n\\name:\n.endm\n h g\n{_FUNCTION}{_REFUSED} bx lr\n",
]


def _told_of_file(folder: Path, text: str) -> list[str]:
    (folder / "x.bin").write_bytes(b"\x72\xb6")
    (folder / "f.s").write_text(_HEAD + text)
    return [it.partition(": ")[0] for it in escalations(port_project(folder, cpu=_CPU))]


@pytest.mark.parametrize(("text", "what"), _IN_FILES.values(), ids=_IN_FILES)
def test_in_an_assembler_file(tmp_path: Path, text: str, what: str) -> None:
    assert _told_of_file(tmp_path, text) == [what]


@pytest.mark.parametrize("text", _PLAIN_FILES)
def test_an_assembler_file_that_makes_nothing_for_the_kernel(tmp_path: Path, text: str) -> None:
    assert not _told_of_file(tmp_path, text)


def test_a_function_that_repetition_makes_is_read_as_it_is_made(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("void f(void);\nint main(void) { f(); return 0; }\n")
    (tmp_path / "f.s").write_text(f"{_HEAD}{_FUNCTION}{_IRP} bx lr\n")
    ports = {it.file.name: it for it in port_project(tmp_path, cpu=_CPU).files}
    assert "hyp_vct_wait()" in ports["f_fvm.c"].ported.decode()
