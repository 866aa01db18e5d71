"""Names that an assembler file keeps for itself, and data that stands between its functions."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.result import SwitchPort
from tests.porter.context_switch.test_assembler_file import HANDLER, HEADER, companion, named
from tests.porter.context_switch.test_dialects import ARM, IAR
from tests.porter.context_switch.trees import M3, Tree, fixture

COUNTS = HANDLER.replace(
    "    push    {r1, lr}\n",
    "    ldr     r3, =count\n    ldr     r2, [r3]\n    adds    r2, r2, #1\n    str     r2, [r3]\n"
    "    push    {r1, lr}\n",
)
DATA = "    .data\n    .balign 4\ncount: .word 7\n"


def project(folder: Path, text: str, others: str = "", header: str = HEADER) -> Tree:
    tree = fixture(folder, text, M3, "switch.S")
    (folder / "os.h").write_text(header)
    (folder / "other.c").write_text(others)
    return replace(tree, files=(*tree.files, folder / "os.h", folder / "other.c"))


def left(tree: Tree, ports: list[SwitchPort]) -> str:
    """What the assembler file becomes."""
    tree.apply([port for port in ports if port.file == tree.files[0]])
    return tree.files[0].read_text()


def symbols(file: Path) -> str:
    """Of an assembler file."""
    target = file.with_suffix(".o")
    assembler = ["arm-none-eabi-gcc", *M3, "-c", "-o", str(target), str(file)]
    subprocess.run(assembler, check=True)
    command = ["arm-none-eabi-nm", str(target)]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


@pytest.mark.parametrize("private", ["    .lcomm count, 4\n", f"{DATA}    .text\n"])
@pytest.mark.parametrize("behind", [True, False])
def test_private_data_becomes_global(private: str, behind: bool, tmp_path: Path) -> None:
    tree = project(tmp_path, COUNTS + private if behind else private + COUNTS)
    ports = tree.port()
    assert named(ports, "PendSV_Handler").status == "rewritten"
    assert "extern volatile fvm_word count;" in companion(ports)
    assert "    .global count\n" in left(tree, ports)
    assert {" B count", " D count"} & {line[8:] for line in symbols(tree.files[0]).splitlines()}


@pytest.mark.parametrize("other", ["unsigned count = 7;\n", "static int count(int x);\n"])
def test_a_name_that_the_project_has_elsewhere_is_escalated(other: str, tmp_path: Path) -> None:
    handler = named(project(tmp_path, "    .lcomm count, 4\n" + COUNTS, other).port(),
                    "PendSV_Handler")  # fmt: skip
    assert handler.status == "escalated" and "other.c has the name too" in handler.reason


def test_a_function_of_the_file_alone_is_not_cs(tmp_path: Path) -> None:
    local = "    .type choose, %function\nchoose:\n    bx      lr\n"
    text = HANDLER.replace("/* The switch itself. */\n", local)
    handler = named(project(tmp_path, text).port(), "PendSV_Handler")
    assert handler.status == "escalated" and "os.h has the name too" in handler.reason


@pytest.mark.parametrize(
    ("text", "data", "word"),
    [
        (ARM, "        AREA    |.data|, DATA, READWRITE\ncurrent         DCD     0\n", "EXPORT"),
        (IAR, "        RSEG    DATA:DATA:NOROOT(2)\ncurrent: DC32    0\n", "PUBLIC"),
    ],
)
def test_the_file_exports_in_its_own_words(text: str, data: str, word: str, tmp_path: Path) -> None:
    text = text.replace("IMPORT  current", "").replace("EXTERN  current", "")
    tree = project(tmp_path, data + text, header="void choose(void);\nvoid request(void);\n")
    ports = tree.port()
    assert named(ports, "PendSV_Handler").status == "rewritten"
    assert f"    {word} current\n" in left(tree, ports)


def test_data_behind_a_function_stays(tmp_path: Path) -> None:
    data = "    .data\n    .global table\ntable: .word 1, 2, 3\n    .text\n"
    text = HANDLER.replace("    .global os_double\n", f"{data}    .global os_double\n")
    tree = project(tmp_path, text, "extern unsigned table[];\n")
    ports = tree.port()
    assert named(ports, "PendSV_Handler").status == "rewritten"
    assert data in left(tree, ports)


@pytest.mark.parametrize(
    ("inside", "what"),
    [
        ("    .data\n    .global table\ntable: .word 1\n    .text\n", "the project needs table"),
        ('    .pushsection .vectors, "a"\n    .word 1\n    .popsection\n', "section .vectors"),
    ],
)
def test_data_amid_a_function_is_not_lost(inside: str, what: str, tmp_path: Path) -> None:
    text = HANDLER.replace("    push    {r1, lr}\n", f"{inside}    push    {{r1, lr}}\n")
    handler = named(project(tmp_path, text).port(), "PendSV_Handler")
    assert handler.status == "escalated" and what in handler.reason


def test_private_data_in_the_functions_text_is_not_lost(tmp_path: Path) -> None:
    text = COUNTS.replace("    .size PendSV", "    .balign 4\ncount: .word 0\n    .size PendSV")
    handler = named(project(tmp_path, text).port(), "PendSV_Handler")
    assert handler.status == "escalated" and "count" in handler.reason


@pytest.mark.parametrize(
    ("text", "weak"),
    [
        (HANDLER, "    .weak choose\n"),
        (ARM.replace("IMPORT  choose", ""), "        IMPORT  choose [WEAK]\n"),
        (IAR.replace("EXTERN  choose", ""), "        EXTWEAK choose\n"),
    ],
)
def test_a_weak_name_that_nothing_defines_is_escalated(
    text: str, weak: str, tmp_path: Path
) -> None:
    handler = named(project(tmp_path, weak + text).port(), "PendSV_Handler")
    assert handler.status == "escalated" and "choose, which is weak here" in handler.reason


def test_a_weak_name_that_c_defines_is_called(tmp_path: Path) -> None:
    ports = project(tmp_path, "    .weak choose\n" + HANDLER, "void choose(void) { }\n").port()
    assert named(ports, "PendSV_Handler").status == "rewritten"
