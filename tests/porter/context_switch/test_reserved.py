"""A register that tasks and handlers of a project share isn't shared between USR and VCT."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.project.compiler_command import parse_command
from tests.porter.context_switch.test_refusals import FRAME, RESUME, TEXT
from tests.porter.context_switch.trees import M3, fixture

QUOTED = " ".join(f'"{line}\\n"' for line in (FRAME + RESUME).splitlines())
SWITCH = TEXT.format(asm=QUOTED)
GLOBAL = 'register struct tcb *current __asm("r9");\n'


@pytest.mark.parametrize(
    "place", ["in the file", "in another", "-ffixed-r9", "-msingle-pic-base", "-mpic-register=r9"]
)
def test_it_is_escalated(place: str, tmp_path: Path) -> None:
    tree = fixture(tmp_path, (GLOBAL if place == "in the file" else "") + SWITCH, M3)
    if place == "in another":
        (tmp_path / "task.h").write_text("struct tcb;\n" + GLOBAL)
        tree = replace(tree, files=(*tree.files, tmp_path / "task.h"))
    if place.startswith("-"):
        words = ["arm-none-eabi-gcc", *M3, place, "-c", "switch.c"]
        command = parse_command(words, tmp_path)
        assert command is not None
        tree = replace(tree, options=command.options)
    (found,) = tree.port()
    assert found.status == "escalated" and "handlers have registers of their own" in found.reason
    assert (place if place.startswith("-") else "current in r9") in found.reason


def test_an_option_that_keeps_no_register_is_no_reason(tmp_path: Path) -> None:
    ports = fixture(tmp_path, SWITCH, (*M3, "-mno-unaligned-access")).port()
    assert {port.status for port in ports} == {"rewritten"}


@pytest.mark.parametrize(
    "text",
    [
        'static int f(void)\n{\n    register int a asm("r9") = 1;\n    return a;\n}\n',
        'register char *stack_ptr asm("sp");\n',
    ],
    ids=["a local", "the stack pointer"],
)
def test_what_is_in_one_function_alone_is_not(text: str, tmp_path: Path) -> None:
    ports = fixture(tmp_path, text + SWITCH, M3).port()
    assert {port.status for port in ports} == {"rewritten"}
