"""Headers that only another toolchain has: ours take their place, and the user is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from porter.context_switch.accept import with_runtime
from porter.context_switch.result import SwitchPort
from porter.context_switch.stand_in import notes_on
from porter.port import port_project
from tests.porter.context_switch.cases import SOURCES
from tests.porter.context_switch.trees import M4F, fixture

INCLUDE = "#include <intrinsics.h>\n#include <rt_misc.h>\n"
NOTE = "read with fvmkit's own intrinsics.h, rt_misc.h"


def handler(folder: Path, files: dict[str, str] | None = None) -> SwitchPort:
    tree = fixture(folder, INCLUDE + (SOURCES / "running_task.c").read_text())
    for name, text in (files or {}).items():
        (folder / name).write_text(text)
    return next(p for p in tree.port() if p.name == "PendSV_Handler" and p.start < p.end)


def test_a_file_with_another_compilers_headers_is_transcribed(tmp_path: Path) -> None:
    found = handler(tmp_path)
    assert found.proof is not None, found.reason
    assert NOTE in found.reason


def test_folders_may_have_a_space_in_their_names(tmp_path: Path) -> None:
    folder = tmp_path / "our own"
    folder.mkdir()
    for name, place in (("config.h", folder), ("config.h", tmp_path)):
        (place / name).write_text("")
    source = tmp_path / "sw.c"
    source.write_text('#include "our own/config.h"\n')
    options = replace(with_runtime(fixture(tmp_path, "").options), include_dirs=(folder, tmp_path))
    assert "of several config.h our own/config.h was read" in notes_on(source, options, True)


def test_the_projects_own_header_comes_first(tmp_path: Path) -> None:
    found = handler(tmp_path, {"intrinsics.h": "", "rt_misc.h": ""})
    assert found.proof is not None and "fvmkit's own" not in found.reason


def test_who_needs_none_is_told_nothing(tmp_path: Path) -> None:
    ports = fixture(tmp_path, (SOURCES / "running_task.c").read_text()).port()
    assert not any("fvmkit's own" in port.reason for port in ports)


def test_of_several_headers_it_is_told_which_was_read(tmp_path: Path) -> None:
    text = (SOURCES / "running_task.c").read_text()
    for folder in ("chip_a", "chip_b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "chip.h").touch()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "switch.c").write_text(f'#include "chip.h"\n{text}')
    reasons = [
        verdict.reason
        for file in port_project(tmp_path, cpu=M4F).files
        for verdict in file.verdicts
        if verdict.reason.startswith("PendSV_Handler")
    ]
    assert reasons and all("of several chip.h chip_a/chip.h was read" in it for it in reasons)


def test_their_functions_are_instructions_that_are_read(tmp_path: Path) -> None:
    """A mask is one of the guest's, and no call of a function that nobody has."""
    text = """
#include <intrinsics.h>
#include <stdint.h>
extern uint32_t *task;
__attribute__((naked)) void PendSV_Handler(void)
{
    __disable_interrupt();
    __asm volatile("mrs r0, psp\\n stmdb r0!, {r4-r11}\\n ldr r1, =task\\n ldr r2, [r1]\\n"
                   "str r0, [r2]\\n ldr r0, [r2, #4]\\n ldmia r0!, {r4-r11}\\n msr psp, r0\\n");
    __enable_interrupt();
    __asm volatile("bx lr\\n .ltorg");
}
"""
    (found,) = [p for p in fixture(tmp_path, text).port() if p.start < p.end]
    assert found.proof is not None, found.reason
    assert b"__disable_interrupt()" not in found.replacement
