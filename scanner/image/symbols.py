"""The symbol table: which bytes are code, where functions begin, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scanner.image.demangle import readable
from scanner.report.one_line import one_line

Addresses = npt.NDArray[np.uint32]

_ENTRY = np.dtype(
    [("name", "<u4"), ("value", "<u4"), ("size", "<u4"), ("info", "u1"), ("other", "u1"),
     ("section", "<u2")]
)  # fmt: skip
_NOTYPE, _FUNC, _IFUNC = 0, 2, 10
_NOWHERE = 0xFF
"""Instead of the kind of a symbol that has no place in the program."""

_NAME_LENGTH, _MANGLED_BYTES = 256, 1024
_NESTED = 64
"""So many functions may begin inside of another one before it is lost sight of."""


class SymbolTable:
    """Symbols of a 32-bit little-endian ELF file, decoded by columns.

    `in_memory` says of each section whether it has a place there. Debug sections don't, and yet
    their mapping symbols hold small numbers that look like addresses of code.
    """

    def __init__(self, table: bytes | memoryview, names: bytes, in_memory: Sequence[bool]) -> None:
        entries = np.frombuffer(table, dtype=_ENTRY)
        known = np.array([*in_memory, False])
        placed = known[np.minimum(entries["section"], len(in_memory))]
        self._entries = entries
        self._names = names
        self._kinds = np.where(placed, entries["info"] & 0xF, np.uint8(_NOWHERE))
        self._marker = self._marker_letters()

    def _marker_letters(self) -> npt.NDArray[np.uint8]:
        """For `$t`, `$d`, `$x`, `$t.anything` and `$xrv32i...` the letter, else 0."""
        text = np.frombuffer(self._names + b"\0\0\0", dtype=np.uint8)
        at = np.minimum(self._entries["name"], len(self._names))
        ends = (text[np.minimum(at + 2, len(text) - 1)] == 0) | (
            text[np.minimum(at + 2, len(text) - 1)] == ord(".")
        )
        letter, third, fourth = (text[np.minimum(at + n, len(text) - 1)] for n in (1, 2, 3))
        ends |= (letter == ord("x")) & (third == ord("r")) & (fourth == ord("v"))
        is_marker = (text[at] == ord("$")) & ends & (self._kinds == _NOTYPE)
        return np.where(is_marker, letter, 0).astype(np.uint8)

    def _is_local(self) -> npt.NDArray[np.bool_]:
        """Labels such as `.L0` and `.Lpcrel_hi0`, which ELF's assemblers keep for themselves."""
        text = np.frombuffer(self._names + b"\0\0", dtype=np.uint8)
        at = np.minimum(self._entries["name"], len(self._names))
        is_local: npt.NDArray[np.bool_] = (text[at] == ord(".")) & (text[at + 1] == ord("L"))
        return is_local

    @property
    def has_markers(self) -> bool:
        """Whether there are mapping symbols, which say of all memory what it holds."""
        return bool(self._marker.any())

    def markers(self, letters: bytes) -> tuple[Addresses, npt.NDArray[np.bool_]]:
        """Addresses of all mapping symbols, sorted, and whether each is one of `letters`."""
        chosen = np.flatnonzero(self._marker)
        addresses = self._entries["value"][chosen]
        order = np.argsort(addresses, kind="stable")
        wanted = np.isin(self._marker[chosen[order]], np.frombuffer(letters, dtype=np.uint8))
        return addresses[order].astype(np.uint32), wanted

    def functions(self) -> tuple[Addresses, Addresses]:
        """Values and sizes of function symbols as they stand in the file, bit 0 included."""
        entries = self._entries[self._are_functions]
        return entries["value"].astype(np.uint32), entries["size"].astype(np.uint32)

    def function_at(self, address: int) -> str | None:
        """The innermost function that holds an address; else the last label before it, unsized.

        Labels that compilers and assemblers make for themselves are nobody's names.
        """
        starts, rows, furthest = self._sized
        last = int(np.searchsorted(starts, address, "right")) - 1
        for position in range(last, max(last - _NESTED, -1), -1):
            if furthest[position] <= address:
                break  # nothing that begins here or before reaches so far
            if address < starts[position] + int(self._entries["size"][rows[position]]):
                return self._name(rows[position])
        starts, rows = self._named
        last = int(np.searchsorted(starts, address, "right"))
        if last and not self._entries["size"][rows[last - 1]]:
            return self._name(rows[last - 1])
        return None

    def extent(self, name: str) -> tuple[int, int] | None:
        """Address, bit 0 clear for functions, and size of what has this name; None: nothing has."""
        for row in self._rows(name):
            if self._kinds[row] != _NOWHERE:
                entry = self._entries[row]
                return int(entry["value"]) & ~int(self._is_function(row)), int(entry["size"])
        return None

    def value(self, name: str) -> int | None:
        """The address of what has this name, wherever it has a place or none; None: nothing has."""
        for row in self._rows(name):
            if self._entries["section"][row]:
                return int(self._entries["value"][row]) & ~int(self._is_function(row))
        return None

    def functions_named(self, pattern: str) -> list[range]:
        """The extents of functions whose name in the file a pattern of the shell fits."""
        matches = re.compile(translate(pattern).encode()).fullmatch
        found = []
        for row in np.flatnonzero(self._are_functions & (self._entries["size"] > 0)):
            start = int(self._entries["name"][row])
            if matches(self._names[start : start + _MANGLED_BYTES].partition(b"\0")[0]):
                address = int(self._entries["value"][row]) & ~1
                found.append(range(address, address + int(self._entries["size"][row])))
        return found

    @cached_property
    def _are_functions(self) -> npt.NDArray[np.bool_]:
        are: npt.NDArray[np.bool_] = (self._kinds == _FUNC) | (self._kinds == _IFUNC)
        return are

    def _is_function(self, row: np.intp) -> bool:
        return int(self._entries["info"][row]) & 0xF in (_FUNC, _IFUNC)

    def _rows(self, name: str) -> npt.NDArray[np.intp]:
        """What has this name."""
        # Names may share their ends in the table of names, so any place in it can be one's start.
        starts = [
            found.start() for found in re.finditer(re.escape(name.encode() + b"\0"), self._names)
        ]
        return np.flatnonzero(np.isin(self._entries["name"], starts))

    @cached_property
    def _sized(
        self,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.intp], npt.NDArray[np.int64]]:
        """Those of `_named` that have a size, and the furthest end up to each of them."""
        starts, rows = self._named
        sizes = self._entries["size"][rows].astype(np.int64)
        starts, rows, ends = (column[sizes > 0] for column in (starts, rows, starts + sizes))
        return starts, rows, np.maximum.accumulate(ends)

    @cached_property
    def _named(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.intp]]:
        """Addresses and rows of functions and labels; of several at one place the best is last."""
        is_label = (self._kinds == _NOTYPE) & (self._marker == 0) & (self._entries["name"] != 0)
        is_label &= ~self._is_local()
        is_function = self._are_functions
        rows = np.flatnonzero(is_function | is_label)
        addresses = self._entries["value"][rows] & ~np.uint32(1)
        binding = self._entries["info"][rows] >> 4
        strength = np.choose(np.minimum(binding, 2), (1, 2, 0))  # weak < local < global
        grades = (self._entries["size"][rows] > 0) * 6 + is_function[rows] * 3 + strength
        order = np.argsort(addresses.astype(np.int64) * 12 + grades, kind="stable")
        return addresses[order].astype(np.int64), rows[order]

    def _name(self, row: np.intp) -> str | None:
        start = int(self._entries["name"][row])
        text = self._names[start : start + _MANGLED_BYTES].partition(b"\0")[0]
        name = printable(text)
        return (readable(name) if len(text) < _MANGLED_BYTES else name)[:_NAME_LENGTH] or None


def printable(text: bytes) -> str:
    """Names from a file, with nothing in them that could move a terminal's cursor."""
    return one_line(text.decode("utf-8", "replace"))
