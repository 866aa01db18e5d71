"""Where the instructions of an operation go: by function, and one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import capstone
from elftools.elf.elffile import ELFFile

from benchmarks.counting import Image


def by_function(image: Image, path: Sequence[int]) -> Iterator[str]:
    """A line a function, most instructions first."""
    total = Counter(image.symbols.function(pc) for pc in path)
    for function, count in total.most_common():
        yield f"{count:6}  {function.name} ({function.image})"


def in_order(image: Image, path: Sequence[int]) -> Iterator[str]:
    """A line for each stay in a function, as they followed each other."""
    for function, stay in groupby(path, image.symbols.function):
        yield f"{len(list(stay)):6}  {function.name} ({function.image})"


def listing(image: Image, path: Sequence[int]) -> Iterator[str]:
    """Every instruction."""
    code = Code(image.elf)
    function = None
    for number, pc in enumerate(path):
        here = image.symbols.function(pc)
        if here != function:
            function = here
            yield f"{here.name} ({here.image})"
        yield f"{number:6}  {pc:08x}  {code.text(pc)}"


class Code:
    """The instructions of an image as text."""

    def __init__(self, elf: Path) -> None:
        with elf.open("rb") as file:
            self._segments = [
                (s["p_paddr"], s.data()) for s in ELFFile(file).iter_segments("PT_LOAD")
            ]
        mode = capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS
        self._decoder = capstone.Cs(capstone.CS_ARCH_ARM, mode)

    def text(self, pc: int) -> str:
        """The instruction at an address."""
        for base, data in self._segments:
            if base <= pc < base + len(data):
                code = data[pc - base : pc - base + 4]
                for _, _, mnemonic, operands in self._decoder.disasm_lite(code, pc, 1):
                    return f"{mnemonic} {operands}"
        return "?"
