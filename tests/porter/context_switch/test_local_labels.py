"""Numeric labels of Arm's assembler lead where its manual says, through macros too."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from porter.context_switch.assemble import assemble
from porter.context_switch.dialect import gnu_text
from porter.context_switch.place import Place
from porter.context_switch.result import NotTranscribable
from porter.project.compile_options import CompileOptions
from tests.porter.context_switch.trees import M3

AREA = "    AREA |.text|, CODE\n"
# A loop of its own, and a way out that is its caller's.
MACRO = """\
    MACRO
    SPIN $reg
1   SUBS $reg, $reg, #1
    BNE %B1
    BEQ %F2
    MEND
"""


def code(folder: Path, text: str) -> bytes:
    """What a text is assembled to."""
    source = folder / "switch.s"
    source.write_text(text)
    raw = assemble(source, CompileOptions((), (), M3, "arm-none-eabi-gcc")).object.raw
    section = ELFFile(BytesIO(raw)).get_section_by_name(".text")
    assert section is not None
    return bytes(section.data())


@pytest.mark.parametrize(
    ("arm", "gnu"),
    [
        ("1 NOP\n B %B1\n", "1: NOP\n B 1b\n"),
        ("0 B %B0\n", "0: B 0b\n"),
        ("1 NOP\n B %1\n1 NOP\n", "1: NOP\n B 1b\n1: NOP\n"),
        (" B %1\n1 NOP\n", " B 1f\n1: NOP\n"),
        ("1 NOP\n ROUT\n B %1\n1 NOP\n", "1: NOP\n B 1f\n1: NOP\n"),
        (" ADR R0, %f12 + 4\n NOP\n12 DCD 1, 2\n", " ADR R0, 12f + 4\n NOP\n12: .word 1, 2\n"),
        (" LDR R0, %F3\n NOP\n3 DCD 10 %3\n", " LDR R0, 3f\n NOP\n3: .word 1\n"),
    ],
)
def test_the_nearest_label_is_meant(arm: str, gnu: str, tmp_path: Path) -> None:
    assert code(tmp_path, AREA + arm) == code(
        tmp_path, ".syntax unified\n.thumb\n.text\n" + gnu
    )  # fmt: skip


def test_a_macro_has_labels_of_its_own(tmp_path: Path) -> None:
    text = AREA + MACRO + " B %F1\n SPIN R1\n SPIN R2\n1 NOP\n2 NOP\n"
    flat = (
        " B out\na: SUBS R1, R1, #1\n BNE a\n BEQ far\nb: SUBS R2, R2, #1\n BNE b\n BEQ far\n"
        "out: NOP\nfar: NOP\n"
    )
    assert code(tmp_path, text) == code(tmp_path, ".syntax unified\n.thumb\n.text\n" + flat)


@pytest.mark.parametrize(
    "text",
    [
        MACRO + " B %FA1\n SPIN R1\n",  # perhaps the macro's
        MACRO.replace("%F2", "%FT2") + " SPIN R1\n2 NOP\n",  # none there
        MACRO + MACRO.replace("SPIN", "TWO").replace("1 ", "2 ") + " SPIN R1\n2 NOP\n",
        MACRO + " MACRO\n GO $to\n1 B $to\n MEND\n1 NOP\n GO %B1\n",  # the macro's or its caller's
        " MACRO\n$l DO $r\n$l NOP\n MEND\n1 DO R1\n B %B1\n",
        "#ifdef FAST\n1 NOP\n#endif\n B %1\n1 NOP\n",
    ],
)
def test_a_label_that_may_be_another_is_escalated(text: str) -> None:
    with pytest.raises(NotTranscribable, match=r"^switch\.s:\d+: .*label"):
        gnu_text((AREA + text).encode(), Place("switch.s"))


def test_a_name_behind_the_number_is_the_routines(tmp_path: Path) -> None:
    named = AREA + "Wait ROUT\n1Wait NOP\n B %B1Wait\n"
    assert code(tmp_path, named) == code(tmp_path, AREA + "1 NOP\n B %B1\n")


@pytest.mark.parametrize("label", ["again:", "again", "again: again2:"])
def test_each_expansion_of_iars_has_its_own(label: str, tmp_path: Path) -> None:
    text = (
        "    SECTION .text:CODE:NOROOT(2)\nSPIN MACRO reg\n    LOCAL again, again2, out\n"
        f"{label} SUBS reg, reg, #1\n    BEQ out\n    LDR R3, again+4\n    BNE again\nout:\n"
        "    ENDM\n"
        "    SPIN R1\n    SPIN R2\nagain2: B again2\n    END\n"
    )
    flat = "".join(
        f"{at}: SUBS {it}, {it}, #1\n BEQ o{at}\n LDR R3, {at}+4\n BNE {at}\no{at}:\n"
        for at, it in (("a", "R1"), ("b", "R2"))
    )
    head = ".syntax unified\n.thumb\n.text\n"
    assert code(tmp_path, text) == code(tmp_path, head + flat + "end: B end\n")
