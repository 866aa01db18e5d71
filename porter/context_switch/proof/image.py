"""Linked code, and where the proof puts what."""

from __future__ import annotations

from dataclasses import dataclass

# Nothing that random memory holds, read at whatever address, is an address of code.
# Stubs are within the reach of every call, 1 MiB of RV32's jal.
CODE, STUBS, CONSTANTS = 0x0D00_0000, 0x0D08_0000, 0x0D60_0000
DATA, STATE = 0x2000_0000, 0x2010_0000
ARENA, PAGE = 0x2001_0000, 0x1000  # where pointers lead
STACK = 0x2002_0000
TOP = STACK + PAGE - 64
HANDLERS = 0x0D70_0000  # nothing there: numbers of handlers
RETURN = 0x0D80_0000  # nothing there: where a C function returns to


@dataclass(frozen=True)
class Image:
    """Linked code: `code` by the address it starts at, `functions` that are called by address.

    `entry` is the handler's address with bit 0 clear, `variables` how many words at DATA are in
    use, `own` the addresses of words that only the port has.
    """

    code: tuple[tuple[int, bytes], ...]
    entry: int
    functions: dict[int, str]
    variables: int
    registers: int = 32  # of RISC-V's, 16 on RV32E
    own: frozenset[int] = frozenset()
    scratch: int = 0  # RV32: the variable that stands for mscratch
    handlers: tuple[tuple[int, int], ...] = ()  # RV32: addresses of code, and their numbers
    stacks: tuple[tuple[int, int], ...] = ()  # begin and end of what may be one at DATA
    named: tuple[tuple[str, int, int], ...] = ()  # variables: name, begin and end

    def __hash__(self) -> int:
        return hash((self.code, self.entry, self.variables, tuple(self.functions)))

    def handler(self, mtvec: int) -> int:
        """What mtvec says, whatever the address of the function or table is in this image."""
        place = dict(self.handlers).get(mtvec & ~3)
        return mtvec if place is None else place | mtvec & 3

    def word(self, address: int, size: int = 4) -> int | None:
        """What code or constants hold at an address."""
        for start, chunk in self.code:
            if start <= address and address + size <= start + len(chunk):
                return int.from_bytes(chunk[address - start : address - start + size], "little")
        return None
