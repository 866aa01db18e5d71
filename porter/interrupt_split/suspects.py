"""Which text is worth a look: names, numbers and fields that may lead to the device.

Evaluating every expression of a firmware takes long; most of it has nothing to do with one device.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from porter.interrupt_split.functions import Function
from porter.project.domain import Split
from porter.source.c_tree import Node, text_of
from porter.source.evaluate import Evaluator
from porter.source.values import Number, Place, Pointer

_WORD = re.compile(rb"[A-Za-z_]\w*|0[xX][0-9A-Fa-f]+")
_DEPTH = 12  # macros within macros


class Suspects:
    """Answers for one device, remembering what it found."""

    def __init__(self, split: Split) -> None:
        self._split = split
        self._suspects: dict[tuple[int, bytes], bool] = {}
        self._fields: dict[int, re.Pattern[bytes]] = {}

    def may_touch(self, function: Function, node: Node) -> bool:
        """Whether a text may name the device: by a macro, a number, a pointer variable, or a
        field of its struct."""
        text = text_of(node)
        if self._field_pattern(function.evaluator).search(text):
            return True
        words = set(_WORD.findall(text))
        return any(
            self._suspect(function.evaluator, word, 0) or self._leads_there(function, word)
            for word in words
        )

    def _leads_there(self, function: Function, word: bytes) -> bool:
        """Whether a name is a variable that holds an address of the device."""
        value = function.scope(word)
        return isinstance(value, Pointer) and (
            value.address is not None and self._is_near(value.address)
        )

    def _field_pattern(self, evaluator: Evaluator) -> re.Pattern[bytes]:
        if id(evaluator) not in self._fields:
            pointer = evaluator.name(self._split.device.encode())
            names: Iterable[bytes] = ()
            if isinstance(pointer, Pointer):
                names = evaluator.types.members(pointer.type)
            fields = b"|".join(re.escape(name) for name in names)
            pattern = rb"(?:->|\.)\s*(?:" + fields + rb")\b" if fields else rb"(?!)"
            self._fields[id(evaluator)] = re.compile(pattern)
        return self._fields[id(evaluator)]

    def _suspect(self, evaluator: Evaluator, word: bytes, depth: int) -> bool:
        key = (id(evaluator), word)
        if key not in self._suspects:
            self._suspects[key] = False  # a macro that is defined by itself
            self._suspects[key] = self._find_suspect(evaluator, word, depth)
        return self._suspects[key]

    def _find_suspect(self, evaluator: Evaluator, word: bytes, depth: int) -> bool:
        if word[:1].isdigit():
            return len(word) >= 10 and self._is_near(int(word, 16))
        macro = evaluator.macros.get(word)
        if macro is not None and macro.parameters is not None:
            if self._field_pattern(evaluator).search(b"".join(macro.text)):
                return True
            return depth < _DEPTH and any(
                self._suspect(evaluator, token.text, depth + 1)
                for token in macro.body
                if token.kind in ("identifier", "number") and _WORD.fullmatch(token.text)
            )
        match evaluator.name(word) if macro is not None else None:
            case Number(value=address) | Pointer(address=int() as address):
                return self._is_near(address)
            case Place(address=int() as address):
                return self._is_near(address)
        return False

    def _is_near(self, address: int) -> bool:
        """In the block, its bit-band aliases, or where code that adds an offset would begin."""
        start, end = self._split.base, self._split.base + self._split.size
        alias = 0x4200_0000 + (start - 0x4000_0000) * 32
        return start & ~0xFFFF <= address < end or alias <= address < alias + self._split.size * 32
