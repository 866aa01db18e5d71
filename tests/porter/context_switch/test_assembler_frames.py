"""Assembler that may follow a saved stack pointer takes the fast yield away; other doesn't."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.assemble import assemble, preprocess
from porter.context_switch.assembler_frames import AssemblerFrames
from porter.context_switch.c_flow import CUnits
from porter.context_switch.handler import transcribe
from porter.context_switch.names import Names
from porter.context_switch.pick import Pick
from porter.context_switch.project_data import ProjectData
from tests.porter.context_switch.cases import SOURCES
from tests.porter.context_switch.trees import M3, fixture

HEAD = """\
    .syntax unified
    .thumb
    .text
    .global f
    .type f, %function
f:
"""
FOLLOWS = {
    "an argument": "ldr r0, [r0]; str r1, [r0, #36]; bx lr",
    "a list": "ldr r2, =ready; ldr r2, [r2]; ldr r2, [r2]; str r0, [r2, #36]; bx lr",
    "a list in halves": "movw r2, #:lower16:ready; movt r2, #:upper16:ready; ldr r2, [r2]\n"
    "ldr r2, [r2]; str r0, [r2, #36]; bx lr",
    "through others": "ldr r3, [r0]; mov r12, r3; push {r12}; pop {r2}; add r2, #36\n"
    "str r1, [r2]; bx lr",
    "a slot": "sub sp, #8; ldr r3, [r0]; str r3, [sp, #4]; ldr r2, [sp, #4]; str r1, [r2, #36]\n"
    "add sp, #8; bx lr",
    "on the stack": "ldr r3, [sp]; ldr r3, [r3]; str r1, [r3, #36]; bx lr",
    "a block of words": "ldm r0, {r2, r3}; str r1, [r2, #36]; bx lr",
    "two words": "ldrd r2, r3, [r0]; str r1, [r2, #36]; bx lr",
    "an index": "ldr r3, [r0]; movs r2, #36; str r1, [r2, r3]; bx lr",
    "on one way": "cbz r1, 1f; ldr r0, [r0]; 1: str r1, [r0, #36]; bx lr",
    "on a condition": "cmp r1, #0; it ne; ldrne r0, [r0]; str r1, [r0, #36]; bx lr",
    "the next round": "movs r3, #4; 1: str r1, [r0]; ldr r0, [r0, #8]; subs r3, #1; bne 1b; bx lr",
    "another's result": "push {r4, lr}; mov r4, r0; bl current; ldr r0, [r0]; str r4, [r0, #36]\n"
    "pop {r4, pc}",
    "another's function": "push {r3, lr}; ldr r0, [r0]; bl inner; pop {r3, pc}",
    "a tail": "ldr r0, [r0]; b inner",
    "a label's": "push {r3, lr}; ldr r0, [r0]; bl 1f; pop {r3, pc}; 1: str r1, [r0, #36]; bx lr",
    "what another fetched": "push {r3, lr}; bl fetch; str r1, [r0, #36]; pop {r3, pc}",
    "C": "push {r3, lr}; ldr r0, [r0]; bl put; pop {r3, pc}",
    "a library's": "push {r3, lr}; ldr r1, [r0]; ldr r0, =ready; bl memcpy; pop {r3, pc}",
    "a block": "ldr r2, =idle; ldr r2, [r2]; str r0, [r2, #36]; bx lr",
    "an array of blocks": "ldr r2, =tasks; ldr r2, [r2, #24]; str r0, [r2, #36]; bx lr",
    "what C keeps": "ldr r2, =kept; ldr r2, [r2]; str r0, [r2, #36]; bx lr",
    "with PSP": "mrs r0, psp; mrs r2, msp; ldr r2, =ready; ldr r2, [r2]; ldr r2, [r2]\n"
    "str r0, [r2, #36]; bx lr",
}
KEEPS = {
    "a store": "str r1, [r0, #36]; bx lr",
    "a variable": "ldr r2, =ready; ldr r2, [r2]; ldr r3, [r2, #4]; adds r3, #1; str r3, [r2, #4]\n"
    "bx lr",
    "memcpy": "push {r4-r8}; 1: subs r2, #16; ittt hs; ldmhs r1!, {r4-r7}; stmhs r0!, {r4-r7}\n"
    "bhs 1b; 2: adds r2, #4; ldr r3, [r1], #4; str r3, [r0], #4; bne 2b; pop {r4-r8}; bx lr",
    "strlen": "mov r1, r0; 1: ldrb r2, [r0], #1; cmp r2, #0; bne 1b; subs r0, r0, r1; bx lr",
    "strlen by words": "mov r1, r0; 1: ldr r2, [r0], #4; clz r3, r2; uxtb r2, r2; cmp r2, #0\n"
    "bne 1b; subs r0, r0, r1; bx lr",
    "a checksum": "movs r3, #0; 1: ldr r2, [r0], #4; eor r3, r2; uxtb r12, r3\n"
    "ldr r2, =table; ldr r2, [r2, r12, lsl #2]; eor r3, r2; subs r1, #1; bne 1b; mov r0, r3; bx lr",
    "start-up": "ldr r0, =_sdata; ldr r1, =_edata; ldr r2, =_sidata; movs r3, #0; b 2f\n"
    "1: ldr r4, [r2, r3]; str r4, [r0, r3]; adds r3, #4; 2: adds r4, r0, r3; cmp r4, r1; bcc 1b\n"
    "ldr r2, =_sbss; ldr r4, =_ebss; movs r3, #0; b 4f; 3: str r3, [r2]; adds r2, #4\n"
    "4: cmp r2, r4; bcc 3b; bl SystemInit; bl __libc_init_array; bl main; bx lr",
    "a copy table": "ldr r4, =__copy_table_start__; ldr r5, =__copy_table_end__; 1: cmp r4, r5\n"
    "bge 3f; ldm r4!, {r1-r3}; 2: subs r3, #4; ittt ge; ldrge r0, [r1, r3]; strge r0, [r2, r3]\n"
    "bge 2b; b 1b; 3: bx lr",
    "constructors": "ldr r4, =__init_array_start; ldr r5, =__init_array_end; 1: cmp r4, r5\n"
    "bge 2f; ldr r3, [r4], #4; blx r3; b 1b; 2: bx lr",
    "the boot loader's jump": "ldr r0, =0xE000ED08; ldr r0, [r0]; ldr r0, [r0]; bx lr",
    "a mask": "mrs r0, primask; cpsid i; bx lr",
    "a lock": "1: ldrex r1, [r0]; cmp r1, #0; bne 1b; movs r1, #1; strex r2, r1, [r0]; bx lr",
    "a register": "ldr r0, =0x40020000; ldr r1, [r0]; orr r1, #1; str r1, [r0]; bx lr",
    "saves": "push {r4, lr}; mov r4, r0; ldr r1, [r4]; bl nothing; str r0, [r4]; pop {r4, pc}",
}
INNER = """
    .ltorg
    .type inner, %function
