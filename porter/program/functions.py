"""Function definitions of a file, on its tokens: names, bodies, and what stands in front."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from porter.source.c_lexer import Token
from porter.source.token_tools import body_behind, matching

Definition = tuple[bytes, int, int]
"""Name, first token of the body and the one after it."""

_NO_FUNCTION = frozenset(
    {b"if", b"while", b"for", b"switch", b"sizeof", b"return", b"__attribute__", b"__attribute",
     b"__declspec", b"_Alignas"}
)  # fmt: skip
_BEHIND_PARAMETERS = frozenset({b"const", b"volatile", b"noexcept", b"override", b"final"})
_WITH_MEMBERS = frozenset({b"class", b"struct", b"union", b"namespace"})
_ENDS = frozenset({b";", b"}"})


def functions_in(
    tokens: list[Token],
    stands_alone: Callable[[Token], bool] = lambda _: False,
    in_classes: bool = False,
) -> Iterator[Definition]:
    """Each function definition; where arms of #if give one body several heads, it is each of
    theirs. `stands_alone`: of a macro with arguments in front of one; `in_classes`: those inside
    classes and namespaces too."""
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.text == b"{":
            is_open = in_classes and _has_members(tokens, index)
            index = index + 1 if is_open else _after(tokens, index)
            continue
        if (
            token.kind == "identifier"
            and token.text not in _NO_FUNCTION
            and not stands_alone(token)
            and (body := body_behind(tokens, index)) is not None
        ):
            end = _after(tokens, body)
            yield token.text, body, end
            yield from ((name, body, end) for name in _other_heads(tokens, index, body))
            index = end
            continue
        index += 1


def _other_heads(tokens: Sequence[Token], index: int, body: int) -> Iterator[bytes]:
    """Names behind a head that have a type in front of them, as no attribute has."""
    for place in range(index + 2, body - 1):
        before = tokens[place - 1]
        is_name = tokens[place].kind == "identifier" and tokens[place].text not in _NO_FUNCTION
        is_typed = before.kind == "identifier" and before.text not in _BEHIND_PARAMETERS
        is_head = is_name and is_typed and tokens[place + 1].text == b"("
        if is_head and _is_outside(tokens, index, place):
            yield tokens[place].text


def _is_outside(tokens: Sequence[Token], index: int, place: int) -> bool:
    """Whether a place behind a name's parameters is in no parentheses."""
    texts = [token.text for token in tokens[index:place]]
    return texts.count(b"(") == texts.count(b")")


def names_of_functions(tokens: list[Token]) -> Iterator[bytes]:
    """Names that function definitions may have where macros aren't known: `T A(x) f(void) {`
    defines f if A is an attribute, and `T f(x) B(y) {` if B is one. What has no type is a macro."""
    for name, body, _ in functions_in(tokens):
        index = body
        while index and (index == body or tokens[index].text != name):
            index -= 1
        for place in range(index, body - 1):
            before = tokens[place - 1].text if place else b";"
            is_bare = before in (b";", b"}") or before.startswith(b"#")
            is_call = tokens[place].kind == "identifier" and tokens[place + 1].text == b"("
            if is_call and not is_bare:
                yield tokens[place].text


def head_of(tokens: Sequence[Token], place: int) -> Sequence[Token]:
    """What stands in front of a body or a name in its declaration."""
    first = place
    while first and tokens[first - 1].text not in _ENDS:
        first -= 1
    return tokens[first:place]


def _has_members(tokens: list[Token], opening: int) -> bool:
    """Whether a brace opens a class or a namespace."""
    first = opening
    while first and tokens[first - 1].text not in (b";", b"}", b"{", b")", b"="):
        first -= 1
    return not _WITH_MEMBERS.isdisjoint(token.text for token in tokens[first:opening])


def _after(tokens: list[Token], opening: int) -> int:
    closing = matching(tokens, opening)
    return len(tokens) if closing is None else closing + 1
