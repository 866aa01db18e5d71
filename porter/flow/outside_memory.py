"""Which structs describe memory that others fill: devices, buffers, what a library or a file of
another language has.

Of the fields of such a struct the project's own assignments say nothing. A type counts as one of
these where a pointer to it is made of a number or of another pointer, where it is a part of a union
or volatile, where an object of it is declared and nowhere defined, or is handed out by a function
that isn't in the project, or to one that others call, and where the project has no object of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import islice, takewhile

from porter.flow.handed_out import HandedOut
from porter.program.c_text import CText
from porter.source.c_lexer import Token, lex_fragment
from porter.source.c_types import TypeTable
from porter.source.macros import MacroTable, parse_define
from porter.source.token_tools import matching

_VOLATILE = frozenset({b"volatile", b"__volatile__", b"__volatile"})
_CLASSES = frozenset({b"struct", b"class", b"union"})
_QUALIFIERS = frozenset({b"const", b"restrict", b"__restrict", *_VOLATILE, *_CLASSES})
_NO_OPERAND = frozenset({b")", b",", b";", b"{", b"}", b"]", b":", b"?", b"="})
_NOTHING = frozenset({b"0", b"NULL", b"nullptr"})
_ENDS = frozenset({b";", b"=", b"[", b","})
_NEW_STATEMENT = frozenset({b";", b"{", b"}"})
_MOST_WORDS = 3  # of a macro that stands for a qualifier


class OutsideMemory:
    """Answers for the C files of one project. `defined`: the functions that it has; `unused`: those
    that aren't in the program."""

    def __init__(
        self, texts: Iterable[CText], defined: frozenset[bytes], unused: Set[bytes]
    ) -> None:
        self._defined = defined
        self._types: set[bytes] = set()
        self._volatile: set[bytes] = set()
        self._declared: dict[bytes, set[bytes]] = {}  # objects that are declared extern: types
        self._objects: set[bytes] = set()
        self._made: set[bytes] = set()  # types of objects
        texts = list(texts)
        for text in texts:
            self._read(text.lexed.tokens, text.evaluator.macros)
            for directive in text.lexed.directives:
                if (macro := parse_define(directive)) is not None:
                    self._read(macro.body, text.evaluator.macros)
        self._types |= HandedOut(texts, defined, unused).parameters()
        for name, types in self._declared.items():
            if name not in self._objects:
                self._types |= types
        self._answers: dict[tuple[int, bytes], bool] = {}

    def holds(self, owner: bytes, types: TypeTable, macros: MacroTable) -> bool:
        """Whether objects of a struct may lie where others write; `owner` as in CType."""
        key = id(types), owner
        if key not in self._answers:
            self._answers[key] = self._holds(owner, types, macros)
        return self._answers[key]

    def _holds(self, owner: bytes, types: TypeTable, macros: MacroTable) -> bool:
        name = owner.split()[-1]
        text = types.spelt(name)
        words = [token.text for token in lex_fragment(text)]
        if b"{" not in words:  # typedef struct tag name;
            words += [it.text for tag in words[1:2] for it in lex_fragment(types.spelt(tag))]
        if not words or words[0] == b"union" or b"{" not in words:
            return True
        if any(_is_volatile(it, macros) or it in self._volatile for it in words):
            return True
        names = {name, *words[1:2]}
        return self._made.isdisjoint(names) or not self._types.isdisjoint(names)

    def _read(self, tokens: Sequence[Token], macros: MacroTable) -> None:
        is_extern = False
        for index, token in enumerate(tokens):
            text = token.text
            if text in _NEW_STATEMENT:
                is_extern = False
            elif text == b"extern":
                is_extern = True
            elif text in (b"(", b"<"):
                self._types |= set(_cast(tokens, index))
            elif text == b"typedef":
                self._volatile |= set(_volatile_type(tokens, index, macros))
            elif text == b"union":
                self._types |= set(_words_in_body(tokens, index))
            elif token.kind == "identifier" and _is_volatile(text, macros):
                around = (*tokens[max(index - 1, 0) : index], *_type(tokens, index + 1))
                self._types |= {it.text for it in around if it.kind == "identifier"}
            elif token.kind == "identifier" and index and index + 1 < len(tokens):
                self._object(tokens, index, is_extern)

    def _object(self, tokens: Sequence[Token], index: int, is_extern: bool) -> None:
        """A name that may be declared here, behind its type."""
        before, behind = tokens[index - 1], tokens[index + 1].text
        if behind not in _ENDS or not (before.kind == "identifier" or before.text == b"*"):
            return
        name = tokens[index].text
        words = (it.text for it in reversed(tokens[:index]) if it.text != b"*")
        if (kind := next(words, None)) is None:
            return  # a macro's body begins here
        if is_extern:
            self._declared.setdefault(name, set()).add(kind)
            return
        self._objects.add(name)
        self._made |= {kind} if before.text != b"*" else set()
        value = tokens[index + 2 : index + 4]
        pointed = tokens[index - 2] if before.text == b"*" else None
        is_type = pointed is not None and pointed.kind == "identifier"  # not `{ *p = f(); }`
        if pointed is not None and is_type and behind == b"=" and self._is_foreign(value):
            self._types.add(pointed.text)

    def _is_foreign(self, value: Sequence[Token]) -> bool:
        """Whether a value begins with a call of a function that the project doesn't have."""
        is_call = len(value) == 2 and value[0].kind == "identifier" and value[1].text == b"("
        return is_call and value[0].text not in self._defined


def _is_volatile(word: bytes, macros: MacroTable) -> bool:
    if word in _VOLATILE:
        return True
    macro = macros.get(word)
    if macro is None or macro.parameters is not None or len(macro.body) > _MOST_WORDS:
        return False
    return any(token.text in _VOLATILE for token in macro.body)


def _volatile_type(tokens: Sequence[Token], index: int, macros: MacroTable) -> Iterator[bytes]:
    """The name that `typedef volatile T name;` makes."""
    words = [*takewhile(lambda it: it.text not in (b";", b"{"), islice(tokens, index, None))]
    is_plain = index + len(words) < len(tokens) and tokens[index + len(words)].text == b";"
    if is_plain and any(_is_volatile(it.text, macros) for it in words):
        yield words[-1].text


def _type(tokens: Sequence[Token], index: int) -> Iterator[Token]:
    """The names that a type may begin with at an index."""
    while index < len(tokens) and tokens[index].kind == "identifier":
        yield tokens[index]
        if tokens[index].text not in _QUALIFIERS:
            return
        index += 1


def _cast(tokens: Sequence[Token], opening: int) -> Iterator[bytes]:
    """The type of `(T *)x` or `<T *>(x)`, where x isn't a null pointer."""
    names = [*_type(tokens, opening + 1)]
    index = opening + 1 + len(names)
    stars = 0
    while index < len(tokens) and tokens[index].text in (b"*", b"const", *_VOLATILE):
        stars += tokens[index].text == b"*"
        index += 1
    closing = b")" if tokens[opening].text == b"(" else b">"
    if not names or not stars or index + 1 >= len(tokens) or tokens[index].text != closing:
        return
    operand = tokens[index + 1].text
    if operand not in _NO_OPERAND and operand not in _NOTHING:
        yield names[-1].text


def _words_in_body(tokens: Sequence[Token], index: int) -> Iterator[bytes]:
    opening = index + 1
    if opening < len(tokens) and tokens[opening].kind == "identifier":
        opening += 1
    if opening >= len(tokens) or tokens[opening].text != b"{":
        return
    closing = matching(tokens, opening)
    yield from (it.text for it in tokens[opening:closing] if it.kind == "identifier")
