"""What the compiler says of a call agrees with what the transcriber reads, or nothing is proved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.compiled_prototypes import CompiledPrototypes, Prototype
from porter.context_switch.lift_state import Signature
from porter.context_switch.names import Names
from porter.context_switch.result import SwitchPort
from porter.project.compile_options import CompileOptions
from tests.porter.context_switch.riscv.trees import GCC, IMAFC, own
from tests.porter.context_switch.test_passing import OTHERWISE, TYPES, WORDS, signature
from tests.porter.context_switch.trees import M3, M4F

COMMANDS = {
    "M3": (M3, "arm-none-eabi-gcc"),
    "M4F": (M4F, "arm-none-eabi-gcc"),
    "RV32": (IMAFC, GCC),
}


def _compiled(declared: str, folder: Path, machine: str) -> Prototype | None:
    file = folder / "unit.c"
    standard = "typedef unsigned long __uint32_t; typedef unsigned long long uint64_t;"
    file.write_text(f"{standard}\n{TYPES}\n{declared}\n")
    flags, compiler = COMMANDS[machine]
    options = CompileOptions((), (), flags, compiler)
    return CompiledPrototypes([file]).of("f", file, options)


@pytest.mark.parametrize("machine", COMMANDS)
@pytest.mark.parametrize("declared", WORDS)
def test_both_readings_agree_on_words(declared: str, machine: str, tmp_path: Path) -> None:
    read = signature(declared)
    assert read is not None
    wanted = Prototype(WORDS[declared], read.returns)
    assert _compiled(declared.replace("{ }", "{ for (;;); }"), tmp_path, machine) == wanted


@pytest.mark.parametrize("machine", COMMANDS)
@pytest.mark.parametrize("declared", [it for it in OTHERWISE if "unheard_of" not in it])
def test_what_is_no_word(declared: str, machine: str, tmp_path: Path) -> None:
    found = _compiled(declared.replace("{ }", "{ for (;;); }"), tmp_path, machine)
    assert found is None if declared == "void f();" else found is not None and found.problem


def _misread(monkeypatch: pytest.MonkeyPatch, name: str, **wrong: object) -> None:
    """Let the transcriber read the declaration of a function in a wrong way."""
    right = Names.function

    def misread(self: Names, wanted: str) -> Signature | None:
        found = right(self, wanted)
        return replace(found, **wrong) if found and wanted == name else found  # type: ignore[arg-type]

    monkeypatch.setattr(Names, "function", misread)


def _ported(folder: Path, file: str, name: str) -> SwitchPort:
    (found,) = [it for it in own(folder, file).port() if it.name == name]
    return found


@pytest.mark.parametrize("words", [0, 1, 3])
def test_a_wrong_number_of_words_is_a_contradiction(
    words: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both oracles would compare as many words as the port passes."""
    _misread(monkeypatch, "trap_dispatch", parameters=(False,) * words, names=())
    found = _ported(tmp_path, "context_in_mscratch", "trap_entry")
    told = (
        f"trap_dispatch() is called with {words} words, as its declaration reads, and as compiled"
    )
    assert found.status == "escalated" and f"{told} it takes 2 words" in found.reason


def test_a_result_that_is_overlooked_is_a_contradiction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody would compare it."""
    _misread(monkeypatch, "irq_save", returns=False)
    found = _ported(tmp_path, "masks", "irq_save")
    assert found.status == "escalated"
    assert "compiled it takes 0 words and returns something" in found.reason


def test_what_no_c_declares_is_taken_as_read(tmp_path: Path) -> None:
    options = CompileOptions((), (), M3, "arm-none-eabi-gcc")
    header = tmp_path / "broken.h"
    header.write_text("#error include another one first\nvoid f(int);\n")
    source = tmp_path / "switch.S"
    assert CompiledPrototypes([source, header]).of("f", source, options) is None
    (tmp_path / "includes.c").write_text('#undef ERROR\n#include "fine.h"\n')
    (tmp_path / "fine.h").write_text("int f(int, char *);\n")
    files = [source, header, tmp_path / "includes.c"]
    assert CompiledPrototypes(files).of("f", source, options) == Prototype(2, True)
