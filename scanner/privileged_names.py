"""What `--privileged` and a policy's `privileged` take: BEGIN-END, a section, functions' names."""

from __future__ import annotations

import re

NOTHING = "none"
"""Judges all code, whatever layout the program has."""

NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|\d+")
_ADDRESS_END = 1 << 32


def check(text: str) -> None:
    """Raise ValueError for what can name nothing in any program."""
    first, dash, second = text.partition("-")
    if not text:
        raise ValueError("an empty name")
    if dash and NUMBER.fullmatch(first) and NUMBER.fullmatch(second):
        begin, end = int(first, 0), int(second, 0)
        if not begin < end <= _ADDRESS_END:
            raise ValueError(f"'{text}' ends before it begins")
    elif NUMBER.fullmatch(text):
        raise ValueError(f"'{text}' is one address; a range is BEGIN-END")
