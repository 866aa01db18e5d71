"""The byte ring between two domains keeps its promises, also towards a broken peer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
RUNTIME = HERE.parents[1] / "fvm-runtime"


def run(folder: Path, ring: Path) -> int:
    """Builds the test program with this ring, runs it in QEMU and returns its exit code."""
    elf = folder / "ring.elf"
    compiler = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-std=c11", "-O2", "-nostdlib"]
    compiler += ["-Wall", "-Wextra", "-Werror", "-I", str(RUNTIME / "include")]
    compiler += ["-T", str(HERE / "ring" / "ring_test.ld"), str(HERE / "ring" / "ring_test.c")]
    subprocess.run([*compiler, str(ring), "-lgcc", "-o", str(elf)], check=True)
    machine = ["qemu-system-arm", "-M", "mps2-an386", "-nographic", "-semihosting"]
    machine += ["-icount", "shift=4,sleep=off", "-kernel", str(elf)]
    return subprocess.run(machine, timeout=120, check=False, stdin=subprocess.DEVNULL).returncode


def test_ring(tmp_path: Path) -> None:
    line = run(tmp_path, RUNTIME / "shared" / "ring.c")
    assert line == 0, f"check failed, ring_test.c line {line} modulo 256"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("- ring->position) & ring->mask;\n    if (observe", "- ring->position);\n    if (observe"),
        ("- ring->position - 1) & ring->mask", "- ring->position - 1)"),
        ("ring->data[(ring->position + i) & ring->mask] = ", "ring->data[ring->position + i] = "),
        ("        ring->position = start;\n", ""),
        ("ring->shared->start = ring->position", "ring->shared->start = 0"),
        ("    ring->shared->tail = ring->position;\n    publish", "    publish"),
    ],
)
def test_a_wrong_ring_is_noticed(tmp_path: Path, right: str, wrong: str) -> None:
    source = (RUNTIME / "shared" / "ring.c").read_text()
    assert source.count(right) == 1
    broken = tmp_path / "ring.c"
    broken.write_text(source.replace(right, wrong))
    assert run(tmp_path, broken) != 0
