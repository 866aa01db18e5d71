"""Which way a running kernel's branches went: the plugin, and the file that it writes."""

from __future__ import annotations

import struct
import subprocess
from functools import cache
from pathlib import Path

from tests.configurations.branches import Assembler

HERE = Path(__file__).parent
SUCCESSORS = 8  # as in plugin/edges.c
_PLUGIN = HERE / "plugin" / "edges.c"
_INCLUDE = HERE.parents[1] / "composer" / "simulate" / "plugin"


@cache
def _compiled(folder: Path) -> Path:
    target = folder / "edges.so"
    subprocess.run(
        ["cc", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2", "-shared", "-fPIC",
         f"-I{_INCLUDE}", "-o", str(target), str(_PLUGIN)],
        check=True,
    )  # fmt: skip
    return target


class Edges:
    """Of one run."""

    def __init__(self, assembler: Assembler, folder: Path) -> None:
        self._assembler = assembler
        self._file = folder / "edges"
        code = assembler.range
        size = 8 + len(code) // 2 * SUCCESSORS * 4
        self._file.write_bytes(struct.pack("<II", code.start, code.stop) + bytes(size - 8))
        plugin, file = (str(p).replace(",", ",,") for p in (_compiled(folder), self._file))
        self.options = ("-plugin", f"{plugin},edges={file}")

    def taken(self) -> set[tuple[str, str]]:
        """Places and directions, of all but IT instructions."""
        data = self._file.read_bytes()
        found = set()
        for branch in self._assembler.branches:
            index = (branch.address - self._assembler.range.start) // 2
            nexts = struct.unpack_from(f"<{SUCCESSORS}I", data, 8 + 4 * SUCCESSORS * index)
            found |= {(branch.place, name) for to, name in branch.ways if to in nexts}
        return found
