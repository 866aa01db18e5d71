"""SCB->AIRCR as a machine keeps it for code that asks how its priorities are grouped."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

from tests.host.compile import HERE

AIRCR = HERE.parents[1] / "fvm-runtime" / "guest" / "aircr.c"


def test_the_grouping_is_kept_and_nothing_else(tmp_path: Path) -> None:
    """ARMv7-M ARM, B3.2.6: written with its key, read with another one."""
    library = tmp_path / "aircr.so"
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    command += [f"-I{HERE / 'polled'}", str(AIRCR), "-o", str(library)]
    subprocess.run(command, check=True)
    register = ctypes.CDLL(str(library))
    register.virt_aircr.restype = ctypes.c_uint32
    read = [register.virt_aircr()]
    for value in (0x05FA_0304, 0x0000_0500, 0x05FA_0700):
        register.virt_aircr_set(ctypes.c_uint32(value))
        read.append(register.virt_aircr())
    assert read == [0xFA05_0000, 0xFA05_0300, 0xFA05_0300, 0xFA05_0700]
