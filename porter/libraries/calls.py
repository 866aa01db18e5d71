"""Where a file uses functions of libraries that aren't in the tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache

from porter.libraries.body import Unfit, body_of, joined
from porter.libraries.data import Known
from porter.program.own_members import OwnMembers
from porter.source.balanced import balanced
from porter.source.c_lexer import LexedSource, Token
from porter.source.macros import parse_define
from porter.source.token_tools import matching

_ENDS = frozenset({b";", b"{", b"}"})
_KEEPS_GOING = frozenset(
    {b"return", b"else", b"do", b"case", b"goto", b"and", b"or", b"not", b"co_await", b"throw",
     b"in", b"sizeof"}
)  # fmt: skip
"""Words that may stand before a call; any other before a name makes a declaration of it."""

Lookup = Callable[[str, bool], Known | None]
"""What is known of a name, which a call follows or not."""


@dataclass(frozen=True)
class LibraryUse:
    """A use of a library's function at [start, end) of a file, of which `name` stands first.
    `body`: what it does, as C; None if a person has to say, for `reason`. `stand_in`: what is
    parsed in its place until then, for a macro that heads a block; `is_macro`: what isn't done to
    registers is done to what it is given."""

    start: int
    end: int
    name: Token
    library: str
    body: bytes | None = None
    reason: str = ""
    stand_in: bytes = b""
    is_macro: bool = False


def library_uses(
    lexed: LexedSource, lookup: Lookup, members: OwnMembers | None = None
) -> Iterator[LibraryUse]:
    """Uses in the code of a file and in the bodies of its macros, in no order. `members`: of the
    project's classes and namespaces, which are no library's."""
    members = members or OwnMembers()
    tokens = balanced(lexed)
    yield from _in_code(tokens, lookup, members.meant(tokens))
    is_known = cache(lambda word: any(lookup(word.decode("latin-1"), it) for it in (True, False)))
    for directive in lexed.directives:
        macro = parse_define(directive)
        if macro is not None and any(map(is_known, macro.words)):
            own = macro.parameters or ()
            yield from _in_macro(macro.body, own, lookup, members.meant(macro.body))


def _in_code(tokens: Sequence[Token], lookup: Lookup, own: Set[int]) -> Iterator[LibraryUse]:
    around: list[bytes] = []
    after = 0
    for index, token in enumerate(tokens):
        if token.kind == "punctuator":
            if token.text in (b"(", b"[", b"{"):
                around.append(token.text)
            elif token.text in (b")", b"]", b"}") and around:
                around.pop()
        elif token.kind == "identifier" and around and index >= after and index not in own:
            known = _known(tokens, index, lookup)
            if known is not None and b"{" in around and _is_use(tokens, index):
                use = _use(tokens, index, known, in_block=around[-1] == b"{")
                after = index + sum(1 for it in tokens[index:] if it.end <= use.end)
                yield use


def _in_macro(
    tokens: Sequence[Token], parameters: Sequence[bytes], lookup: Lookup, own: Set[int]
) -> Iterator[LibraryUse]:
    for index, token in enumerate(tokens):
        if token.kind != "identifier" or token.text in parameters or index in own:
            continue
        known = _known(tokens, index, lookup)
        if known is None or not _is_use(tokens, index):
            continue
        yield _use(tokens, index, known, in_block=True, is_macro=True)


def _known(tokens: Sequence[Token], index: int, lookup: Lookup) -> Known | None:
    is_called = index + 1 < len(tokens) and tokens[index + 1].text == b"("
    return lookup(tokens[index].text.decode("latin-1"), is_called)


def _is_use(tokens: Sequence[Token], index: int) -> bool:
    """Whether a name isn't that of a field or of something that is declared here."""
    before = tokens[index - 1] if index else None
    if before is None:
        return True
    if before.text in (b".", b"->", b"::", b"#", b"##"):
        return False
    return before.kind != "identifier" or before.text in _KEEPS_GOING


def _use(
    tokens: Sequence[Token], index: int, known: Known, in_block: bool, is_macro: bool = False
) -> LibraryUse:
    name = tokens[index]
    opening = index + 1
    has_parentheses = opening < len(tokens) and tokens[opening].text == b"("
    closing = matching(tokens, opening) if has_parentheses else index
    takes_words = any(body.parameters is None for body in known.bodies)
    if closing is None or (not has_parentheses and not takes_words):
        reason = known.ask or "it is used otherwise than by a call"
        return LibraryUse(name.start, name.end, name, known.library, None, reason)
    first = index
    if [it.text for it in tokens[max(0, index - 3) : index]] == [b"(", b"void", b")"]:
        first = index - 3
    whole = first == 0 and closing + 1 == len(tokens)
    is_statement = (is_macro and whole) or (
        in_block and _ends(tokens, closing + 1) and _begins(tokens, first)
    )
    end = tokens[closing].end
    start = tokens[first].start if is_statement else name.start
    arguments = tokens[opening + 1 : closing] if has_parentheses else None
    try:
        body = body_of(known, arguments, is_statement)
        if b";" in body and (whole or not _is_in_list(tokens, first)):
            raise Unfit("it does several things one after the other: give it braces of its own")
    except Unfit as unfit:
        heads = has_parentheses and [it.text for it in tokens[closing + 1 : closing + 2]] == [b"{"]
        stand_in = b"while (" + joined(tokens[index : closing + 1]) + b")" if heads else b""
        is_macro = bool(known.bodies) and known.bodies[0].is_macro
        return LibraryUse(
            name.start, end, name, known.library, None, str(unfit), stand_in, is_macro
        )
    stands_for = known.bodies[0].is_macro
    return LibraryUse(start, end, name, known.library, body, is_macro=stands_for)


def _ends(tokens: Sequence[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].text == b";"


def _begins(tokens: Sequence[Token], index: int) -> bool:
    """Whether a statement begins at a token: in a list, or as the body of another."""
    if index == 0 or tokens[index - 1].text in (*_ENDS, b"else", b"do"):
        return True
    if tokens[index - 1].text == b":":
        return _is_behind_label(tokens, index - 1)
    return tokens[index - 1].text == b")" and _is_condition(tokens, index - 1)


def _is_in_list(tokens: Sequence[Token], index: int) -> bool:
    """Whether other statements may stand before and behind the one that begins here."""
    before = tokens[index - 1].text if index else b""
    return before in _ENDS or (before == b":" and _is_behind_label(tokens, index - 1))


def _is_behind_label(tokens: Sequence[Token], colon: int) -> bool:
    position = colon - 1
    while position >= 0 and tokens[position].text not in _ENDS:
        if tokens[position].text == b"?":
            return False
        position -= 1
    return True


def _is_condition(tokens: Sequence[Token], closing: int) -> bool:
    """Whether the parentheses that end here are those of an `if` or a loop."""
    depth = 0
    for position in range(closing, -1, -1):
        depth += (tokens[position].text == b")") - (tokens[position].text == b"(")
        if depth == 0:
            return position > 0 and tokens[position - 1].text in (b"if", b"while", b"for",
                                                                  b"switch")  # fmt: skip
    return False
