"""A variable with two names is one for the machine and two for a compiler."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.assemble import assembled
from porter.context_switch.c_flow import CUnits
from porter.context_switch.initial_data import InitialData
from porter.context_switch.ir import Assign, Symbol
from porter.context_switch.project import transcribe_project
from porter.context_switch.result import NotTranscribable
from porter.context_switch.two_names import refuse_two_names
from porter.project.linker_symbols import linker_aliases
from tests.porter.context_switch.trees import M4F, Tree, fixture

SWITCH = """\
.syntax unified
.thumb
.global PendSV_Handler
.type PendSV_Handler, %function
PendSV_Handler:
mrs r0, psp
stmdb r0!, {r4-r11, lr}
ldr r4, =cur
ldr r2, [r4]
str r0, [r2]
ldr r2, [r4]
ldr r0, [r2]
ldmia r0!, {r4-r11, lr}
msr psp, r0
bx lr
"""
KERNEL = "struct kernel { unsigned ticks; void *cur, *next; } kernel;\n"
FURTHER = "void choose(void) { kernel.cur = kernel.next; }\n"
TWO = {
    "set": KERNEL + '__asm__(".global cur\\n.set cur, kernel + 4");\n' + FURTHER,
    "alias": 'void *kernel;\nextern void *cur __attribute__((alias("kernel")));\n',
    "static": "static " + KERNEL + '__asm__(".global cur\\n.set cur, kernel");\n' + FURTHER,
}
ONE = {
    "neighbours": "void *kernel[2], *cur, *next;\n",
    "not in C": KERNEL.replace("kernel;", "other;") + "void *cur;\n",
    "end of a stack": 'extern char top[];\nchar *end = top;\nvoid *cur;\n__asm__(".data\\n.global '
    'top\\\n.skip 64\\ntop: .word 1\\n.text");\n',
}


def tree_of(folder: Path, text: str) -> Tree:
    tree = fixture(folder, SWITCH, M4F, "switch.S")
    (folder / "kernel.c").write_text(text + "extern void *cur;\n")
    return replace(tree, files=(*tree.files, folder / "kernel.c"))


@pytest.mark.parametrize("text", TWO.values(), ids=TWO)
def test_two_names_for_one_word(text: str, tmp_path: Path) -> None:
    (port,) = tree_of(tmp_path, text).port()
    assert port.status == "escalated"
    assert "cur and kernel are names for the same memory" in port.reason


SCRIPTS = {
    "offset": ("cur = kernel + 4;", True),
    "provided": ("SECTIONS { .bss : { *(.bss) PROVIDE(cur = ABSOLUTE(kernel) + 4); } }", True),
    "neighbour": ("PROVIDE(first = kernel);\ncur = first + 4;", True),
    "another's": ("next = kernel + 8; cur = . ;", False),
    "layout": ("cur = ORIGIN(kernel) + LENGTH(kernel); next = DEFINED(cur) ? 1 : kernel;", False),
    "no variable": ("cur = top - size; kernel_top = top;", False),
}


@pytest.mark.parametrize(("script", "found"), SCRIPTS.values(), ids=SCRIPTS)
def test_a_linker_script_may_give_the_second_name(script: str, found: bool, tmp_path: Path) -> None:
    tree = tree_of(tmp_path, KERNEL + FURTHER)
    (tmp_path / "chip.ld").write_text(script)
    aliases = linker_aliases([tmp_path / "chip.ld"])
    ports = transcribe_project(tree.root, tree.files, tree.options, aliases=aliases)
    told = "cur and kernel are names for the same memory"
    assert any(told in port.reason for port in ports) is found


@pytest.mark.parametrize("text", ONE.values(), ids=ONE)
def test_one_name(text: str, tmp_path: Path) -> None:
    tree = tree_of(tmp_path, text)
    initial = InitialData(tree.files, lambda file: assembled(file, tree.options), Path.read_bytes)
    refuse_two_names((Assign((), "r4", Symbol("cur")),), initial, CUnits(tree.files, tree.options))


def test_a_label_without_size_counts_where_the_handler_uses_both(tmp_path: Path) -> None:
    text = ".data\n.global cur\n.global first\n.size cur, 4\ncur:\nfirst: .word 0\n"
    tree = fixture(tmp_path, text, M4F, "data.S")
    (tmp_path / "kernel.c").write_text("extern void *cur, *first;\nvoid *f(void) { return first; }")
    files = (*tree.files, tmp_path / "kernel.c")
    initial, units = (
        InitialData(files, lambda file: assembled(file, tree.options), Path.read_bytes),
        CUnits(files, tree.options),
    )
    cur, first = (Assign((), "r4", Symbol(name)) for name in ("cur", "first"))
    refuse_two_names((cur,), initial, units)
    with pytest.raises(NotTranscribable, match="cur and first"):
        refuse_two_names((cur, first), initial, units)
