"""Memory of an emulated processor that Python has, too.

A run sets up some pages and is compared in them, at every call and at its end. Where the pages are
the emulator's own, each look is a call of it that copies.
"""

from __future__ import annotations

import ctypes
from mmap import mmap
from typing import Any


class Pages:
    """Pages that both have. Raises KeyError for an address that isn't in any of them."""

    def __init__(self, uc: Any) -> None:
        self._uc = uc
        self._pages: dict[int, mmap] = {}  # by the address of their first byte
        self._ends: list[tuple[int, int]] = []

    def map(self, address: int, size: int, rights: int) -> None:
        """`size`: bytes, whole pages."""
        pages = mmap(-1, size)
        self._pages[address] = pages
        self._ends.append((address, address + size))
        place = ctypes.addressof(ctypes.c_char.from_buffer(pages))
        self._uc.mem_map_ptr(address, size, rights, place)

    def write(self, address: int, words: bytes) -> None:
        """Bytes from an address up."""
        pages, offset = self._find(address)
        pages[offset : offset + len(words)] = words

    def read(self, address: int, size: int) -> bytes:
        """So many bytes from an address up."""
        pages, offset = self._find(address)
        return pages[offset : offset + size]

    def _find(self, address: int) -> tuple[mmap, int]:
        if address in self._pages:
            return self._pages[address], 0
        for begin, end in self._ends:
            if begin <= address < end:
                return self._pages[begin], address - begin
        raise KeyError(hex(address))
