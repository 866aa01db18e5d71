"""What the search, the code map and the following of constants need of an instruction set.

Everything works on arrays: one row an instruction, so that a whole program costs a few passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scanner.decode.code_space import CodeSpace
    from scanner.decode.effects import Constants, Direct, Effects
    from scanner.decode.marks import Marks

Halfwords = npt.NDArray[np.uint16]
Indices = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]


class Flow:
    """Where control goes behind an instruction. Plain numbers: arrays compare slowly with enums."""

    NEXT = 0
    JUMP = 1  # to the target only
    BRANCH = 2  # to the target or on
    CALL = 3  # to the target and, if that returns, on
    RETURN = 4  # back to the caller
    STOP = 5  # nowhere: a deliberate trap
    COMPUTED = 6  # to an address that a register or a table holds
    COMPUTED_CALL = 7  # the same, and back


class Flows(NamedTuple):
    """Rows of instructions; distances in halfwords from the start of each.

    `conditional` is how many of the following instructions may be skipped one by one (IT blocks).
    """

    kind: npt.NDArray[np.uint8]
    distance: npt.NDArray[np.int32]
    conditional: npt.NDArray[np.uint8]


class InstructionSet(Protocol):
    """One file an instruction set implements this; all tables are indexed by the first halfword."""

    name: str
    code_markers: bytes
    """Letters of the mapping symbols that begin code."""

    mixes_constants: bool
    """Whether compilers put constants between the instructions of a function."""

    starts_with_code: bool
    """Whether an image that names no entry is entered at its first address."""

    wide: Flags
    """Whether a first halfword begins an instruction of two halfwords."""

    ordinary: Flags
    """Whether it begins an instruction after which control always goes on."""

    register_jumps: tuple[tuple[int, int], ...]
    """Mask and match of the halfwords that jump or call by a register, returns aside."""

    link_reads: tuple[tuple[int, int], ...]
    """Mask and match of the first halfwords that may read the link register."""

    padding: tuple[int, ...]
    """Halfwords that assemblers fill gaps with."""

    wide_padding: tuple[int, int]
    """The halfwords of the instruction that they fill gaps of four bytes with."""

    arguments: int
    """Mask of the registers that carry arguments into a function."""

    clobbered: int
    """Mask of the registers that a call may change."""

    def join(
        self, first: npt.NDArray[np.uint32], second: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.uint32]:
        """The value of an instruction of two halfwords as the manual writes it."""

    def flows(self, first: Halfwords, second: Halfwords) -> Flows:
        """Decode instructions that are not ordinary."""

    def table_calls(self, space: CodeSpace, callees: npt.NDArray[np.int32]) -> Flags:
        """Which of the called functions jump by a table behind the call and don't come back."""

    def computed_targets(self, space: CodeSpace, starts: Marks, indices: Indices) -> Sequence[int]:
        """Where computed jumps and calls at the indices lead, as far as the code tells."""

    def pointers(self, space: CodeSpace, starts: Marks) -> Indices:
        """Functions whose addresses the instructions at the marked places make."""

    def literals(self, space: CodeSpace, starts: Marks) -> Indices:
        """Halfwords that the instructions at the marked places load as constants."""

    def tables(self, space: CodeSpace, starts: Marks) -> Indices:
        """Halfwords whose address the instructions at the marked places make as that of data."""

    def constants(self, space: CodeSpace, starts: Marks) -> tuple[Constants, Direct]:
        """Instructions at the marked places that complete a constant in a register.

        And accesses whose address needs no constant before them.
        """

    def effects(
        self, first: Halfwords, second: Halfwords, addresses: npt.NDArray[np.int64]
    ) -> Effects:
        """What instructions at addresses do to registers."""

    def code_addresses(self, pointers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The addresses that code pointers lead to, -1 for what can't be one."""

    def vectors(self, space: CodeSpace) -> Sequence[int]:
        """Code pointers that vector tables in the space hold; some may lead out of it."""

    def frames(self, space: CodeSpace) -> tuple[Indices, Indices]:
        """Stretches that look like functions: where each begins, and its last instruction."""
