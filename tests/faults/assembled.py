"""Machine code of crimes: assembler text for a place in the victim's flash."""

from __future__ import annotations

import struct
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

_LEAD = ".syntax unified\n.thumb\n.fpu fpv4-sp-d16\n.text\n.thumb_func\n.global _start\n_start:\n"


@dataclass(frozen=True)
class Assembled:
    """Words, and where the labels are."""

    start: int
    words: tuple[int, ...]
    labels: Mapping[str, int]

    def word_at(self, label: str) -> int:
        """The word that has a label."""
        return self.words[(self.labels[label] - self.start) // 4]


def assemble(text: str, address: int, names: Mapping[str, int]) -> Assembled:
    """Code whose first instruction is at `address`; it may name `names` and Thumb labels."""
    with tempfile.TemporaryDirectory(prefix="fvm-") as folder:
        source, elf = Path(folder) / "crime.S", Path(folder) / "crime.elf"
        source.write_text(f"{_LEAD}{text}\n.balign 4\n.ltorg\n.balign 4\n", "utf-8")
        defined = [f"-Wl,--defsym={name}={value}" for name, value in names.items()]
        done = subprocess.run(
            ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-nostdlib",
             f"-Wl,-Ttext=0x{address:x}", *defined, "-o", str(elf), str(source)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{text}\n{done.stderr}"
        with elf.open("rb") as file:
            image = ELFFile(file)
            data = image.get_section_by_name(".text").data()
            table = image.get_section_by_name(".symtab")
            assert isinstance(table, SymbolTableSection)
            labels = {s.name: s["st_value"] & ~1 for s in table.iter_symbols() if s.name}
    data += bytes(-len(data) % 4)
    return Assembled(address, struct.unpack(f"<{len(data) // 4}I", data), labels)
