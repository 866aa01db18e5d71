"""Where the code of a project ends up in a function-like macro, through whatever other macros."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from porter.project.macro_uses import MacroUse
from porter.source.macros import Macro, parse_define

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


def _macro_around(use: MacroUse) -> Macro | None:
    for directive in use.text.lexed.directives:
        if directive.start <= use.start < directive.end:
            return parse_define(directive)
    return None
