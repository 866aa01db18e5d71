"""Names that whatever a project has may define: functions, macros, types, members, labels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from porter.program.classes import classes_in
from porter.program.functions import names_of_functions
from porter.source.balanced import balanced
from porter.source.blanking import SUPERVISOR_WORDS
from porter.source.c_lexer import LexedSource, Token
from porter.source.declared_objects import DECLARES_NOTHING
from porter.source.macros import parse_define
from porter.source.source_file import SourceFile
from porter.source.token_tools import is_qualified, matching

NO_CALL = frozenset(
    b"""if while for switch return sizeof typeof __typeof__ __typeof _Alignof __alignof__ alignof
    defined _Static_assert static_assert else do case goto catch decltype noexcept constexpr
    operator new delete throw explicit and or not xor alignas _Alignas typeid co_await co_return
    co_yield requires int char short long unsigned signed float double void bool _Bool auto const
    volatile static inline extern __inline __inline__ __extension__ __volatile__ in struct union
    enum class restrict __restrict template typename using namespace""".split()
)
"""Words behind which a parenthesis makes no call."""
_ASM_NAME = re.compile(rb"(?m)^[ \t]*([A-Za-z_.$][\w.$]*)[ \t]*:|^([A-Za-z_$][\w$]*)\b")
_ASM_SET = re.compile(rb"\.(?:thumb_set|set|equ|macro)[ \t]+([A-Za-z_.$][\w.$]*)", re.IGNORECASE)


def defined_names(
    everything: Sequence[tuple[SourceFile, LexedSource]], asm: Sequence[SourceFile]
) -> set[str]:
    """Those that these files may define. What Arm's compiler makes instructions of counts too: a
    site is where it is declared."""
    found = {it for file, lexed in everything for it in _defined_in_c(file, lexed)}
    if any(file.is_cplusplus for file, _ in everything):
        for file, lexed in everything:
            if file.is_header:
                found |= set(_fields(lexed.tokens))
            elif file.is_cplusplus:
                for _, opening in classes_in(lexed.tokens):
                    closing = matching(lexed.tokens, opening)
                    found |= set(_fields(lexed.tokens[opening:closing]))
    found |= {it for file in asm for it in _defined_in_asm(file)}
    words = SUPERVISOR_WORDS.union(*(_supervisor_macros(lexed) for _, lexed in everything))
    return found | {it for _, lexed in everything for it in _supervisor_calls(lexed.tokens, words)}


def _defined_in_c(file: SourceFile, lexed: LexedSource) -> Iterator[str]:
    tokens = balanced(lexed)
    for name in names_of_functions(tokens):
        yield name.decode("latin-1")
    for directive in lexed.directives:
        if directive.name == b"define" and directive.subject:
            yield directive.subject.decode("latin-1")
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if before.text in (b"class", b"struct", b"union", b"enum", b"using", b"typename"):
            yield token.text.decode("latin-1")
        if token.kind == "identifier" and before.text == b"}" and after.text == b";":
            yield token.text.decode("latin-1")  # typedef struct { } X;
        if before.text == b"*" and token.kind == "identifier" and after.text == b")":
            yield token.text.decode("latin-1")  # void (*hook)(void);
    if file.is_cplusplus or file.is_header:
        yield from _members(tokens)


def _supervisor_macros(lexed: LexedSource) -> Iterator[bytes]:
    """Names for what makes a supervisor call of a function."""
    for directive in lexed.directives:
        macro = parse_define(directive)
        if macro is not None and not SUPERVISOR_WORDS.isdisjoint(macro.text):
            yield macro.name


def _supervisor_calls(tokens: Sequence[Token], words: frozenset[bytes]) -> Iterator[str]:
    """Functions that Arm's compiler makes instructions of."""
    first = 0
    for index, token in enumerate(tokens):
        if token.text in (b";", b"{", b"}"):
            if any(it.text in words for it in tokens[first:index]):
                for name, behind in pairwise(tokens[first:index]):
                    is_name = name.kind == "identifier" and name.text not in words
                    if is_name and behind.text == b"(":
                        yield name.text.decode("latin-1")
                        break
            first = index + 1


def _fields(tokens: Sequence[Token]) -> Iterator[str]:
    """Variables of classes, which a constructor's list initialises like calls: `: port(3)`."""
    depth = 0
    braces = 0
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        braces += (before.text == b"{") - (before.text == b"}")
        depth += (before.text == b"(") - (before.text == b")")
        named = before.kind == "identifier" or before.text in (b"*", b"&", b">")
        named = named and token.kind == "identifier" and before.text not in DECLARES_NOTHING
        if braces > 0 and depth == 0 and named and after.text in (b";", b"=", b"{", b"["):
            yield token.text.decode("latin-1")


def _members(tokens: Sequence[Token]) -> Iterator[str]:
    """Functions that are defined within classes and namespaces."""
    for index in range(len(tokens) - 1):
        if tokens[index].kind != "identifier" or tokens[index + 1].text != b"(":
            continue
        before = tokens[index - 1] if index else None
        if before is None or tokens[index].text in NO_CALL:
            continue
        of_class = is_qualified(tokens, index)
        is_typed = before.kind == "identifier" or before.text in (b"*", b"&", b">", b"~", b"}")
        if not of_class and not is_typed:
            continue
        if before.text in DECLARES_NOTHING:
            continue
        closing = matching(tokens, index + 1)
        after = closing + 1 if closing is not None else len(tokens)
        while after < len(tokens) and tokens[after].text in (b"const", b"override", b"noexcept",
                                                            b"final", b"volatile"):  # fmt: skip
            after += 1
        starts = (b"{",) if of_class else (b"{", b":")  # as a value, `? A::f() :` is a call
        if after < len(tokens) and tokens[after].text in starts:
            yield tokens[index].text.decode("latin-1")


def _defined_in_asm(file: SourceFile) -> Iterator[str]:
    for label, column in _ASM_NAME.findall(file.data):
        yield (label or column).decode("latin-1")
    for name in _ASM_SET.findall(file.data):
        yield name.decode("latin-1")
