"""What a run did to the chip: writes to registers, thresholds, and what could not be followed."""

from __future__ import annotations

from dataclasses import dataclass, field

from porter.execution.program import Where
from porter.execution.words import MASK, Value, Word, as_word


@dataclass(frozen=True)
class Write:
    """A write to a register. `touched`: the bits that it may have changed. `where`: the line that
    chose what is written, a caller of a helper function; `function`: the one that line is in."""

    address: int
    value: Value
    touched: int
    where: Where
    function: str


@dataclass(frozen=True)
class Threshold:
    """A value that goes into BASEPRI."""

    value: int
    where: Where


@dataclass
class Record:
    """In the order of the run. `unclear`: lines that write to a register of a block that isn't
    known, with their function; `missing`: functions without sources that are given an address of
    the chip."""

    writes: list[Write] = field(default_factory=list)
    reads: dict[int, Where] = field(default_factory=dict)
    thresholds: list[Threshold] = field(default_factory=list)
    unclear: dict[Where, str] = field(default_factory=dict)
    executed: set[str] = field(default_factory=set)
    missing: dict[str, Where] = field(default_factory=dict)
    complete: bool = True

    def to(self, address: int) -> list[Write]:
        """Writes to one register."""
        return [write for write in self.writes if write.address == address]


def touched(value: Value, address: int) -> int:
    """The bits that a write changes: not those that it puts back as they were read."""
    if isinstance(value, Word) and value.source == address:
        return MASK & ~value.kept
    return MASK


def settled(value: Value) -> Value:
    """A written value as the register holds it."""
    word = as_word(value)
    return None if word is None else Word(word.value, word.known)
