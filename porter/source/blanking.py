"""What a C grammar can't parse, replaced by white space of equal length so that offsets stay.

Directives, attributes, calling-convention and storage macros, `extern "C"` and the bodies of
ARMCC assembler functions and blocks go, macros that head a statement become a loop; code in every
#if arm stays unless an arm selection says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from porter.source.c_lexer import LexedSource, Token
from porter.source.comments import blank
from porter.source.conditions import ConditionMap
from porter.source.inline_asm import ASM_WORDS, find_asm
from porter.source.statement_heads import is_head, read_as_loop
from porter.source.token_tools import matching

# Names that stand for nothing, an attribute or a qualifier, also where no header defines them.
_NOISE = frozenset(
    b"""__extension__ __inline __inline__ __forceinline __INLINE __STATIC_INLINE
    __STATIC_FORCEINLINE __weak __WEAK __packed __PACKED __root __interrupt __irq __task __svc
    __IO __I __O __IM __OM __IOM __restrict __restrict__ __volatile __volatile__ __const __const__
    __NO_RETURN __noreturn __used __USED __UNUSED __unused __ramfunc __RAM_FUNC __naked
    __HOT __signed__ _Noreturn""".split()
)
SUPERVISOR_WORDS = frozenset(
    b"""__svc __swi __svc_indirect __swi_indirect __svc_indirect_r7 __swi_indirect_r7""".split()
)
"""Arm's compilers make a supervisor call of a function that is declared with one of them."""
_WITH_ARGUMENTS = SUPERVISOR_WORDS | {
    b"__attribute__", b"__attribute", b"__declspec", b"_Pragma", b"__pragma", b"_Alignas"
}  # fmt: skip
_QUALIFIER_WORDS = (
    frozenset({b"inline", b"volatile", b"const", b"static", b"extern", b"register"}) | _NOISE
)

ALIGNED_BY_MACRO = b"~"
"""Stands in a struct's body for a macro that aligns a member: the grammar skips it as an error."""
ARMS_OF_MEMBERS = {b"if": b"`", b"ifdef": b"`", b"ifndef": b"`", b"elif": b"``", b"else": b"```",
                   b"endif": b"````"}  # fmt: skip
"""Stand in a struct's body for directives, where all arms stay: the grammar skips them, too."""
_MOST_BEFORE_BODY = 12  # tokens between `struct` and `{`: attributes and a tag

_NOISE_WORD = re.compile(rb"\b(?:" + b"|".join(sorted(_NOISE)) + rb")\b")


@dataclass(frozen=True)
class Expanded:
    """What a macro stands for; its `parameters` are in `texts` as such, None if it takes none."""

    texts: tuple[bytes, ...]
    parameters: tuple[bytes, ...] | None

    @property
    def takes_arguments(self) -> bool:
        """Whether parentheses behind its name are a part of its use."""
        return self.parameters is not None

    @property
    def is_attribute(self) -> bool:
        """Whether it is a call that only qualifies a declaration: `SECTION(".ram")`."""
        return self.takes_arguments and bool(self.texts) and is_noise(self.texts)


Expansion = Callable[[Token], Expanded | None]
"""What a name stands for; None if it is no macro."""


def without_noise(text: bytes) -> bytes:
    """A text with the well-known names that only qualify declarations made white space."""
    return _NOISE_WORD.sub(lambda match: blank(match.group()), text)


def is_noise(texts: Sequence[bytes]) -> bool:
    """Whether tokens only qualify a declaration."""
    index = 0
    while index < len(texts):
        if texts[index] in _WITH_ARGUMENTS:
            depth = 0
            while index + 1 < len(texts):
                index += 1
                depth += (texts[index] == b"(") - (texts[index] == b")")
                if depth == 0:
                    break
        elif texts[index] not in _QUALIFIER_WORDS:
            return False
        index += 1
    return True


