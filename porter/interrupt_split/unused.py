"""Static helpers that nothing calls once the handler takes its records: they go.

The mid-section reads in their place; left behind they could be called again some day, and the
compiler would warn of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from porter.interrupt_split.functions import Function, Functions
from porter.interrupt_split.handler_frame import first_byte
from porter.interrupt_split.uses import private_uses
from porter.judging.deletion import tidy
from porter.source.edit import Edit


def unused_helpers(
    function: Function, functions: Functions, names: Iterable[str], edits: Sequence[Edit]
) -> tuple[set[str], list[Edit]]:
    """Those of `names` in the handler's file whose every use the edits take away, and the edits
    that take them away too."""
    file, comments = function.text.file, function.text.lexed.comments
    here = [one for one in functions.all_of(file) if one.name in names]
    gone: set[str] = set()
    deleted: list[Edit] = []
    changed = True
    while changed:
        changed = False
        for one in here:
            if one.name in gone or one.name == function.name:
                continue
            uses = private_uses(one, functions)
            if uses and _is_alone(one) and all(
                _takes_away([*edits, *deleted], token.start, one.name) for _, token in uses
            ):  # fmt: skip
                span = Edit(first_byte(one), one.tree.end(one.node), b"")
                found = tidy(file, [*deleted, span], comments)
                if any(new.start < e.end and e.start < new.end for e in edits for new in found):
                    continue
                gone.add(one.name)
                deleted.append(span)
                changed = True
    return gone, tidy(file, deleted, comments)


def _takes_away(edits: Iterable[Edit], offset: int, name: str) -> bool:
    word = re.compile(rb"\b%s\b" % re.escape(name.encode("latin-1")))
    return any(e.start <= offset < e.end and not word.search(e.replacement) for e in edits)


def _is_alone(function: Function) -> bool:
    """Whether a definition has no prototype, no other definition and no #if in it."""
    text, name = function.text, function.name.encode("latin-1")
    start, end = function.tree.start(function.node), function.tree.end(function.node)
    if any(start <= directive.start < end for directive in text.lexed.directives):
        return False
    depth = named = 0
    for token in text.lexed.tokens:
        depth += (token.text == b"{") - (token.text == b"}")
        named += not depth and token.kind == "identifier" and token.text == name
    return named == 1
