"""Registers that a handler reaches by what variables of other files hold."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.project import transcribe_project
from porter.context_switch.result import SwitchPort
from porter.project.linker_symbols import LinkerSymbol
from porter.project.section_addresses import placed_sections
from tests.porter.context_switch.test_refusals import FRAME, RESUME
from tests.porter.context_switch.trees import M3, fixture

HANDLER = """\
    .syntax unified
    .thumb
    .text
    .global PendSV_Handler
    .type PendSV_Handler, %function
PendSV_Handler:
"""
KERNEL = "#include <stdint.h>\nuint32_t *task;\n"
REGISTERS = {
    "pointer": (
        "ldr r3, =mpu\nldr r3, [r3]\nstr r0, [r3]\n",
        "k.c",
        KERNEL + "uint32_t *const mpu = (uint32_t *)0xE000ED94;\n",
    ),
    "number": (
        "ldr r3, =mpu\nldr r3, [r3]\nstr r0, [r3]\n",
        "k.c",
        KERNEL + "const uintptr_t mpu = 0xE000ED94;\n",
    ),
    "block": (
        "ldr r3, =mpu\nldr r3, [r3]\nsubs r3, #4\nstmia r3!, {r0, r2}\n",
        "k.c",
        KERNEL + "uint32_t *mpu = (uint32_t *)0xE000ED98;\n",
    ),
    "field behind a pointer": (
        "ldr r3, =mpu\nldr r3, [r3]\nldr r3, [r3, #4]\nstr r0, [r3]\n",
        "k.c",
        KERNEL + "struct regs { uint32_t used, *control; };\n"
        "static const struct regs all = { 1, (uint32_t *)0xE000ED94 };\n"
        "const struct regs *const mpu = &all;\n",
    ),
    "assembler's word": (
        "ldr r3, =mpu\nldmia r3, {r3}\nstr r0, [r3]\n",
        "k.S",
        "    .section .rodata\n    .global mpu\nmpu:\n    .word 0xE000ED94\n",
    ),
    "assembler's number": (
        "ldr r3, =mpu\nstr r0, [r3]\n",
        "k.S",
        "    .global mpu\n    .equ mpu, 0xE000ED94\n",
    ),
    "assigned later": (
        "ldr r3, =mpu\nldr r3, [r3]\nstr r0, [r3]\n",
        "k.c",
        KERNEL + "volatile uint32_t *mpu;\n"
        "void init(void) { mpu = (volatile uint32_t *)0xE000ED94; }\n",
    ),
    "file that doesn't compile": (
        "ldr r3, =mpu\nldr r3, [r3]\nstr r0, [r3]\n",
        "k.c",
        '#include "missing.h"\nuint32_t *const mpu = (uint32_t *)(0xE000ED94);\n',
    ),
}


def handler(folder: Path, body: str, name: str, text: str) -> SwitchPort:
    tree = fixture(folder, HANDLER + FRAME + body + RESUME, M3, "switch.S")
    (folder / name).write_text(text)
    tree = replace(tree, files=(*tree.files, folder / name))
    (found,) = [port for port in tree.port() if port.name == "PendSV_Handler"]
    return found


@pytest.mark.parametrize("name", REGISTERS)
def test_a_register_behind_a_variable_is_none_of_a_handlers(name: str, tmp_path: Path) -> None:
    found = handler(tmp_path, *REGISTERS[name])
    assert found.status == "escalated"
    assert re.search(r"MPU->\* at 0xe000ed94 through (mpu|all), which", found.reason)


CMSIS = (
    "#include <stdint.h>\n"
    "typedef struct { uint32_t TYPE, CTRL, RNR; } MPU_Type;\n"
    "#define MPU_BASE (0xE000E000UL + 0x0D90UL)\n#define MPU ((volatile MPU_Type *)MPU_BASE)\n"
    "uint32_t *task; static uint32_t memory[4];\n"
)
AT_RUN_TIME = {
    "macros": "volatile uint32_t *mpu;\nvoid init(void) { mpu = &MPU->CTRL; }\n",
    "a parameter": "static volatile uint32_t *mpu;\n"
    "static void set(volatile uint32_t *place) { mpu = place; }\n"
    "void init(void) { set(&MPU->CTRL); }\n",
    "a parameter that not every call has": "volatile uint32_t *mpu;\n"
    "void init(void) { set(); set(1, /* and */ &MPU->CTRL); }\n"
    "void set(int n, volatile uint32_t *place) { mpu = place; }\n",
    "a local variable": "uint32_t mpu;\n"
    "void init(void) { volatile MPU_Type *it = MPU; it = it; mpu = (uint32_t)&it[0].CTRL; }\n",
    "a condition": "volatile void *mpu;\n"
    "void init(int is_real) { mpu = is_real ? (void *)&MPU->CTRL : memory; }\n",
    "a result": "volatile uint32_t *mpu;\n"
    "static volatile uint32_t *place(void) { return &MPU->CTRL; }\n"
    "void init(void) { mpu = place(); }\n",
    "a member of another": "struct { int n; volatile uint32_t *control; } chip;\n"
    "volatile uint32_t *mpu;\n"
    "void found(void) { chip.control = &MPU->CTRL; }\nvoid init(void) { mpu = chip.control; }\n",
    "an enumerator": "enum { PLACE = 0x4002000 * 16 + 4 };\nvolatile uint32_t *mpu;\n"
    "void init(int n) { mpu = (volatile uint32_t *)PLACE + n; }\n",
}


@pytest.mark.parametrize("name", AT_RUN_TIME)
def test_a_register_that_a_variable_is_set_to_later(name: str, tmp_path: Path) -> None:
    body = "ldr r3, =mpu\nldr r3, [r3]\nstr r0, [r3]\n"
    found = handler(tmp_path, body, "k.c", CMSIS + AT_RUN_TIME[name])
    assert found.status == "escalated"
    assert "accesses" in found.reason and "through mpu, which" in found.reason


def test_the_member_that_is_set_to_a_register_counts(tmp_path: Path) -> None:
    text = (
        CMSIS + "struct { uint32_t *words; volatile uint32_t *control[2]; } chip;\n"
        "void init(void) { chip.words = memory; chip.control[1] = &MPU->CTRL; }\n"
    )
    for offset, status in ((0, "rewritten"), (4, "rewritten"), (8, "escalated")):
        (folder := tmp_path / str(offset)).mkdir()
        body = f"ldr r3, =chip\nldr r3, [r3, #{offset}]\nstr r0, [r3]\n"
        found = handler(folder, body, "k.c", text)
        assert found.status == status, (offset, found.reason)


def test_what_variables_hold_otherwise_is_memory(tmp_path: Path) -> None:
    text = KERNEL + "uint32_t words[4] = {0xE000ED94, 0xFFFFFFFD}, *mpu = words;\n"
    body = "ldr r3, =mpu\nldr r3, [r3]\nldr r12, [r3, #4]\nstr r12, [r3]\n"
    assert handler(tmp_path, body, "k.c", text).status == "rewritten"


def test_a_device_at_a_number_is_named(tmp_path: Path) -> None:
    found = handler(tmp_path, "ldr r3, =0x40020014\nstr r0, [r3]\n", "k.c", KERNEL)
    assert "'str r0, [r3]' accesses the register at 0x40020014" in found.reason


def test_a_linker_scripts_number_is_an_address(tmp_path: Path) -> None:
    tree = fixture(tmp_path, HANDLER + FRAME + "ldr r3, =icsr\nstr r0, [r3]\n" + RESUME, M3, "s.S")
    linked = [LinkerSymbol("icsr", 0xE000ED04, tmp_path / "chip.ld", 3)]
    found = transcribe_project(tree.root, tree.files, tree.options, linked=linked)
    assert "SCB->ICSR at 0xe000ed04 through icsr" in found[0].reason


OTHER_PORTS = {
    "GNU": 'void start(void)\n{ __asm volatile("ldr r2, =task\\n ldr r3, =0xE000ED94"); }\n',
    "Arm": "__asm void start(void)\n{\n    ldr r2, =task\n    ldr r3, =0xE000ED94\n}\n",
}


@pytest.mark.parametrize("text", OTHER_PORTS.values(), ids=OTHER_PORTS)
def test_another_ports_assembler_sets_no_variable(text: str, tmp_path: Path) -> None:
    """A tree may have ports beside the one that is built, which nobody can compile here."""
    (tmp_path / "other.c").write_text('#include "missing.h"\n' + text)
    tree = fixture(tmp_path, HANDLER + FRAME + RESUME, M3, "switch.S")
    (tmp_path / "k.c").write_text(KERNEL + "void choose(void) { }\n")
    files = [*tree.files, tmp_path / "k.c", tmp_path / "other.c"]
    ports = {it.name: it for it in transcribe_project(tree.root, files, tree.options)}
    assert ports["PendSV_Handler"].status == "rewritten", ports["PendSV_Handler"].reason


@pytest.mark.parametrize("first", ["#include <stdint.h>", '#include "missing.h"'])
def test_an_assembler_function_of_armcc_sets_no_variable(first: str, tmp_path: Path) -> None:
    """Read as C, `ldr r3, =task` and `ldr r0, =0xE000ED94` would be one assignment."""
    body = "extern task\nldr r3, =task\nldr r2, [r3]\nldmia r2!, {r4-r6}\nldr r0, =0xE000ED94\n"
    tree = fixture(tmp_path, HANDLER + FRAME + RESUME, M3, "switch.S")
    (tmp_path / "off.c").write_text(f"{first}\n__asm void off(void)\n{{\n{body}bx lr\n}}\n")
    tree = replace(tree, files=(*tree.files, tmp_path / "off.c"))
    (found,) = [port for port in tree.port() if port.name == "PendSV_Handler"]
    assert found.status == "rewritten", found.reason


USES_DEV = HANDLER + FRAME + "ldr r3, =dev\nstr r0, [r3]\n" + RESUME
PUT = '__attribute__((section("{}"))) unsigned dev;\n'
SCRIPT = (
    "MEMORY {{ FLASH (rx) : ORIGIN = 0x08000000, LENGTH = 512K\n"
    "  RAM (rw) : ORIGIN = 0x20000000, LENGTH = 64K\n"
    "  CHIP : ORIGIN = 0x40004400, LENGTH = 4K }}\n"
    "SECTIONS {{\n  .text : {{ *(.text*) }} > FLASH\n  .data : {{ *(.data*) }} > RAM AT> FLASH\n"
    "  {}\n}}\n"
)
# C that defines the name, and a line of a linker script.
PLACED = {
    "assembler at file scope": ('__asm(".global dev\\n.set dev, 0x40004404");\n', ""),
    "a section at an address": (PUT.format(".uart"), ".uart 0x40004400 (NOLOAD) : { *(.uart) }"),
    "a section in a region": (PUT.format(".uart"), ".uart (NOLOAD) : { *(.uart*) } > CHIP"),
    "an address in a name": (PUT.format(".ARM.__at_0x40004400"), ""),
}
IN_MEMORY = {
    "assembler at file scope": ('__asm(".global dev\\n.set dev, 0x20004404");\n', ""),
    "a section at an address": (PUT.format(".fast"), ".fast 0x10004400 (NOLOAD) : { *(.fast) }"),
    "a section in a region": (PUT.format(".fast"), ".fast : { *(.fast) } > RAM"),
    "an address in a name": (PUT.format(".ARM.__at_0x20004400"), ""),
    "another section": (PUT.format(".fast"), ".uart 0x40004400 (NOLOAD) : { *(.uart) }"),
}


def placed(folder: Path, c: str, line: str) -> SwitchPort:
    tree = fixture(folder, USES_DEV, M3, "s.S")
    (folder / "dev.c").write_text(KERNEL + c)
    (folder / "chip.ld").write_text(SCRIPT.format(line))
    ports = transcribe_project(
        tree.root,
        (*tree.files, folder / "dev.c"),
        tree.options,
        placed=placed_sections([folder / "chip.ld"]),
    )
    (found,) = (port for port in ports if port.name == "PendSV_Handler")
    return found


@pytest.mark.parametrize("name", PLACED)
def test_what_lies_among_devices_is_one_whatever_its_name(name: str, tmp_path: Path) -> None:
    found = placed(tmp_path, *PLACED[name])
    assert "accesses the register at 0x4000440" in found.reason
    assert "through dev" in found.reason


@pytest.mark.parametrize("name", IN_MEMORY)
def test_what_lies_in_memory_is_none(name: str, tmp_path: Path) -> None:
    found = placed(tmp_path, *IN_MEMORY[name])
    assert found.status == "rewritten", found.reason
