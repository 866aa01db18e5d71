"""What this build leaves out of an assembler file by #if is nobody's to port, as in C."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.porter.test_unseen import port

FILE = """\
    .syntax unified
    .thumb
#if defined(__VFP_FP__) && !defined(__SOFTFP__)
    .global push_floats
    .type push_floats, %function
push_floats:
    mrs     r1, psp
    cbz     r1, none
    vstmdb  r0!, {s16-s31}
none:
    bx      lr
#else
    .global nothing
    .type nothing, %function
nothing:
    bx      lr
#endif
"""
SOFT = ["-mcpu=cortex-m3", "-mthumb", "-mfloat-abi=soft"]
HARD = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]


def build(folder: Path, cpu: list[str], text: str = FILE) -> None:
    (folder / "main.c").write_text("int main(void) { return 0; }\n")
    (folder / "floats.S").write_text(text)
    commands = [
        {"directory": str(folder), "file": name, "arguments": ["arm-none-eabi-gcc", *cpu, name]}
        for name in ("main.c", "floats.S")
    ]
    (folder / "compile_commands.json").write_text(json.dumps(commands))


def test_what_the_build_leaves_out_is_left(tmp_path: Path) -> None:
    build(tmp_path, SOFT, FILE.replace("none:\n", "    bl      told\nnone:\n"))
    run = port(tmp_path, "-v")
    assert run.returncode == 0
    assert (
        "floats.S:7:5: left mrs r1, psp [not-compiled]: not compiled in this project" in run.stderr
    )


def test_what_is_called_there_needs_to_be_nowhere(tmp_path: Path) -> None:
    text = FILE.replace("none:\n", "    bl      told\nnone:\n")
    build(tmp_path, SOFT, text)
    assert "told" not in port(tmp_path).stderr
    build(tmp_path, HARD, text)
    assert "told (1)" in port(tmp_path).stderr


@pytest.mark.parametrize("options", [(), ("--all-arms",)], ids=["built", "all arms"])
def test_what_is_built_or_wanted_is_a_persons(options: tuple[str, ...], tmp_path: Path) -> None:
    build(tmp_path, SOFT if options else HARD)
    run = port(tmp_path, *options)
    assert run.returncode == 1 and "floats.S:7:5: escalated mrs r1, psp" in run.stderr


def test_beside_what_is_built_nothing_is_left(tmp_path: Path) -> None:
    """An arm is left as a whole: the preprocessor joins lines that a backslash ends."""
    text = FILE.replace("    mrs     r1, psp\n", "    mov r1, r1; \\\n    mrs r1, psp\n")
    build(tmp_path, HARD, text)
    assert "escalated mrs r1, psp" in port(tmp_path).stderr
