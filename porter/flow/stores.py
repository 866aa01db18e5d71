"""What all files of a project say together of what is in the fields of structs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass, field

from porter.source.arithmetic import converted
from porter.source.c_types import CType
from porter.source.values import Number

Field = tuple[bytes, bytes]
"""Struct and member."""

WORD = re.compile(rb"[A-Za-z_]\w*")
_STRING = re.compile(rb'"((?:[^"\\\n]|\\.)*)"(\s*)')
_MAX_VALUES = 16


@dataclass
class Stores:
    """What all files say together. `values`: None for what may be anything; `lost`: structs whose
    objects others may write; `objects`, `functions`: what is declared under a name, as types;
    `words`: those of texts, as assembler and attributes have them."""

    values: dict[Field, set[int] | None] = field(default_factory=dict)
    lost: set[bytes] = field(default_factory=set)
    objects: dict[bytes, set[bytes]] = field(default_factory=dict)
    functions: dict[bytes, set[tuple[bytes, ...]]] = field(default_factory=dict)
    shared: set[bytes] = field(default_factory=set)
    """Objects that other files can name."""
    structs: dict[bytes, set[bytes]] = field(default_factory=dict)
    """Per name the structs that who has the object or may call the function can write."""
    kept: set[bytes] = field(default_factory=set)
    """Objects and functions that are defined."""
    called: set[bytes] = field(default_factory=set)
    entered: set[bytes] = field(default_factory=set)
    """Functions that are defined and take part."""
    words: set[bytes] = field(default_factory=set)

    def put(self, place: Field, value: Number | None, kind: CType) -> None:
        """A field of a type gets a value; None for one that nobody knows."""
        known = self.values.setdefault(place, set())
        if known is None or value is None or not holds_number(kind) or len(known) >= _MAX_VALUES:
            self.values[place] = None
        else:
            known.add(converted(value, kind).value)

    def settle(self, others: Iterable[bytes], pieces: Set[bytes], has_unseen: bool) -> None:
        """Who else has an object's name, or may call a function, has what it leads to. `others`:
        names that what is no C uses; `pieces`: of which it puts some together; `has_unseen`:
        whether there is code that nobody sees."""
        named = self.words.union(others)
        named |= {name for name in self.structs if pieces and _is_made_of(name, pieces)}
        named |= self.shared if has_unseen else set()
        named |= {name for name, kinds in self.objects.items() if len(kinds) > 1}
        named |= {name for name, sides in self.functions.items() if len(sides) > 1}
        named |= self.objects.keys() - self.kept
        named |= self.called - self.kept
        named |= self.entered - self.called - {b"main"}
        for name in named:
            self.lost |= self.structs.get(name, set())


def _is_made_of(name: bytes, pieces: Set[bytes]) -> bool:
    ends = {0}
    for end in range(1, len(name) + 1):
        if any(name[start:end] in pieces for start in ends):
            ends.add(end)
    return len(name) in ends


def holds_number(kind: CType) -> bool:
    """Whether an object has as its value what it is given, but for its size and sign."""
    is_integer = kind.kind == "scalar" and kind.is_integer and 0 < kind.size <= 4
    return is_integer and kind.name not in (b"bool", b"_Bool")


def words_of_texts(text: bytes) -> set[bytes]:
    """The words of every string, those beside each other taken as one."""
    found: set[bytes] = set()
    whole, end = b"", -1
    for match in _STRING.finditer(text):
        if match.start() != end:
            found.update(WORD.findall(whole))
            whole = b""
        whole += match[1]
        end = match.end()
    found.update(WORD.findall(whole))
    return found
