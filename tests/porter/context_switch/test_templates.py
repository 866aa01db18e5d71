"""What can't be transcribed comes with a template, and the templates compile."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from porter.context_switch.accept import with_runtime
from porter.context_switch.result import TEMPLATES, SwitchPort
from porter.port import port_project
from porter.project.compile_options import CompileOptions
from porter.project.compiler_command import compiler_for
from tests.porter.context_switch.riscv.trees import IMAFC, own
from tests.porter.context_switch.test_refusals import FRAME, RESUME, TEXT
from tests.porter.context_switch.trees import M3, M4F, ROOT, fixture

FILES = sorted((ROOT / TEMPLATES).glob("*.c"))
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wmissing-prototypes")
OF_RISCV = ("supervisor_call.c", "trap_entry.c")  # the first for both machines
IMAC = ("-march=rv32imac", "-misa-spec=2.2", "-mabi=ilp32", "-ffreestanding")
CASES = [
    *((file, cpu) for file in FILES if file.name != "trap_entry.c" for cpu in (M3, M4F)),
    *((file, cpu) for file in FILES if file.name in OF_RISCV for cpu in (IMAC, IMAFC)),
]
REFUSED = {
    "switch_handler.c": FRAME + "sadd16 r3, r3, r3\n" + RESUME,
    "waiting_handler.c": FRAME + "1: wfi\nldr r3, [r2]\ncmp r3, #0\nbeq 1b\n" + RESUME,
    "supervisor_call.c": FRAME + "mrs r3, msp\nstr r3, [r2]\n" + RESUME,
    "common_entry.c": FRAME + "mrs r0, ipsr\n" + RESUME,
    "fake_frame.c": "ldr r3, =task\nldr r0, [r3]\nsubs r0, #32\nmsr psp, r0\nbx lr\n.ltorg\n",
}


def escalated(folder: Path, assembler: str) -> SwitchPort:
    quoted = " ".join(f'"{line}\\n"' for line in assembler.splitlines())
    tree = fixture(folder, TEXT.format(asm=quoted))
    (found,) = tree.port()
    assert found.status == "escalated"
    return found


@pytest.mark.parametrize(
    ("file", "cpu"), CASES, ids=[f"{file.name}-{cpu[0][1:]}" for file, cpu in CASES]
)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_template_compiles(file: Path, cpu: tuple[str, ...], level: str, tmp_path: Path) -> None:
    machine = with_runtime(CompileOptions((), (), cpu, compiler_for(cpu)))
    options = ["-std=c11", *WARNINGS, level, *cpu, *(f"-I{it}" for it in machine.include_dirs)]
    target = ["-c", "-o", str(tmp_path / "unit.o"), str(file)]
    done = subprocess.run(
        [machine.compiler, *options, *target], capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", REFUSED)
def test_the_reason_names_the_template(name: str, tmp_path: Path) -> None:
    assert f"{TEMPLATES}/{name} shows" in escalated(tmp_path, REFUSED[name]).reason


def test_every_template_is_for_something() -> None:
    assert {file.name for file in FILES} == {*REFUSED, "trap_entry.c"}


@pytest.mark.parametrize("line", ["wfi", "csrr t1, 0x7c0", "li t1, 0x02000000\n    sw zero, 0(t1)"])
def test_a_trap_entry_that_is_refused_has_a_template(line: str, tmp_path: Path) -> None:
    text = own(tmp_path, "fpu_on_stack").files[0].read_text()
    text = text.replace("lla     sp,", f"{line}\n    lla     sp,")
    (found,) = own(tmp_path, "fpu_on_stack", text).port()
    assert found.status == "escalated"
    assert f"{TEMPLATES}/trap_entry.c shows" in found.reason


def test_c_that_moves_a_tasks_stack_is_told_of_the_template(tmp_path: Path) -> None:
    """The handler that drops a frame may be plain C."""
    (tmp_path / "core.c").write_text("void f(void) { __set_PSP(__get_PSP() + 32); }\n")
    (file,) = port_project(tmp_path, cpu=M3).files
    assert all(f"{TEMPLATES}/fake_frame.c shows" in found.reason for found in file.verdicts)
