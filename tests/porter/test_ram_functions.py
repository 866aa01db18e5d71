"""Functions in RAM, which no machine executes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import escalations, port_files

MAIN = b"int main(void) { fast(); for (;;) { } }\n"
MEMORY = (
    b"MEMORY\n{\n  ROM (rx) : ORIGIN = 0x08000000, LENGTH = 128K\n"
    b"  SRAM (xrw) : ORIGIN = 0x20000000, LENGTH = 20K\n}\nSECTIONS\n{\n"
    b"  .text : { *(.text .text.* .quick*) } > ROM\n"
    b"  .data : { . = ALIGN(4); *(.data*) KEEP(*(SORT(.copied.*))) *fast.o(.one) } >SRAM AT> ROM\n"
    b"  /* .old : { *(.old) } > SRAM */\n}\n"
)


def _told(folder: Path, *attributes: str, script: bytes = b"") -> list[str]:
    functions = "".join(f"void fast{n}(void) {{ }}\n".replace("void ", f"{it} void ", 1)
                        for n, it in enumerate(attributes))  # fmt: skip
    calls = "".join(f"fast{n}(); " for n, _ in enumerate(attributes))
    text = functions + f"int main(void) {{ {calls}for (;;) {{ }} }}\n"
    files = {"main.c": text.encode()}
    return escalations(port_files(folder, files | ({"chip.ld": script} if script else {})))


def _in(section: str) -> str:
    return f'__attribute__((section("{section}"), noinline))'


@pytest.mark.parametrize(
    "section",
    [
        ".ramfunc",
        "RamFunc",
        ".ramtext.f",
        ".data.f",
        ".data",
        ".fast_code",
        ".itcm",
        "CodeInRam",
        ".in_ram",
        ".sram2.f",
    ],
)
def test_a_section_that_is_no_flashs(tmp_path: Path, section: str) -> None:
    (told,) = _told(tmp_path, _in(section))
    assert told.startswith("fast0: ")
    assert section in told and "RAM of a machine isn't executable" in told


@pytest.mark.parametrize(
    "section", [".text.hot", ".flash_code", ".boot2", "privileged_functions", ".program", "frames"]
)
def test_sections_of_code_are_code(tmp_path: Path, section: str) -> None:
    assert _told(tmp_path, _in(section)) == []


def test_the_linker_script_decides(tmp_path: Path) -> None:
    sections = [".quick1", ".copied.f", ".text.in_ram", ".one", ".old"]
    (told,) = _told(tmp_path, *map(_in, sections), script=MEMORY)
    assert told.startswith("fast1: chip.ld puts .copied.f in RAM: ")


@pytest.mark.parametrize(
    ("flash", "data", "in_ram"),
    [
        (b"flash (rxai) : ORIGIN = 0x20010000", b"ram", False),
        (b"flash (rw) : ORIGIN = 0", b"ram", False),
        (b"flash (rx) : ORIGIN = 0x20010000", b"flash", True),
        (b"code (rwx) : ORIGIN = 0x10000000", b"ram", True),
    ],
)
def test_ram_is_what_has_the_data(flash: bytes, data: bytes, in_ram: bool, tmp_path: Path) -> None:
    region = flash.split()[0]
    script = (
        b"MEMORY\n{\n%s, LENGTH = 64K\n ram (wxa) : ORIGIN = 0x80000000, LENGTH = 16K\n}\n"
        b"SECTIONS\n{\n.text : { *(.text .first) } > %s\n.data : { *(.data) } > %s\n}\n"
        % (flash, region, data)
    )
    assert bool(_told(tmp_path, _in(".first"), script=script)) == in_ram


@pytest.mark.parametrize(
    "text",
    [
        b'#define RAMFUNC __attribute__((section(".ramfunc")))\nRAMFUNC void fast(void) { }\n',
        b'#define RAM "." "ram"\nvoid __attribute__((section(RAM "func"))) fast(void) { }\n',
        b'void fast(void) __attribute__((section(".ramfunc")));\nvoid fast(void) { }\n',
        b"__ramfunc void fast(void) { }\n",
    ],
)
def test_other_ways_to_say_it(tmp_path: Path, text: bytes) -> None:
    (told,) = escalations(port_files(tmp_path, {"main.c": text + MAIN}))
    assert told.startswith("fast: ")


def test_a_section_in_a_header(tmp_path: Path) -> None:
    header = b'void fast(void) __attribute__((section(".ramfunc")));\n'
    files = {"f.h": header, "main.c": b'#include "f.h"\nvoid fast(void) { }\n' + MAIN}
    result = port_files(tmp_path, files)
    assert [port.file.name for port in result.files if port.verdicts] == ["main.c"]


@pytest.mark.parametrize(
    "text",
    [
        b'int fast_data[4] __attribute__((section(".ramdata")));\nvoid fast(void) { }\n',
        b'int (*table[1])(void) __attribute__((section(".data.t")));\nvoid fast(void) { }\n',
        b'#if 0\n__attribute__((section(".ramfunc")))\n#endif\nvoid fast(void) { }\n',
    ],
)
def test_data_is_no_function(tmp_path: Path, text: bytes) -> None:
    assert escalations(port_files(tmp_path, {"main.c": text + MAIN})) == []


def test_one_that_nothing_calls_is_left(tmp_path: Path) -> None:
    text = b'__attribute__((section(".ramfunc"))) void idle(void) { }\nvoid fast(void) { }\n'
    result = port_files(tmp_path, {"main.c": text + MAIN})
    assert [(it.status.value) for port in result.files for it in port.verdicts] == ["left"]


def test_an_assembler_file(tmp_path: Path) -> None:
    text = b'    .section .ramcode, "ax"\nf:\n    bx lr\n    .section .data.t, "aw"\n    .word 1\n'
    (told,) = escalations(port_files(tmp_path, {"f.s": b"    .syntax unified\n" + text}))
    assert told.startswith('.section .ramcode, "ax": .ramcode is a section in RAM, by its name: ')
