"""What the search and the code map need to know of an instruction set."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scanner.decode.code_space import CodeSpace

Halfwords = npt.NDArray[np.uint16]
Indices = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]


class FlowKind(Enum):
    """Where control goes behind an instruction."""

    NEXT = "next"
    JUMP = "jump"  # to the target only
    BRANCH = "branch"  # to the target or on
    CALL = "call"  # to the target and, if that returns, on
    RETURN = "return"  # back to the caller, or to an address that is computed
    STOP = "stop"  # nowhere: a deliberate trap


class Flow(NamedTuple):
    """Lengths and distances in halfwords; `distance` counts from the instruction's start.

    `conditional` is how many of the following instructions may be skipped one by one (IT blocks).
    """

    kind: FlowKind
    length: int
    distance: int = 0
    conditional: int = 0


class InstructionSet(Protocol):
    """One file an instruction set implements this; all tables are indexed by the first halfword."""

    name: str
    code_markers: bytes
    """Letters of the mapping symbols that begin code."""

    wide: Flags
    """Whether a first halfword begins an instruction of two halfwords."""

    ordinary: Flags
    """Whether it begins an instruction after which control always goes on."""

    def join(
        self, first: npt.NDArray[np.uint32], second: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.uint32]:
        """The value of an instruction of two halfwords as the manual writes it."""

    def first_half(self, bits: int, value: int) -> int:
        """The part of a mask or match value that lies in the first halfword."""

    def literals(self, space: CodeSpace, starts: Flags) -> Indices:
        """Halfwords that the instructions at the marked places load as constants."""

    def flow(self, first: int, second: int) -> Flow:
        """Decode an instruction that is not ordinary."""

    def code_address(self, pointer: int) -> int | None:
        """The address a code pointer leads to, or None if it can't be one."""

    def vector_entries(self, words: Sequence[int]) -> list[int]:
        """Code pointers of a vector table that the words may be, or nothing."""