def parsable(
    data: bytes,
    lexed: LexedSource,
    conditions: ConditionMap,
    expansion: Expansion,
    branch: int | None,
) -> bytes:
    """The text to parse. `branch`: in each #if group keep only that arm (or the last there is)."""
    buffer = bytearray(data)

    def wipe(start: int, end: int) -> None:
        buffer[start:end] = blank(data[start:end])

    for directive in lexed.directives:
        wipe(directive.start, directive.end)
    for start, end in lexed.comments:
        wipe(start, end)
    tokens = lexed.tokens
    body_end = 0  # index of the token behind the outermost struct body
    for index, token in enumerate(tokens):
        if token.text in (b"struct", b"union") and index >= body_end:
            body_end = _body_end(tokens, index)
        if len(token.text) < token.end - token.start:  # the grammar splits it where a line ends
            splices = blank(data[token.start : token.end])[len(token.text) :]
            buffer[token.start : token.end] = token.text + splices
        if token.kind != "identifier":
            continue
        if token.text in _WITH_ARGUMENTS:
            closing = matching(tokens, index + 1) if index + 1 < len(tokens) else None
            end = index if closing is None else closing
            if index >= body_end or not any(b"lign" in t.text for t in tokens[index : end + 1]):
                wipe(token.start, tokens[end].end)
            continue
        if token.text in _NOISE:
            wipe(token.start, token.end)
            continue
        made = expansion(token)
        texts = None if made is None or made.takes_arguments else made.texts
        if _is_asm_alias(token, texts):
            buffer[token.start : token.end] = b"asm".ljust(len(token.text))
        elif token.text == b"extern":
            _wipe_linkage(tokens, index, wipe)
        elif made is not None and (last := _noise_end(tokens, index, made)) is not None:
            wipe(token.start, tokens[last].end)
            if index < body_end and any(b"lign" in text for text in made.texts):
                buffer[token.start : token.start + 1] = ALIGNED_BY_MACRO
        elif made is not None and is_head(made.texts):
            read_as_loop(tokens, index, made.texts, made.parameters, buffer)
    for statement in find_asm(tokens, data, lambda word: word == b"__asm"):
        if statement.form == "function":
            opening = data.index(b"{", statement.start)
            wipe(statement.start, statement.start + len(b"__asm"))
            wipe(opening + 1, statement.end - 1)
        elif statement.form == "block":
            span = slice(statement.start, statement.end)
            buffer[span] = _gnu_statement(data[span])
    if branch is not None:
        _keep_branch(lexed, conditions, branch, len(data), wipe)
    else:
        _mark_arms(lexed, buffer)
    return bytes(buffer)


def _mark_arms(lexed: LexedSource, buffer: bytearray) -> None:
    """Say where arms begin and end between the members of structs."""
    tokens = lexed.tokens
    end = 0
    for index, token in enumerate(tokens):
        if token.text not in (b"struct", b"union") or index < end:
            continue
        if (end := _body_end(tokens, index)) == index:
            continue
        for directive in lexed.directives_within(token.end, tokens[end].start):
            mark = ARMS_OF_MEMBERS.get(directive.name, b"")
            buffer[directive.start : directive.start + len(mark)] = mark


def _noise_end(tokens: Sequence[Token], index: int, made: Expanded) -> int | None:
    """The last token of a macro's use that only qualifies a declaration; None for any other."""
    if not made.takes_arguments:
        return index if is_noise(made.texts) else None
    is_call = made.is_attribute and [it.text for it in tokens[index + 1 : index + 2]] == [b"("]
    return matching(tokens, index + 1) if is_call else None


def _body_end(tokens: Sequence[Token], index: int) -> int:
    """Where the body of a struct ends, whose members may be aligned; `index` if there is none."""
    for opening in range(index + 1, min(index + _MOST_BEFORE_BODY, len(tokens))):
        if tokens[opening].text == b"{":
            return matching(tokens, opening) or index
        if tokens[opening].text in (b";", b"*", b"=", b","):
            break
    return index


def _is_asm_alias(token: Token, texts: tuple[bytes, ...] | None) -> bool:
    """A name such as __ASM for the keyword, long enough to be overwritten by it."""
    return bool(texts) and texts is not None and texts[0] in ASM_WORDS and len(token.text) >= 3


def _gnu_statement(block: bytes) -> bytes:
    """An ARMCC block, `__asm {...}`, as a GNU asm statement of empty strings on the same lines."""
    strings = re.sub(rb"[^\r\n]+", lambda match: b'""' * (len(match.group()) // 2) + b" " * (
        len(match.group()) % 2), block[4:-2])  # fmt: skip
    return b"asm(" + strings + b");"


def _wipe_linkage(tokens: Sequence[Token], index: int, wipe: Callable[[int, int], None]) -> None:
    if index + 2 >= len(tokens) or tokens[index + 1].kind != "string":
        return
    wipe(tokens[index].start, tokens[index + 1].end)
    if tokens[index + 2].text == b"{":
        wipe(tokens[index + 2].start, tokens[index + 2].end)
        if (closing := matching(tokens, index + 2)) is not None:
            wipe(tokens[closing].start, tokens[closing].end)


def _keep_branch(
    lexed: LexedSource,
    conditions: ConditionMap,
    branch: int,
    length: int,
    wipe: Callable[[int, int], None],
) -> None:
    last: dict[int, int] = {}
    starts = [0, *(directive.end for directive in lexed.directives)]
    arms = [conditions.arm(start) for start in starts]
    for arm in arms:
        for group, number in zip(arm.group, arm.branch, strict=True):
            last[group] = max(last.get(group, 0), number)
    for start, end, arm in zip(starts, [*starts[1:], length], arms, strict=True):
        if any(
            number != min(branch, last[group])
            for group, number in zip(arm.group, arm.branch, strict=True)
        ):
            wipe(start, end)
