"""What a file for GNU's assembler includes by .include is found where the build finds it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from porter.context_switch.result import SwitchPort
from tests.porter.context_switch.test_assembler_file import HANDLER, HEADER, named
from tests.porter.context_switch.trees import M3, fixture

# A macro of one, a constant of the other, and an arm that is assembled from a copy elsewhere.
TEXT = HANDLER.replace(
    "    .text", '    .include "masks.inc"\n    .include "bits.inc"\n    .text', 1
)
TEXT = TEXT.replace("    cpsid   i\n", "    CLOSE\n", 1).replace("0x10000000", "PENDSVSET", 1)
TEXT = TEXT.replace(
    "    str     r0, [r2]\n", "    str     r0, [r2]\n#ifdef TRACE\n    nop\n#endif\n"
)


def ported(folder: Path, text: str) -> list[SwitchPort]:
    tree = fixture(folder / "own", text, M3, "switch.S")
    (folder / "own" / "masks.inc").write_text("    .macro CLOSE\n    cpsid   i\n    .endm\n")
    (folder / "shared").mkdir()
    (folder / "shared" / "bits.inc").write_text(".equ PENDSVSET, 0x10000000\n.equ FAST, 1\n")
    (folder / "own" / "k.h").write_text(HEADER)
    files = (*tree.files, folder / "own" / "k.h")
    options = replace(tree.options, include_dirs=(folder / "shared",))
    return replace(tree, files=files, options=options).port()


def test_beside_the_source_and_in_the_builds_folders(tmp_path: Path) -> None:
    ports = ported(tmp_path, TEXT)
    for name in ("os_mask", "os_request", "PendSV_Handler"):
        assert "proved" in named(ports, name).reason, named(ports, name).reason


def test_what_it_decides_is_told_by_its_line(tmp_path: Path) -> None:
    text = TEXT.replace(
        "    push    {r1, lr}\n", "    .if FAST\n    nop\n    .endif\n    push    {r1, lr}\n"
    )
    number = 1 + text[: text.index(".if FAST")].count("\n")
    handler = named(ported(tmp_path, text), "PendSV_Handler")
    assert f"switch.S:{number}: '.if FAST' of its assembler decides" in handler.reason
