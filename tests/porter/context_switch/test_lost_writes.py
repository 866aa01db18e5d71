"""What a port leaves out, a callee may not read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.result import ESCALATED, REWRITTEN
from tests.porter.context_switch.trees import M3, fixture

START = """\
__attribute__((naked)) void start(void)
{
    __asm volatile(
        "movs r0, #0\\n"
        "msr psp, r0\\n"
        "bl hook\\n"
        "ldr r0, =0xE000ED04\\n"
        "ldr r1, =0x10000000\\n"
        "str r1, [r0]\\n"
        "cpsie i\\n"
        "1: b 1b\\n"
        ".ltorg\\n");
}
"""
READS = {
    "in assembler": ("void look(void); void hook(void) { look(); }", "look: mrs r1, psp; bx lr"),
    "by an intrinsic": (
        "unsigned __get_PSP(void); int n; void look(void) { n = __get_PSP() == 0; }\n"
        "void hook(void) { look(); }", "",
    ),
    "in asm": (
        'int n; void look(void) { unsigned p; __asm("mrs %0, psp" : "=r"(p)); n = p == 0; }'
        "\nvoid hook(void) { look(); }", "",
    ),
    "in asm of two strings": (
        'int n; void look(void) { unsigned p; __asm("mrs %0, p" "sp" : "=r"(p)); n = p == 0; }'
        "\nvoid hook(void) { look(); }", "",
    ),
    "in asm outside": (
        '__asm(".global look\\n.type look, %function\\n.thumb_func\\n'
        'look: .inst.w 0xf3ef8009\\n bx lr\\n");\nvoid look(void);\nvoid hook(void) { look(); }',
        "",
    ),
    "through a pointer": (
        "void look(void); void (*call)(void); void begin(void) { call = look; }\n"
        "void hook(void) { call(); }", "look: mrs r1, psp; bx lr",
    ),
}  # fmt: skip


def start_of(folder: Path, c: str, assembler: str) -> tuple[str, str]:
    tree = fixture(folder, f"{START}{c}\n", M3)
    (folder / "look.S").write_text(
        ".syntax unified\n.thumb\n.text\n.global look\n.type look, %function\n"
        f"{assembler.replace(';', chr(10))}\n"
        if assembler
        else "\n"
    )
    found = replace(tree, files=(*tree.files, folder / "look.S")).port()
    (start,) = (it for it in found if it.name == "start" and it.start < it.end)
    return start.status, start.reason


@pytest.mark.parametrize("name", READS)
def test_what_reads_it_is_told(name: str, tmp_path: Path) -> None:
    status, reason = start_of(tmp_path, *READS[name])
    assert status == ESCALATED
    assert "which reads PSP: a guest's function doesn't write it" in reason


def test_what_nobody_reads_is_left_out(tmp_path: Path) -> None:
    c = "void look(void); void other(void) { look(); }\nint n; void hook(void) { n++; }"
    status, reason = start_of(tmp_path, c, "look: mrs r1, psp; bx lr")
    assert status == REWRITTEN, reason
