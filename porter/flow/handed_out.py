"""Functions that something outside the project calls, and so with structs that it has filled.

A library calls back what it was given, and what is called as it expects. A function that is put
into a member through which the project itself calls is the project's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from porter.program.c_text import CText
from porter.program.functions import head_of
from porter.source.c_lexer import Token
from porter.source.token_tools import matching

_MEMBER = frozenset({b".", b"->"})
_NO_TYPE = frozenset({b"const", b"volatile", b"struct", b"restrict", b"__restrict", b"register"})


class HandedOut:
    """Looks at the C files of one project. `defined`: the functions that it has; `unused`: those
    that aren't in the program, which nobody calls."""

    def __init__(
        self, texts: Sequence[CText], defined: frozenset[bytes], unused: Set[bytes]
    ) -> None:
        self._texts, self._defined, self._unused = texts, defined, unused

    def parameters(self) -> set[bytes]:
        """Types to which such functions get a pointer."""
        pointers: dict[bytes, set[bytes]] = {}
        own: set[bytes] = {b"main"}  # what no other file can call by its name
        for text in self._texts:
            for name, types, is_own in _pointers(text):
                if name in self._unused:
                    continue
                pointers.setdefault(name, set()).update(types)
                own |= {name} if is_own else set()
        given: dict[bytes, set[bytes]] = {}  # functions, and the names they are kept in
        mentioned: set[bytes] = set()
        called: set[bytes] = set()
        for text in self._texts:
            heads = {text.balanced[body].start for _, body, _ in text.functions}
            for index, token in enumerate(text.balanced):
                if token.kind != "identifier":
                    continue
                follows = text.balanced[index + 1].text if index + 1 < len(text.balanced) else b""
                if follows == b"(":
                    called.add(token.text)
                if token.text in pointers and not _is_declared(text.balanced, index, heads):
                    mentioned.add(token.text)
                    if follows != b"(":
                        places = given.setdefault(token.text, set())
                        places.add(self._kept_in(text.balanced, index))
        outside = {name for name, places in given.items() if places - called}
        outside |= pointers.keys() - mentioned - own
        return {kind for name in outside for kind in pointers[name]}

    def _kept_in(self, tokens: Sequence[Token], index: int) -> bytes:
        """What a function's address is given to: a name, of a variable, a member or a function of
        the project; "" for what is called by others."""
        place = index - 1
        if tokens[place].text == b"&":
            place -= 1
        if tokens[place].text == b"=":
            return tokens[place - 1].text if tokens[place - 1].kind == "identifier" else b""
        opening = _opening(tokens, place)
        if opening is None or tokens[opening].text != b"(":
            return b""
        callee = tokens[opening - 1].text
        return callee if callee in self._defined else b""


def _opening(tokens: Sequence[Token], place: int) -> int | None:
    """The bracket that a place is in."""
    depth = 0
    for index in range(place, -1, -1):
        text = tokens[index].text
        if text in (b")", b"}", b"]"):
            depth += 1
        elif text in (b"(", b"{", b"["):
            if not depth:
                return index
            depth -= 1
        elif text == b";" and not depth:
            return None
    return None


def _is_declared(tokens: Sequence[Token], index: int, bodies: set[int]) -> bool:
    """Whether a name is declared or defined here: a type stands in front of it."""
    before = tokens[index - 1] if index else None
    if before is None or index + 1 >= len(tokens) or tokens[index + 1].text != b"(":
        return False
    closing = matching(tokens, index + 1)
    behind = tokens[closing + 1] if closing is not None and closing + 1 < len(tokens) else None
    if behind is not None and behind.start in bodies:
        return True
    return before.text == b"*" or (before.kind == "identifier" and before.text != b"return")


def _pointers(text: CText) -> Iterator[tuple[bytes, set[bytes], bool]]:
    """Functions with the types that their parameters point to, and whether they are static."""
    tokens = text.balanced
    for name, body, _ in text.functions:
        index = next((it for it in range(body, -1, -1) if tokens[it].text == name), None)
        if index is None or index + 1 >= body:
            continue
        closing = matching(tokens, index + 1)
        inside = tokens[index + 2 : closing] if closing is not None else ()
        is_static = any(token.text == b"static" for token in head_of(tokens, index))
        yield name, set(_pointed_to(inside)), is_static


def _pointed_to(parameters: Iterable[Token]) -> Iterator[bytes]:
    kind = b""
    for token in parameters:
        if token.text == b"*" and kind:
            yield kind
        if token.kind == "identifier" and token.text not in _NO_TYPE:
            kind = token.text
        elif token.text == b",":
            kind = b""
