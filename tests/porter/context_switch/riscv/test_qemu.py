"""FreeRTOS on RV32 in QEMU, as it is and ported: the same switches in the same order.

A kernel for RISC-V doesn't exist. In its place stands a machine mode of this test's own
(`qemu/machine.*`), which does for one guest in user mode what `<fvm/guest.h>` promises and protects
nothing: what is shown is that the transcribed C switches tasks as the original does, not a product.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.porter.context_switch.riscv.trees import CHIP, GCC, IMAC, PORT, QEMU
from tests.porter.context_switch.trees import KERNEL, ROOT

pytestmark = pytest.mark.campaign

RUNTIME = ROOT / "fvm-runtime"
PATIENCE = 120


def project(folder: Path) -> None:
    """The application over FreeRTOS, as its author would have it."""
    folder.mkdir()
    for name in ("application.c", "registers.S", "board.c", "FreeRTOSConfig.h"):
        shutil.copy(QEMU / name, folder)
    for name in ("tasks.c", "queue.c", "list.c", "portable/MemMang/heap_4.c"):
        shutil.copy(KERNEL / name, folder)
    shutil.copytree(KERNEL / "include", folder / "include")
    for file in (*PORT.glob("port*"), *(PORT / CHIP).iterdir()):
        shutil.copy(file, folder)
    commands = [
        {"directory": str(folder), "file": str(file),
         "arguments": [GCC, *IMAC, f"-I{folder}", f"-I{folder / 'include'}", "-c", str(file)]}
        for file in (*folder.glob("*.c"), *folder.glob("*.S"))
    ]  # fmt: skip
    (folder / "compile_commands.json").write_text(json.dumps(commands))


def run(folder: Path, more: Iterable[Path], includes: Iterable[Path] = ()) -> str:
    """What the machine says of a program made of a folder and other files."""
    sources = [*folder.glob("*.c"), *folder.glob("*.S"), *more]
    program = folder.parent / f"{folder.name}.elf"
    flags = [f"-I{path}" for path in (folder, folder / "include", QEMU, *includes)]
    link = ["-nostartfiles", "-T", str(QEMU / "virt.ld"), "-Wl,--gc-sections"]
    command = [GCC, *IMAC, "-O2", *flags, *map(str, sources), *link, "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    machine = ["qemu-system-riscv32", "-machine", "virt", "-bios", "none", "-nographic"]
    machine += ["-icount", "shift=6", "-kernel", str(program)]
    done = subprocess.run(machine, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, f"ends with {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def test_original_and_port_switch_in_the_same_order(tmp_path: Path) -> None:
    original, ported = tmp_path / "original", tmp_path / "ported"
    project(original)
    fvmkit = [sys.executable, "-m", "composer.cli", "port", str(original), "--out", str(ported)]
    done = subprocess.run(fvmkit, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    text = (ported / "portASM_fvm.c").read_text()
    assert "void freertos_risc_v_trap_handler(void)" in text
    before = run(original, [QEMU / "bare.S"])
    guest = [RUNTIME / "include", RUNTIME / "arch" / "riscv32" / "include"]
    after = run(ported, [QEMU / "machine.S", QEMU / "machine.c"], guest)
    assert re.fullmatch(r"hash [0-9a-f]{8}\n", before)
    assert after == before
    right, wrong = "USR_LOAD(sp + 2, X5, X31);", "USR_LOAD(sp + 2, X5, X30);"
    assert right in text
    (ported / "portASM_fvm.c").write_text(text.replace(right, wrong))
    assert run(ported, [QEMU / "machine.S", QEMU / "machine.c"], guest) != before
