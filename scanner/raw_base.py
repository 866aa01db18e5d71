"""Where a raw binary of a Cortex-M lies: where its code pointers lead to beginnings of functions.

Pointers are the odd words of its vector table and of its literals. Under the right address most of
them lead to a PUSH of LR or behind the end of another function; under a wrong one few do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace, Piece
from scanner.decode.instruction_set import Indices
from scanner.decode.literals import LOADS, literals_of
from scanner.decode.select import has_form
from scanner.decode.thumb_vectors import table_pointers

_ALIGNMENT = 128
"""A table of 16 words and some interrupts lies at least on such an address (VTOR.TBLOFF)."""

_TABLE_WORDS = 16
_HANDLERS = (1, 2, 3, 11, 14, 15)
_RAM = range(0x1000_0000, 0xA000_0000)
_FEWEST, _CLEAR = 5, 0.15
"""So many pointers have to fit, roundness included, and so much more than elsewhere."""

_ROUNDEST, _ZEROS = 20, 2
"""Up to the first number of zero bits at its end, so many make an address worth another pointer."""

_CERTAIN, _HARDLY = 8, 4
"""With so many that fit elsewhere, an address is wrong where not one in so many of these does."""

_MOST = 2048
_ROW = 6
"""Bytes between two pointers that say something each."""

_PUSHES = ((0xFF00, 0xB500), (0xFFFF, 0xE92D))
_ENDS = ((0xFF00, 0xBD00), (0xFFFF, 0x4770), (0xFFFF, 0xE7FE))
_PADDING = ((0xFFFF, 0x0000), (0xFFFF, 0xBF00))

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Base:
    """An address, and how many of so many pointers fit if the first byte lies there."""

    address: int
    fitting: int
    pointers: int

    @property
    def text(self) -> str:
        """The reason to take it."""
        return (
            f"base 0x{self.address:08x}: {self.fitting} of {self.pointers} code pointers lead to "
            "beginnings of functions there"
        )


def fitting_base(data: bytes) -> Base | None:
    """The address that a binary which begins with a vector table fits; None if none stands out."""
    found = _Pointers(data)
    counts = found.counts()
    if not len(counts):
        return None
    addresses = found.first + _ALIGNMENT * np.arange(len(counts))
    scores = counts + _roundness(addresses)
    second, best = np.sort(np.append(scores, 0))[-2:].tolist()
    row = int(np.argmax(scores))
    if best < _FEWEST or best - second < _CLEAR * best or not counts[row]:
        return None
    return Base(int(addresses[row]), int(counts[row]), len(found.pointers))


def _roundness(addresses: Numbers) -> npt.NDArray[np.float64]:
    """What an address is worth by itself, in pointers: memories begin at round ones."""
    zeros = np.log2((addresses & -addresses | (addresses == 0) << _ROUNDEST).astype(np.float64))
    worth: npt.NDArray[np.float64] = (np.minimum(zeros, _ROUNDEST) - 7) / _ZEROS
    return worth


def why_elsewhere(data: bytes, base: int) -> str | None:
    """Why a binary hardly lies where the user says that it does."""
    found = fitting_base(data)
    if found is None or found.address == base or found.fitting < _CERTAIN:
        return None
    here = _Pointers(data).fitting(base)
    if _HARDLY * here > found.fitting:
        return None
    return (
        f"{here} of its code pointers lead to beginnings of functions at 0x{base:08x}; {found.text}"
    )


class _Pointers:
    """The code pointers of one binary, and the offsets where its functions seem to begin.

    `first` is the lowest address under which its handlers lie in it.
    """

    def __init__(self, data: bytes) -> None:
        space = CodeSpace([Piece(0, memoryview(data), 0)])
        handlers = _handlers(data, len(data))
        self.first, self._last = 0, -1
        if len(handlers):
            lowest = max(int(handlers.max()) - len(data), 0)
            self.first, self._last = lowest + -lowest % _ALIGNMENT, int(handlers.min())
        literals = _literals(space)
        table = [*table_pointers(data)] if len(handlers) else []
        pointers = np.union1d(np.array(table, dtype=np.int64) - 1, _code_pointers(space, literals))
        inside = (pointers >= self.first) & (pointers < self._last + len(data))
        self.pointers = _apart(np.union1d(handlers, pointers[inside][:_MOST]))
        self._begins = 2 * _begins(space, literals)[: 2 * _MOST]

    def counts(self) -> npt.NDArray[np.intp]:
        """How many pointers lead to a beginning, for each address from the first one on."""
        room = (self._last - self.first) // _ALIGNMENT + 1
        counts = np.zeros(max(room, 0), dtype=np.intp)
        for pointer in self.pointers.tolist() if room > 0 else ():
            bases = pointer - self._begins - self.first
            bases = bases[(bases >= 0) & (bases % _ALIGNMENT == 0)] // _ALIGNMENT
            counts[bases[bases < room]] += 1
        return counts

    def fitting(self, base: int) -> int:
        """The same for one address."""
        return int(np.isin(self.pointers - base, self._begins).sum())


def begins_with_table(beginning: bytes, size: int) -> bool:
    """Whether a file of so many bytes that begins like this begins with a vector table."""
    return len(_handlers(beginning, size)) > 0


def _handlers(data: bytes, size: int) -> Numbers:
    """Where the vector table leads to; nowhere if the binary doesn't begin with one."""
    nowhere = np.zeros(0, dtype=np.int64)
    if len(data) < 4 * _TABLE_WORDS:
        return nowhere
    words = np.frombuffer(data, dtype="<u4", count=_TABLE_WORDS).astype(np.int64)
    handlers = words[list(_HANDLERS)]
    handlers = np.unique(handlers[handlers != 0])
    is_stack = int(words[0]) in _RAM and words[0] % 4 == 0
    if not is_stack or words[1] == 0 or not (handlers % 2).all():
        return nowhere
    return handlers - 1 if handlers[-1] - handlers[0] < size else nowhere


def _literals(space: CodeSpace) -> Indices:
    """First halfwords of what may be loaded as constants."""
    _, places = literals_of(space, np.flatnonzero(has_form(space.halfwords, LOADS)))
    return np.unique(places)


def _code_pointers(space: CodeSpace, literals: Indices) -> Numbers:
    """The odd ones of these constants, less bit 0."""
    low, high = (space.halfwords[literals + n].astype(np.int64) for n in (0, 1))
    words = np.unique(low | high << 16)
    found: Numbers = words[words % 2 == 1] - 1
    return found


def _apart(pointers: Numbers) -> Numbers:
    """One of each row: handlers of a few bytes each fit wherever a row of the like is."""
    return pointers[np.diff(pointers, prepend=-_ROW) >= _ROW]


def _begins(space: CodeSpace, literals: Indices) -> Numbers:
    """Halfwords that push LR, or stand behind the end of a function and its constants."""
    words = space.halfwords
    behind = np.flatnonzero(has_form(words, _ENDS)) + 1
    pads = has_form(words.take(behind, mode="clip"), _PADDING)
    pools = np.setdiff1d(literals + 2, literals)
    found = [np.flatnonzero(has_form(words, _PUSHES)), behind, behind[pads] + 1, pools]
    return np.unique(np.concatenate(found)).astype(np.int64)
