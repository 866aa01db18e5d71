"""Registers that linker scripts give names are sites wherever the sources use the names."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.project.linker_symbols import linker_symbols
from tests.porter.helpers import escalations, port_files

SCRIPT = b"""\
/* BUS = 0xE000ED00; */
MEMORY { RAM (rwx): ORIGIN = 0x20000000, LENGTH = 64K }
_estack = ORIGIN(RAM) + LENGTH(RAM); SCS = 0xE000E000;
PROVIDE(SCB_ICSR = (SCS + 0xD04));
PROVIDE_HIDDEN ( SYST_CVR = 0xE000E018 ) ;
heap_size = 2K;
SECTIONS { .text : { begin = .; *(.text*) } }
"""


def test_constants_of_a_script_are_known(tmp_path: Path) -> None:
    (tmp_path / "chip.ld").write_bytes(SCRIPT)
    found = {it.name: (it.value, it.line) for it in linker_symbols([tmp_path / "chip.ld"])}
    assert found == {
        "SCS": (0xE000E000, 3),
        "SCB_ICSR": (0xE000ED04, 4),
        "SYST_CVR": (0xE000E018, 5),
        "heap_size": (2048, 6),
    }


def test_what_is_left_to_a_person_stays(tmp_path: Path) -> None:
    files = {
        "chip.ld": SCRIPT.replace(b"SCS = 0xE000E000;", b"RCC = 0x40021000; SCS = 0xE000E000;"),
        "rcc.h": b"struct R { volatile unsigned CR, CFGR; };\nextern volatile struct R RCC;\n",
        "main.c": b'#include "rcc.h"\nint main(void)\n{\n    RCC.CR |= 1;\n    RCC.CFGR |= 2;\n'
        b"    for (;;) { }\n}\n",
    }
    result = port_files(tmp_path, files, None)
    assert len(escalations(result)) == 2
    assert not any(port.edits for port in result.files)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "k.c",
            b"extern volatile unsigned SCB_ICSR;\nvoid yield(void) { SCB_ICSR = 1u << 28; }\n",
        ),
        (
            "k.c",
            b"extern volatile unsigned SCB_ICSR;\n#define PEND(bit) (SCB_ICSR = 1u << (bit))\n"
            b"void yield(void) { PEND(28); }\n",
        ),
        (
            "k.c",
            b"extern volatile unsigned SCB_ICSR;\n#define ICSR SCB_ICSR\n"
            b"void yield(void) { ICSR = 1u << 28; }\n",
        ),
        ("k.c", b'void yield(void) { asm("ldr r0, =SCB_ICSR\\n str r0, [r0]" ::: "r0"); }\n'),
        ("k.S", b" .extern SCB_ICSR\n .global yield\nyield:\n ldr r0, =SCB_ICSR\n bx lr\n"),
    ],
)
def test_a_register_that_a_script_names_is_a_site(tmp_path: Path, name: str, text: bytes) -> None:
    result = port_files(tmp_path, {"chip.ld": SCRIPT, name: text}, None)
    (found,) = escalations(result)
    assert found.startswith("SCB_ICSR: ") and "SCB->ICSR" in found
    assert "chip.ld:4" in found and "macro" in found


def test_other_names_of_a_script_are_memory(tmp_path: Path) -> None:
    text = b"extern char heap_size, _estack; char *const end = &_estack + (unsigned)&heap_size;\n"
    assert not escalations(port_files(tmp_path, {"chip.ld": SCRIPT, "k.c": text}, None))


MACRO = b"#define SCB_ICSR (*(volatile unsigned *)0xE000ED04)\n"
YIELD = b"void yield(void) { SCB_ICSR = 1u << 28; }\n"


def test_a_macros_parameter_of_that_name_is_its_own(tmp_path: Path) -> None:
    text = b"#define SET(SCB_ICSR) ((SCB_ICSR) |= 1)\nvoid f(unsigned a) { SET(a); }\n"
    assert not escalations(port_files(tmp_path, {"chip.ld": SCRIPT, "k.c": text}, None))


def test_a_macro_outranks_a_symbol_that_was_left_over(tmp_path: Path) -> None:
    """Its use is judged by what it stands for, and no linker sees the name."""
    files = {"chip.ld": SCRIPT, "regs.h": MACRO, "k.c": b'#include "regs.h"\n' + YIELD}
    result = port_files(tmp_path, files, None)
    assert escalations(result) == []
    assert b"{ virt_yield(); }" in next(p for p in result.files if p.file.name == "k.c").ported


@pytest.mark.parametrize(
    "files",
    [
        {"regs.h": MACRO, "k.c": b"extern volatile unsigned SCB_ICSR;\n" + YIELD},
        {"regs.h": MACRO, "k.h": b"extern unsigned a, SCB_ICSR;\n", "k.c": YIELD},
        {"k.c": MACRO + b'void yield(void) { asm("ldr r0, =SCB_ICSR" ::: "r0"); }\n'},
        {"regs.h": MACRO, "k.S": b" .global yield\nyield:\n ldr r0, =SCB_ICSR\n bx lr\n"},
    ],
)
def test_a_symbol_that_is_declared_or_in_assembler_is_the_linkers(
    tmp_path: Path, files: dict[str, bytes]
) -> None:
    found = escalations(port_files(tmp_path, {"chip.ld": SCRIPT, **files}, None))
    assert any(reason.startswith("SCB_ICSR: the linker script") for reason in found)


def test_an_assembler_file_may_name_the_register_itself(tmp_path: Path) -> None:
    text = b" .equ SCB_ICSR, 0xE000ED04\n .global yield\nyield:\n ldr r0, =SCB_ICSR\n bx lr\n"
    found = escalations(port_files(tmp_path, {"chip.ld": SCRIPT, "k.S": text}, None))
    assert not any("linker script" in reason for reason in found)


def test_another_programs_script_says_nothing(tmp_path: Path) -> None:
    text = b"extern volatile unsigned SCB_ICSR;\nvoid yield(void) { SCB_ICSR = 1u << 28; }\n"
    own = b"MEMORY { RAM (rwx): ORIGIN = 0x20000000, LENGTH = 8K }\n"
    files = {"one/ld/chip.ld": SCRIPT, "one/src/a.c": text, "two/chip.ld": own, "two/b.c": text}
    files["parts.ld"] = b"SYST_CSR = 0xE000E010;\n"
    files["two/c.c"] = b"extern volatile unsigned SYST_CSR;\nint f(void) { return SYST_CSR; }\n"
    result = port_files(tmp_path, files)
    found = {it.file.name: [v.rule for v in it.verdicts] for it in result.files}
    assert found["one/src/a.c"] == ["linker-symbol"] and found["two/c.c"] == ["linker-symbol"]
    assert "two/b.c" not in found
