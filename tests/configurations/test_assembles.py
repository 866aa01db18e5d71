"""The kernel's assembler, for every core and with every combination of what it is compiled by.

One that nobody had built wasn't to be had at all: run-time capabilities and ports on a Cortex-M3.
"""

from __future__ import annotations

import subprocess
from itertools import product
from pathlib import Path

import pytest

from composer.sources import runtime_folder

CORES = {"cortex-m3": 0, "cortex-m4": 1, "cortex-m7": 1}
SWITCHES = {
    "FVM_VCPUS": (0, 2),
    "FVM_HELD_WORDS": (0, 1),
    "FVM_PROCESS_LINES": (0, 1),
    "FVM_PROCESS_FPU": (0, 1),
    "FVM_PORTS": (0, 1),
    "FVM_SLOTS": (0, 4),
}
OTHERS = {
    "FVM_THREAD_CALLS": 0, "FVM_MEMORY_WORDS": 0, "FVM_MPU_ENABLE": 1, "FVM_IRQS": 82,
    "FVM_VECTORS": 5, "FVM_CPU_HZ": 168000000, "FVM_TICK_HZ": 1000,
}  # fmt: skip
NO_LINES = ".macro line_vectors\n.endm\n.macro line_stubs\n.endm\n"


@pytest.mark.parametrize("core", CORES)
def test_every_combination_of_switches_assembles(core: str, tmp_path: Path) -> None:
    (tmp_path / "fvm_config.h").write_text("")
    (tmp_path / "fvm_lines.inc").write_text(NO_LINES)
    runtime = runtime_folder()
    folders = (tmp_path, runtime, runtime / "include", runtime / "arch" / "armv7m" / "include")
    fpu = CORES[core]
    for values in product(*SWITCHES.values()):
        chosen = dict(zip(SWITCHES, values, strict=True)) | OTHERS | {"FVM_FPU": fpu}
        if chosen["FVM_PROCESS_FPU"] > fpu or chosen["FVM_HELD_WORDS"] > chosen["FVM_VCPUS"]:
            continue
        done = subprocess.run(
            ["arm-none-eabi-gcc", f"-mcpu={core}", "-mthumb", "-c", "-O2", "-o", "/dev/null",
             *(f"-I{folder}" for folder in folders), *(f"-D{k}={v}" for k, v in chosen.items()),
             str(runtime / "arch" / "armv7m" / "entry.S")],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{chosen}\n{done.stderr}"
