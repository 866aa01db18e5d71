"""Lists that a header has for whoever defines what goes through them.

    #ifdef DECLARE_INSN
    DECLARE_INSN(mul, MATCH_MUL, MASK_MUL)
    #endif

Who wants the list defines the macro just before including the header, so it is in a file of the
project or nowhere; no option and no other header would define it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from porter.source.c_lexer import LexedSource, Token
from porter.source.conditions import ConditionMap
from porter.source.source_file import is_included
from porter.source.token_tools import matching

_ASKED = re.compile(r"\bdefined ?\(? ?(\w+)")


def missing_list_macros(
    files: Mapping[Path, LexedSource],
    conditions: Mapping[Path, ConditionMap],
    defined: Collection[str],
) -> frozenset[str]:
    """Macros of such lists that are none of the `defined`."""
    headers = (path for path in files if is_included(path))
    return frozenset(
        name
        for path in headers
        for name in _listed(files[path].tokens, conditions[path])
        if name not in defined
    )


def _listed(tokens: Sequence[Token], conditions: ConditionMap) -> Iterator[str]:
    """Names that arms ask for and consist of uses of."""
    arms = list(conditions)
    for arm, following in zip(arms, [*arms[1:], None], strict=True):
        first = bisect_left(tokens, arm.start, key=lambda token: token.start)
        if not arm.conditions or first >= len(tokens):
            continue
        name = tokens[first].text.decode("latin-1")
        if name not in _ASKED.findall(" ".join(arm.conditions)):
            continue
        end = len(tokens) if following is None else following.start
        last = bisect_left(tokens, end, key=lambda token: token.start)
        if _is_list(tokens[first:last]) and _is_outside(tokens[:first]):
            yield name


def _is_list(tokens: Sequence[Token]) -> bool:
    """Whether tokens are uses of one macro with arguments, one behind the other."""
    index = 0
    while index < len(tokens):
        opening = index + 1
        is_use = tokens[index].text == tokens[0].text and opening < len(tokens)
        if not is_use or tokens[opening].text != b"(":
            return False
        closing = matching(tokens, opening)
        if closing is None:
            return False
        index = closing + 1
    return bool(tokens)


def _is_outside(before: Sequence[Token]) -> bool:
    """Whether no brace is open behind these tokens."""
    texts = [token.text for token in before]
    return texts.count(b"{") <= texts.count(b"}")
