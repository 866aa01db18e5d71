"""Registers of a procedure call standard, by their names."""

from __future__ import annotations

from dataclasses import dataclass

FLAGS = "the flags"


@dataclass(frozen=True)
class CallRegisters:
    """`destroyed`: by a call; a word's result is the first argument's, others are in `results`.
    `safe`: how a person calls those that are kept, `link`: where the address to return to is."""

    arguments: tuple[str, ...]
    destroyed: frozenset[str]
    results: tuple[str, ...]
    kept: frozenset[str]
    safe: str
    link: str
