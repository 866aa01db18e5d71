"""Statements of assembler text that only give a number a name: an access is what uses the name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from porter.source.asm_text import EQUATES, Instruction

_BEHIND_LABEL = frozenset({"equ", "set", "define"})
_WORD = re.compile(r"[A-Za-z_.$][\w.$]*")


def names_number(it: Instruction) -> bool:
    """Whether it does nothing else."""
    return it.mnemonic in EQUATES or it.mnemonic in _BEHIND_LABEL


def only_named(text: Sequence[Instruction]) -> set[int]:
    """Where statements begin whose names nothing in this text uses, itself or by other names, or
    shows to other files."""
    namings: list[tuple[int, str, set[str]]] = []
    used: set[str] = set()
    for it, name, words in _words(text):
        if name is None:
            used |= words
        else:
            namings.append((it.start, name, words))
    while more := [words for _, name, words in namings if name in used and not words <= used]:
        used = used.union(*more)
    return {start for start, name, _ in namings if name not in used}


def _words(text: Sequence[Instruction]) -> Iterator[tuple[Instruction, str | None, set[str]]]:
    """Each statement with the name that it gives, None for none, and the others in it."""
    label = None
    for it in text:
        name, operands = None, it.operands
        if it.mnemonic in EQUATES and operands:
            name, operands = operands[0], operands[1:]
        elif it.mnemonic in _BEHIND_LABEL:
            name = label
        yield it, name, {word for operand in operands for word in _WORD.findall(operand)}
        label = it.label
