"""A function of an assembler file keeps its other names, and who may define them instead."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from tests.porter.context_switch.trees import M3, RUNTIME, Tree, fixture

NAMES = "    .weak {0}\n    .thumb_set {0}, default_handler\n"
MACRO = "    .macro other name\n    .weak \\name\n    .set \\name, default_handler\n    .endm\n"
HANDLER = """    .syntax unified
    .thumb
{names}
    .section .vectors, "a", %progbits
    .global table
table:
    .word alarm, uart
    .section .handler, "ax", %progbits
    .global default_handler
    .type default_handler, %function
default_handler:
    cpsid i
    bx lr
"""
OWN = "static volatile unsigned ticks;\nvoid {0}(void) {{ ticks++; }}\n"


@pytest.mark.parametrize("own", ["alarm", "uart"])
def test_the_projects_own_handler_stays_in_the_table(own: str, tmp_path: Path) -> None:
    """`alarm` comes in front of the function's own name in the table of symbols, `uart` behind."""
    text = HANDLER.format(names=NAMES.format("alarm") + NAMES.format("uart"))
    tree = project(tmp_path, text)
    (tmp_path / "main.c").write_text(OWN.format(own))
    before = table(tmp_path, "vectors.S", "main.c")
    ports = tree.port()
    assert {port.status for port in ports} == {"rewritten"}
    for port in ports:
        port.file.touch()
    tree.apply(ports)
    after = table(tmp_path, "vectors.S", "main.c", "vectors_fvm.c")
    other = {"alarm": "uart", "uart": "alarm"}[own]
    assert own in before[own] and own in after[own]
    assert "default_handler" in before[other] and other in after[other]


def test_a_name_that_no_line_makes_is_told(tmp_path: Path) -> None:
    text = HANDLER.format(names=MACRO + "    other alarm\n    other uart\n")
    (port,) = project(tmp_path, text).port()
    assert port.status == "escalated" and "alarm is another name of it" in port.reason


def project(folder: Path, text: str) -> Tree:
    tree = fixture(folder, text, M3, "vectors.S")
    header = folder / "handlers.h"
    header.write_text("void default_handler(void);\n")
    return replace(tree, files=(*tree.files, header))


def table(folder: Path, *sources: str) -> dict[str, set[str]]:
    """The names of what the two entries of the linked table lead to."""
    image = folder / "linked.elf"
    command = ["arm-none-eabi-gcc", *M3, "-nostdlib", "-Wl,--unresolved-symbols=ignore-all"]
    folders = [f"-I{folder}" for folder in RUNTIME]
    subprocess.run(
        [*command, *folders, "-Wl,--entry=0", "-o", image, *(folder / name for name in sources)],
        check=True, capture_output=True,
    )  # fmt: skip
    with image.open("rb") as stream:
        elf = ELFFile(stream)
        vectors = elf.get_section_by_name(".vectors").data()
        symbols = list(elf.get_section_by_name(".symtab").iter_symbols())
    words = [int.from_bytes(vectors[at : at + 4], "little") for at in (0, 4)]
    found = [{it.name for it in symbols if it["st_value"] == word} for word in words]
    return dict(zip(("alarm", "uart"), found, strict=True))
