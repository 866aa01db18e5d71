"""What ends as a handler does and is called from main() starts a task, and is no handler."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.porter.context_switch.trees import M3, fixture

START = """\
    .syntax unified
    .thumb
    .text
    .global {name}
    .type {name}, %function
    .thumb_func
{name}:
    ldr r0, =current
    ldr r0, [r0]
    ldr r0, [r0]
    msr psp, r0
    {middle}
    movs r0, #2
    msr control, r0
    bx r1
    .pool
"""
MIDDLES = ["ldr r1, [r0, #36]\n mov lr, r1\n ldr r1, [r0, #40]", "ldr r1, [r0, #24]\n isb"]
HEAD = "struct task { unsigned *sp; }; struct task *current; void go(void); void first(void);\n"


def reason(folder: Path, middle: str, text: str, name: str = "go", file: str = "main.c") -> str:
    tree = fixture(folder, START.format(name=name, middle=middle), M3, "start.S")
    (folder / file).write_text(HEAD + text)
    ports = replace(tree, files=(*tree.files, folder / file)).port()
    (found,) = [it for it in ports if it.name == name]
    return found.reason if found.status == "escalated" else ""


@pytest.mark.parametrize("middle", MIDDLES)
@pytest.mark.parametrize(
    "text",
    [
        "int main(void) { go(); for (;;) { } }",
        "void run(void) { go(); }\nint main(void) { run(); }",
    ],
)
def test_main_comes_there_without_an_exception(middle: str, text: str, tmp_path: Path) -> None:
    found = reason(tmp_path, middle, text + "\n")
    assert "main(), by " in found and "leads here without an exception" in found


@pytest.mark.parametrize("call", ["go();", "if (current) { } else go();"])
def test_cplusplus_comes_there(call: str, tmp_path: Path) -> None:
    text = f'extern "C" void go(void);\nint main() {{ {call} for (;;) {{ }} }}\n'
    assert "main.cpp, C++, leads here" in reason(tmp_path, MIDDLES[0], text, file="main.cpp")


def test_a_handlers_name_is_believed(tmp_path: Path) -> None:
    text = "int main(void) { for (;;) { } }\n"
    assert "leads here" not in reason(tmp_path, MIDDLES[0], text, "SVC_Handler")
