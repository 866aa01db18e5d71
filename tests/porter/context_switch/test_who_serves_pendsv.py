"""A fast yield is PendSV's: nothing else goes on in its handler, and no other is the handler."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.project import transcribe_project
from porter.project.linker_symbols import LinkerAlias
from tests.porter.context_switch.cases import SOURCES
from tests.porter.context_switch.test_assembler_file import HANDLER, START
from tests.porter.context_switch.trees import M3, fixture

ASM_HEAD = ".syntax unified\n.thumb\n.global {0}\n.type {0}, %function\n.thumb_func\n{0}:\n"
GOES = "ldr r0, =ticks\n ldr r1, [r0]\n adds r1, #1\n str r1, [r0]\n b PendSV_Handler\n .ltorg\n"
TABLE = "extern int _estack; void Reset_Handler(void) {{ }} void SVC_Handler(void);\n" \
    "void PendSV_Handler(void);\n{}void (*const table[])(void) = {{ (void (*)(void))&_estack, " \
    "Reset_Handler, 0,0,0,0,0,0,0,0,0, SVC_Handler, 0,0, PendSV_Handler, {} }};\n"  # fmt: skip
LEADS = {
    "branch": {"tick.S": ASM_HEAD.format("tick") + GOES},
    "naked": {"tick.c": "__attribute__((naked)) void tick(void) {\n"
              '    __asm volatile("b PendSV_Handler"); }'},
    "call": {"tick.c": "void PendSV_Handler(void); void tick(void) { PendSV_Handler(); }"},
    "macros": {"tick.S": '#include "save.inc"\n.include "tick.inc"\n',
               "save.inc": ".macro save\nmrs r0, psp\nstmdb r0!, {r4-r11, lr}\n.endm\n",
               "tick.inc": ASM_HEAD.format("tick") + "save\nldmia r0!, {r4-r11, lr}\n"
               "msr psp, r0\nbx lr\n"},
    "C macros": {"tick.c": '#include "tick.inc"\n__attribute__((naked)) void tick(void) { GO; }',
                 "tick.inc": '#define GO __asm volatile("ldr r1, =running\\n ldr r1, [r1]\\n '
                 'ldr r0, [r1]\\n ldmia r0!, {r4-r11, lr}\\n msr psp, r0\\n bx lr\\n .ltorg")'},
    "a table": {"table.c": TABLE.format("", "PendSV_Handler")},
    "a table's macro": {"table.c": TABLE.format("#define tick PendSV_Handler\n", "tick")},
    "at run time": {"tick.c": "extern unsigned vectors[]; void PendSV_Handler(void);\n"
                    "void tick(void) { vectors[15] = (unsigned)PendSV_Handler; }"},
}  # fmt: skip


def with_files(folder: Path, text: str, files: dict[str, str]) -> str:
    """What a report says of the first switch handler of a project with more files; those that
    others include aren't among the project's."""
    tree = fixture(folder, text)
    for name, more in files.items():
        (folder / name).write_text(more)
    own = [folder / name for name in files if not name.endswith(".inc")]
    options = replace(tree.options, include_dirs=(folder,), cpu_flags=(*tree.options.cpu_flags,
                      f"-Wa,-I{folder}"))  # fmt: skip
    tree = replace(tree, files=(*tree.files, *own), options=options)
    (found,) = [
        it for it in tree.port() if it.name == "PendSV_Handler" and it.file.stem == "switch"
    ]
    return found.reason


@pytest.mark.parametrize("name", LEADS)
def test_nothing_else_goes_on_in_the_handler(name: str, tmp_path: Path) -> None:
    found = with_files(tmp_path, (SOURCES / "running_task.c").read_text(), LEADS[name])
    told = "a word in table.c has the address of" if "table" in name else "tick() of tick."
    # Who only resumes tasks may do so: frames are as PendSV leaves them.
    says = "fast yield by itself (" if "macros" in name else "no fast yield: "
    assert says + told in found


KNOWS = {
    "a table": {"table.c": TABLE.format("", "Reset_Handler")},
    "compares": {"check.c": "extern unsigned vectors[]; void PendSV_Handler(void);\n"
                 "int check(void) { return vectors[14] == (unsigned)PendSV_Handler; }"},
    "start-up": {"startup.s": ".syntax unified\n.thumb\n.text\nstub:\nb stub\n"
                 ".section .isr_vector, \"a\"\n.word 0, start\n.rept 12\n.word stub\n.endr\n"
                 ".word PendSV_Handler\n.word SysTick_Handler\n"
                 ".weak PendSV_Handler\n.thumb_set PendSV_Handler, stub\n"
                 ".weak SysTick_Handler\n.thumb_set SysTick_Handler, stub\n"},
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWS)
def test_a_table_and_a_check_know_the_handler(name: str, tmp_path: Path) -> None:
    found = with_files(tmp_path, (SOURCES / "running_task.c").read_text(), KNOWS[name])
    assert "fast yield through schedule()" in found


KERNEL = "struct task { unsigned *sp; struct task *next; } *current;\n" \
    "void *next; void os_start(void *first);\n" \
    "void choose(void) { current = current->next; }\n"  # fmt: skip


def test_another_name_of_the_handler_serves_something_else(tmp_path: Path) -> None:
    text = (SOURCES / "running_task.c").read_text()
    told = "no fast yield: tick is another name of PendSV_Handler()"
    tree = fixture(tmp_path, text)
    aliases = [LinkerAlias("tick", "PendSV_Handler")]
    ports = transcribe_project(tree.root, tree.files, tree.options, aliases=aliases)
    assert told in next(port.reason for port in ports if port.role == "switch")
    second = ".global tick\n.thumb_set tick, PendSV_Handler\n"
    tree = fixture(tmp_path / "file", HANDLER + START + second, M3, "switch.S")
    (tree.root / "kernel.c").write_text(KERNEL)
    ports = replace(tree, files=(*tree.files, tree.root / "kernel.c")).port()
    assert told in next(port.reason for port in ports if port.role == "switch")


@pytest.mark.parametrize(
    ("more", "told"),
    [("", "is weak, and board.c has one"), ("__attribute__((weak)) ", "is weak, and "), (None, "")],
    ids=["overridden", "both weak", "alone"],
)
def test_a_weak_handler_may_not_be_the_one(more: str | None, told: str, tmp_path: Path) -> None:
    text = (SOURCES / "running_task.c").read_text()
    text = text.replace(
        "__attribute__((naked)) void Pend", "__attribute__((naked, weak)) void Pend"
    )
    board = {} if more is None else {"board.c": f"{more}void PendSV_Handler(void) {{ }}"}
    found = with_files(tmp_path, text, board)
    assert (f"no fast yield: PendSV_Handler() {told}" if told else "fast yield through") in found
