"""Addresses in words: functions and source lines, owners of memory, kinds of access."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import capstone

from composer.image.binary import read_binary
from composer.image.composed import Composed, Part
from scanner.image.model import Image

INSTRUCTION_BYTES = 4
STORES = ("st", "vst", "push", "vpush")
LOADS = ("ld", "vld", "pop", "vpop", "tb")  # tb: table branches
SYSTEM_SPACE = range(0xE0000000, 0xE0100000)  # the core's own registers (Armv7-M)


class Code:
    """One part's program."""

    def __init__(self, image: Image) -> None:
        self._image = image

    @cached_property
    def _decoder(self) -> capstone.Cs:
        return capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)

    def holds(self, address: int) -> bool:
        """Whether the program has an instruction there."""
        return any(
            segment.executable and segment.address <= address < segment.end
            for segment in self._image.segments
        )

    def function(self, address: int) -> str | None:
        """The function that holds an address, without what GCC appends to copies of it."""
        symbols = self._image.symbols
        name = None if symbols is None else symbols.function_at(address)
        return None if name is None else name.partition(".")[0]

    def address(self, name: str) -> int | None:
        """Where a function or variable is; None when the program has none of that name."""
        symbols = self._image.symbols
        found = None if symbols is None else symbols.extent(name)
        return None if found is None else found[0]

    def place(self, address: int) -> str:
        """`function file.c:line`, or as much of it as is known; at least the address."""
        lines = self._image.lines
        source = None if lines is None else lines.locate([address]).get(address)
        known = [self.function(address), source and Path(source).name]
        return " ".join(part for part in known if part) or f"0x{address:08x}"

    def access(self, address: int) -> str:
        """What the instruction at an address does to memory: write to, read of, access to."""
        mnemonic = self._mnemonic(address)
        if mnemonic.startswith(STORES):
            return "write to"
        return "read of" if mnemonic.startswith(LOADS) else "access to"

    def is_breakpoint(self, address: int | None) -> bool:
        """Whether the instruction at an address is BKPT, which without a debugger is a fault."""
        return address is not None and self._mnemonic(address) == "bkpt"

    def _mnemonic(self, address: int) -> str:
        for segment in self._image.segments:
            if segment.executable and segment.address <= address < segment.end:
                start = address - segment.address
                code = bytes(segment.data[start : start + INSTRUCTION_BYTES])
                for instruction in self._decoder.disasm(code, address, 1):
                    return str(instruction.mnemonic)
        return ""


class Places:
    """Every part of a composed system; ELFs are read when they are first asked for."""

    def __init__(self, system: Composed) -> None:
        self._system = system
        self._code: dict[str, Code] = {}

    @property
    def parts(self) -> tuple[Part, ...]:
        """Kernel and domains."""
        return self._system.parts

    def part(self, name: str) -> Part | None:
        """The domain of that name."""
        return next((part for part in self._system.parts if part.name == name), None)

    def code(self, name: str) -> Code:
        """The program of a part; the name must be one of the system's."""
        if name not in self._code:
            self._code[name] = Code(read_binary(name, self._system.elf(name)).image)
        return self._code[name]

    def owner(self, address: int) -> str:
        """Whose an address is: `sensor-node RAM`, `motor-controller USART1`, `shared link`."""
        for part in self._system.parts:
            for grant in part.grants:
                if grant.base <= address < grant.end:
                    return {
                        "code": f"{part.name} flash",
                        "ram": f"{part.name} RAM",
                        "shared": f"shared {grant.name}",
                    }.get(grant.kind, f"{part.name} {grant.name}")
        return "system control space" if address in SYSTEM_SPACE else "granted to nobody"