inner: str r1, [r0, #36]; bx lr
    .type fetch, %function
fetch: ldr r0, [r0]; bx lr
"""
C = """
struct task *ready, idle, tasks[3];
uint32_t *kept;
void put(uint32_t *at, uint32_t v) { at[9] = v; }
void nothing(void) { }
void keep(struct task *t) { kept = t->sp; }
"""
TASK = "void f(struct task *t, uint32_t v, int n) {{ __asm volatile({}); }}\n"
STATEMENTS = {
    "a number": ('"ldr r3, [%0]\\n str %1, [r3, #36]" :: "r"(t), "r"(v) : "r3", "memory"', True),
    "a name": ('"ldr r3, [%[t], #0]\\n str r3, [r3, %[n]]" :: [t] "r"(t), [n] "i"(36)', True),
    "a result": ('"ldr %0, [%0]\\n str %1, [%0, #36]" : "+r"(t) : "r"(v)', True),
    "a variable": ('"ldr r3, =ready\\n ldr r3, [r3]; ldr r3, [r3]; str %0, [r3]" :: "r"(v)', True),
    "in memory": ('"ldr r3, %0\\n ldr r3, [r3]\\n str %1, [r3]" :: "m"(t), "r"(v) : "r3"', True),
    "calls": ('"ldr r0, [%0]\\n mov r1, %1\\n bl put" :: "r"(t), "r"(v) : "r0", "r1"', True),
    "not to be read": ('"push {r0-r12}\\n ldr r3, [%0]\\n ldm r3, {r0-r12}" :: "r"(t)', True),
    "its words": ('"ldr r3, [%0, #4]\\n str r3, [%0, #8]" :: "r"(t) : "r3"', False),
    "a word in memory": ('"ldr r3, %0\\n str %1, [r3, #4]" :: "m"(t), "r"(v) : "r3"', False),
    "copies": ('"ldm %0!, {r3, r4}\\n stm %1!, {r3, r4}" : "+r"(t), "+r"(v) :: "r3", "r4"', False),
    "a lock": ('"ldrex %0, [%1]\\n strex %0, %2, [%1]" : "=&r"(n) : "r"(t), "r"(v)', False),
}  # fmt: skip


def look(folder: Path, c: str = "", assembler: str = "") -> str:
    """What is said of a project with this C and assembler beside a switch handler."""
    text = (SOURCES / "running_task.c").read_text().replace("   tst lr, #0x10", "   nop")
    text = "\n".join(line for line in text.split("\n") if "it eq" not in line and "s16" not in line)
    tree = fixture(folder, f"{text}{c}", M3)
    if assembler:
        (folder / "more.S").write_text(assembler)
        tree = replace(tree, files=(*tree.files, folder / "more.S"))
    source = tree.files[0]
    assembly = assemble(source, tree.options)
    project = ProjectData(tree.files, tree.options, CUnits(tree.files, tree.options))
    names = Names(preprocess(source, tree.options), "", lambda expression: None, project)
    (function,) = (it for it in assembly.object.functions if it.name == "PendSV_Handler")
    pick = transcribe(assembly, function, "switch", names).pick
    assert isinstance(pick, Pick)
    return AssemblerFrames(pick, project.resumers, project.units).look()


@pytest.mark.parametrize("name", FOLLOWS)
def test_whatever_follows_a_pointer_that_it_fetched_may_look(name: str, tmp_path: Path) -> None:
    found = look(tmp_path, C, f"{HEAD}{FOLLOWS[name]}\n{INNER}")
    assert found.startswith("f() of more.S is assembler and finds tasks by ")
    assert found.endswith("': does it look into frames?")


@pytest.mark.parametrize("name", KEEPS)
def test_ordinary_assembler_looks_into_nothing(name: str, tmp_path: Path) -> None:
    assert look(tmp_path, C, f"{HEAD}{KEEPS[name]}\n    .ltorg\n") == ""


def test_the_instruction_and_the_variable_are_told(tmp_path: Path) -> None:
    found = look(
        tmp_path,
        C,
        f"{HEAD}ldr r2, =ready\nldr r2, [r2]\nldr r2, [r2]\nldr r0, [r2, #60]\nbx lr\n",
    )
    assert "finds tasks by ready, 'ldr r0, [r2, #60]'" in found


@pytest.mark.parametrize(("statement", "follows"), STATEMENTS.values(), ids=STATEMENTS)
def test_an_asm_statement_of_c_is_asked_the_same(
    statement: str, follows: bool, tmp_path: Path
) -> None:
    found = look(tmp_path, C + TASK.format(statement))
    assert found.startswith("f() of switch.c has asm ") is follows and bool(found) is follows


def test_asm_outside_of_functions_is_assembler_too(tmp_path: Path) -> None:
    for code, follows in (("ldr r0, [r0]", True), ("mov r0, r1", False)):
        text = "\\n".join([*HEAD.split("\n"), code, "str r1, [r0, #36]", "bx lr"])
        found = look(tmp_path / code[:3], f'{C}__asm("{text}");\n')
        assert found.startswith("switch.c has asm and finds tasks by ") is follows


def test_a_naked_function_of_c_is_asked_once(tmp_path: Path) -> None:
    naked = '__attribute__((naked)) void f(void *t) {{ __asm("{}\\n bx lr"); }}\n'
    found = look(tmp_path / "f", naked.format("ldr r0, [r0]\\n str r1, [r0, #36]"))
    assert found.startswith(
        "f() of switch.c is assembler and finds tasks by what it is given, 'str"
    )
    assert look(tmp_path / "g", naked.format("ldr r1, [r0, #4]\\n str r1, [r0, #8]")) == ""
