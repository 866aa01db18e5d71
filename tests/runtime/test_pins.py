"""A domain sets its run-time outputs and reads its own pins: the kernel's own code, on ports made
of memory, since QEMU's ports always read as 0."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
RUNTIME = HERE.parents[1] / "fvm-runtime"
LINKER_SCRIPT = HERE.parent / "examples" / "ring" / "ring_test.ld"
PIN = RUNTIME / "kernel" / "pin.c"


def run(folder: Path, pin: Path) -> int:
    """Builds the test program with this file of the kernel, runs it, returns its exit code."""
    elf = folder / "pin.elf"
    compiler = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-std=gnu11", "-O2", "-nostdlib"]
    includes = (HERE / "pins", RUNTIME, RUNTIME / "include", RUNTIME / "arch/armv7m/include")
    compiler += [f"-I{include}" for include in includes]
    compiler += ["-Wall", "-Wextra", "-Werror", "-T", str(LINKER_SCRIPT)]
    compiler += [str(HERE / "pins" / "pin_test.c"), str(pin), "-lgcc", "-o", str(elf)]
    subprocess.run(compiler, check=True)
    machine = ["qemu-system-arm", "-M", "mps2-an386", "-nographic", "-semihosting"]
    machine += ["-icount", "shift=4,sleep=off", "-kernel", str(elf)]
    return subprocess.run(machine, timeout=120, check=False, stdin=subprocess.DEVNULL).returncode


def test_pins(tmp_path: Path) -> None:
    line = run(tmp_path, PIN)
    assert line == 0, f"check failed, pin_test.c line {line} modulo 256"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (" & grant->own", ""),
        (" & grant->own", " & grant->mask"),
        ("(mask & ~(uint32_t)grant->mask) != 0", "(mask & ~(uint32_t)grant->own) != 0"),
        ("LEVELS_INPUT : LEVELS_OUTPUT", "LEVELS_OUTPUT : LEVELS_INPUT"),
        ("grant->port == port", "grant->port <= port"),
        ("grant->domain == domain_index && grant->port == port", "grant->port == port"),
        ("first = middle + 1", "first = end"),
    ],
)
def test_a_wrong_kernel_is_noticed(tmp_path: Path, right: str, wrong: str) -> None:
    source = PIN.read_text()
    assert source.count(right) == 1
    broken = tmp_path / "pin.c"
    broken.write_text(source.replace(right, wrong))
    assert run(tmp_path, broken) != 0
