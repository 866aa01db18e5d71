"""What a rule is made of. One file a rule family holds one rule and the samples that test it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from scanner.report.finding import Severity
from scanner.target import Target


@dataclass(frozen=True)
class Pattern:
    """Encodings with `value & mask == match`; a mask leaves should-be-zero bits out.

    A pattern that data rarely resembles is looked for at every even address. The others would
    match thousands of data words and count only where an instruction is known to begin.
    """

    bits: Literal[16, 32]
    mask: int
    match: int
    everywhere: bool = False


@dataclass(frozen=True)
class Judgement:
    """What one encoding means.

    `why` replaces the rule's own. `what` spells the instruction, mnemonic first, for encodings
    that Capstone does not know or takes for another instruction. `strict` is for what must not even
    be possible: it rejects wherever it may be an instruction.
    """

    severity: Severity
    why: str | None = None
    what: str | None = None
    strict: bool = False


@dataclass(frozen=True)
class InstructionRule:
    """Instructions that a guest must not hold.

    `judge` gets a matching value and what it is judged for, and returns None for what is allowed.
    `why` and `fix` follow the instruction in a finding; `hardware` says what a core does with it
    and `manual` where that is written. `invalid` and `valid` are assembly lines
    that the rule must and must not report under the default policy when they
    are assembled for the architecture `assembled_for`. `decisive` are the bits that a judgement's
    severity depends on: a flood of instructions is judged by these. A rule that `tells_cores` is
    about instructions that a core doesn't have: what traps by it was compiled for another.
    `harmless` are the halfwords of instructions in a row, the rule's last: so it misses nothing.
    """

    id: str
    why: str
    fix: str
    hardware: str
    manual: str
    patterns: tuple[Pattern, ...]
    judge: Callable[[int, Target], Judgement | None]
    invalid: tuple[str, ...]
    valid: tuple[str, ...]
    assembled_for: str = "armv7em"
    decisive: int = 0xFFFFFFFF
    tells_cores: bool = False
    harmless: tuple[tuple[int, ...], ...] = ()


AccessKind = Literal["read", "write", "jump", "address"]
_WORDS = {"read": "read of", "write": "write to", "address": "address of", "jump": "jump to"}


@dataclass(frozen=True)
class Access:
    """What is done at a constant address, or the making of one that leaves our sight.

    `value` is what a store writes, where that is constant too. Without `exact` an unknown index is
    added to the address. A jump `switches` if bit 0 of the address chooses the instruction set.
    """

    kind: AccessKind
    address: int
    value: int | None = None
    exact: bool = True
    switches: bool = False

    @property
    def words(self) -> str:
        """What is said before the name of what is accessed."""
        return _WORDS[self.kind]


@dataclass(frozen=True)
class AddressRule:
    """Addresses that a guest must not touch.

    Of the constants in `reach`, `covers` says which are worth following; `judge` describes an
    access (register name and effect) and returns None for what is allowed. A rule that
    `asks_grants` says nothing where none are known; for one that `judges_jumps` alone, constants
    are followed where a jump by register is close. To one that `doubts_numbers` a constant that
    leaves our sight is a possible address only. The samples are as in InstructionRule.
    """

    id: str
    why: str
    fix: str
    hardware: str
    manual: str
    severity: Severity
    reach: Callable[[Target], Sequence[range]]
    covers: Callable[[int, Target], bool]
    judge: Callable[[Access, Target], str | None]
    invalid: tuple[str, ...]
    valid: tuple[str, ...]
    assembled_for: str = "armv7em"
    asks_grants: bool = False
    judges_jumps: bool = False
    doubts_numbers: bool = False
