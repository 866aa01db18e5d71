"""Words that a backslash splits, and files that only look like C."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.judging.verdict import Status
from tests.porter.helpers import escalations, port_files, port_text


@pytest.mark.parametrize("end", [b"\\\n", b"\\\r\n", b"\\\n\\\n", b"\\ \t\n"])
def test_a_name_goes_on_behind_a_backslash(tmp_path: Path, end: bytes) -> None:
    ported, _ = port_text(tmp_path, b"void f(void) { __disable" + end + b"_irq(); g(); }\n")
    assert b"void f(void) { virt_int_mask(VIRT_PRIMASK); g(); }" in ported


def test_a_block_goes_on_behind_a_backslash(tmp_path: Path) -> None:
    ported, _ = port_text(tmp_path, b"void f(void) { SC\\\nB->VTOR = 1; g(); }\n")
    assert b"void f(void) { g(); }" in ported


@pytest.mark.parametrize(
    "code",
    [
        b"void f(void) { *(volatile unsigned *)0xE000\\\nED08 = 1; }\n",
        b"#define LOCK __disa\\\nble_irq\nvoid f(void) { LOCK(); }\n",
    ],
)
def test_a_split_word_is_never_overlooked(tmp_path: Path, code: bytes) -> None:
    _, port = port_text(tmp_path, code)
    assert {verdict.status for verdict in port.verdicts} <= {Status.REWRITTEN, Status.ESCALATED}
    assert port.verdicts


def test_white_space_may_stand_behind_the_backslash(tmp_path: Path) -> None:
    """GCC and Clang join the lines all the same, and warn."""
    code = b"""#define LOCK() do { \\ \n  __disable_irq(); \\\t\n } while (0)
#if 0 \\ \n || 1
void f(void) { LOCK(); __asm volatile("cpsi\\ \ne i"); }
#endif
"""
    ported, port = port_text(tmp_path, code)
    assert b"virt_int_mask(VIRT_PRIMASK);" in ported and b"virt_int_unmask" in ported
    assert len(port.verdicts) == 2


def test_a_splice_between_words_is_white_space(tmp_path: Path) -> None:
    ported, _ = port_text(tmp_path, b"void f(void) { __disable_irq \\\n (); }\n")
    assert b"virt_int_mask(VIRT_PRIMASK);" in ported


FRAGMENT = b"""/* for the linker */
MEMORY { FLASH (rx) : ORIGIN = 0x08000000, LENGTH = 64K }
SECTIONS {
  .text : { KEEP(*(.isr_vector)) *(.text*) } > FLASH
  __scs = 0xE000ED00;
}
"""


@pytest.mark.parametrize(
    "fragment",
    [
        FRAGMENT,
        b".noinit (NOLOAD) : { KEEP(*(.noinit*)) } > RAM\n",
        b"PROVIDE(NVIC = 0xE000E100);\n",
    ],
)
def test_a_part_of_a_linker_script_is_no_c(tmp_path: Path, fragment: bytes) -> None:
    files = {"sections.inc": fragment, "chip.ld": b"INCLUDE sections.inc\n", "main.c": b"int n;\n"}
    assert escalations(port_files(tmp_path, files)) == []


@pytest.mark.parametrize("name", ["Makefile.inc", "board.inc"])
def test_a_part_of_a_makefile_is_no_c(tmp_path: Path, name: str) -> None:
    fragment = b"STACK = 0x738\nLDSCRIPT= $(BOARD)/ZYNQ7000.ld\n"
    assert port_files(tmp_path, {name: fragment, "main.c": b"int n;\n"}).files == ()


def test_its_symbols_count_as_a_scripts(tmp_path: Path) -> None:
    code = b"extern unsigned __scs;\nvoid f(void) { *(volatile unsigned *)&__scs = 1; }\n"
    files = {"sections.inc": FRAGMENT, "main.c": code}
    assert len(escalations(port_files(tmp_path, files))) == 1


def test_an_included_file_of_c_stays_c(tmp_path: Path) -> None:
    result = port_files(tmp_path, {"lock.inc": b"static void lock(void) { __disable_irq(); }\n"})
    assert b"virt_int_mask" in result.files[0].ported
