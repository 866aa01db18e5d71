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


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "k.c",
            b"extern volatile unsigned SCB_ICSR;\nvoid yield(void) { SCB_ICSR = 1u << 28; }\n",
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
