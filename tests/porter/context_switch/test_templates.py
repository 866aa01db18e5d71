"""What can't be transcribed comes with a template, and the templates compile."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from porter.context_switch import SwitchPort
from porter.context_switch.result import TEMPLATES
from porter.port import port_project
from tests.porter.context_switch.test_refusals import FRAME, RESUME, TEXT
from tests.porter.context_switch.trees import M3, M4F, ROOT, RUNTIME, fixture

FILES = sorted((ROOT / TEMPLATES).glob("*.c"))
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wmissing-prototypes")
REFUSED = {
    "waiting_handler.c": FRAME + "1: wfi\nldr r3, [r2]\ncmp r3, #0\nbeq 1b\n" + RESUME,
    "supervisor_call.c": FRAME + "push {r1, lr}\nblx r12\npop {r1, lr}\n" + RESUME,
    "common_entry.c": FRAME + "mrs r0, ipsr\n" + RESUME,
    "fake_frame.c": "ldr r3, =task\nldr r0, [r3]\nsubs r0, #32\nmsr psp, r0\nbx lr\n.ltorg\n",
}


def escalated(folder: Path, assembler: str) -> SwitchPort:
    quoted = " ".join(f'"{line}\\n"' for line in assembler.splitlines())
    tree = fixture(folder, TEXT.format(asm=quoted))
    (found,) = tree.port()
    assert found.status == "escalated"
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
@pytest.mark.parametrize("cpu", [M3, M4F], ids=["m3", "m4f"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_template_compiles(file: Path, cpu: tuple[str, ...], level: str, tmp_path: Path) -> None:
    folders = [f"-I{folder}" for folder in RUNTIME]
    options = ["-std=c11", *WARNINGS, level, *cpu, *folders]
    target = ["-c", "-o", str(tmp_path / "unit.o"), str(file)]
    done = subprocess.run(
        ["arm-none-eabi-gcc", *options, *target], capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", REFUSED)
def test_the_reason_names_the_template(name: str, tmp_path: Path) -> None:
    assert f"{TEMPLATES}/{name} shows" in escalated(tmp_path, REFUSED[name]).reason


def test_every_template_is_for_something() -> None:
    assert {file.name for file in FILES} == set(REFUSED)


def test_c_that_moves_a_tasks_stack_is_told_of_the_template(tmp_path: Path) -> None:
    """The handler that drops a frame may be plain C."""
    (tmp_path / "core.c").write_text("void f(void) { __set_PSP(__get_PSP() + 32); }\n")
    (file,) = port_project(tmp_path, cpu=M3).files
    assert all(f"{TEMPLATES}/fake_frame.c shows" in found.reason for found in file.verdicts)
