"""Where the code of a project ends up in a function-like macro, through whatever other macros."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

from porter.program.macro_uses import MacroUse
from porter.source.macros import Macro, parse_define

_ENDS_STATEMENT = frozenset({b";", b"{", b"}", b":"})
Uses = Callable[[bytes], Sequence[MacroUse]]
"""Direct uses of a macro."""


def uses_in_code(name: bytes, uses: Uses) -> Iterator[MacroUse]:
    """The calls that functions make; a call in a macro without parameters stands for its uses."""
    seen = {name}
    pending = [name]
    while pending:
        for use in uses(pending.pop()):
            around = _macro_around(use)
            if around is None or around.parameters is None:
                yield use
            elif around.name not in seen:
                seen.add(around.name)
                pending.append(around.name)


def may_be_body(name: bytes, uses: Uses) -> bool:
    """Whether a call of a macro may stand where the grammar has room for one statement only, as
    behind `if (x)` or `else`."""
    seen = {name}
    pending = [name]
    while pending:
        for use in uses(pending.pop()):
            around = _macro_around(use)
            tokens = around.body if around is not None else use.text.lexed.tokens
            index = bisect_left(tokens, use.start, key=lambda token: token.start)
            if index and tokens[index - 1].text not in _ENDS_STATEMENT:
                return True
            if around is None or index:
                continue
            if around.parameters is None:
                return True  # its uses are no calls
            if around.name not in seen:
                seen.add(around.name)
                pending.append(around.name)
    return False


def _macro_around(use: MacroUse) -> Macro | None:
    for directive in use.text.lexed.directives:
        if directive.start <= use.start < directive.end:
            return parse_define(directive)
    return None
