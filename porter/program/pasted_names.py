"""Which names the ## of a project's macros may make: who looks for such a name finds it nowhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from porter.program.c_text import CText
from porter.source.macros import Macro, parse_define

_PASTE = b"##"


class PastedNames:
    """Looks at the macros of C files."""

    def __init__(self, texts: Iterable[CText]) -> None:
        self._begins: set[bytes] = set()
        self._ends: set[bytes] = set()
        self._may_be_any = False
        for text in texts:
            for directive in text.lexed.directives:
                macro = parse_define(directive)
                if macro is not None and _PASTE in macro.text:
                    for operands in _chains(macro.text):
                        self._read(operands, macro)

    def may_make(self, name: bytes) -> bool:
        """Whether a name may come to be that is written nowhere."""
        return (
            self._may_be_any
            or any(map(name.startswith, self._begins))
            or any(map(name.endswith, self._ends))
        )

    def _read(self, operands: Sequence[bytes], macro: Macro) -> None:
        """What is known of the names that `first ## ... ## last` makes."""
        parameters = macro.parameters or ()
        first, last = operands[0], operands[-1]
        if first not in parameters:
            self._begins |= {first} if first != b"," else set()  # `, ## __VA_ARGS__` makes none
        elif last not in parameters:
            self._ends.add(last)
        else:
            self._may_be_any = True


def _chains(body: Sequence[bytes]) -> Iterator[list[bytes]]:
    """The operands of each a ## b ## c."""
    index = 0
    while index + 2 < len(body):
        operands = [body[index]]
        while index + 2 < len(body) and body[index + 1] == _PASTE:
            index += 2
            operands.append(body[index])
        if len(operands) > 1:
            yield operands
        index += 1
