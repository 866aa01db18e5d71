"""What the engine needs to know of an architecture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from scanner.decode.instruction_set import InstructionSet
from scanner.rules.model import AddressRule, InstructionRule, Pattern


class Disassembler(Protocol):
    """Turns what the tables found into text."""

    def text(self, code: bytes) -> str | None:
        """The one instruction that the bytes are, or None where it is not known."""


@dataclass(frozen=True)
class Architecture:
    """One core's instruction set and rules.

    `runs` names the architectures whose code runs on it, its own among them; they are the names
    that loaders read from a file's attributes. `newer` are instructions that programs for it use
    and no smaller core of its machine has.
    """

    name: str
    runs: tuple[str, ...]
    isa: InstructionSet
    disassembler: Disassembler
    rules: tuple[InstructionRule, ...]
    address_rules: tuple[AddressRule, ...]
    newer: tuple[Pattern, ...] = ()
