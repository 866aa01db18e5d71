"""Naked functions: nothing in one may become C, by its own text or by what a macro puts there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from porter.context_switch.result import ESCALATED
from porter.judging.docket import Docket
from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.meaning.naked import naked_functions
from porter.rules.context_switch import Transcribed
from porter.rules.rule import Revision
from porter.sites.site import Site, SiteKind
from porter.source.c_lexer import Token
from porter.source.c_tree import enclosing_function
from porter.source.macros import MacroTable

_INLINED = re.compile(rb"static|inline", re.IGNORECASE)  # __STATIC_INLINE, too
_ENDS = re.compile(rb"[;}]")
_LONGEST_HEAD = 200
_WHY = "and a naked function has no place for C: write the function in C, or this in assembler"


class NakedBody(Revision):
    """C that a compiler makes of a rewriting takes registers that the function doesn't save."""

    id = "naked-body"
    finds = "a rewritten place in a naked function that wasn't transcribed as a whole"
    becomes = "itself"
    why = "the compiler saves no registers for it, LR neither"

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Rewritten sites between the braces of such functions."""
        spans = [(start, end) for _, start, end in naked_functions(unit)]
        for site, verdict in list(unit.verdicts.items()) if spans else ():
            is_changed = verdict.status is Status.REWRITTEN and verdict.rule != Transcribed.id
            if unit.is_deleted(site.start, site.end):
                continue  # nothing is in its place
            if is_changed and any(start <= site.start < end for start, end in spans):
                yield self.escalated(site, f"{site.what} would become C, {_WHY}")


def judge_naked(docket: Docket) -> None:
    """Uses of macros and of functions of their own file, which may be inlined, that became C."""
    stay = [
        (unit, *found)
        for unit in docket.units.values()
        for found in naked_functions(unit)
        if not any(it.start <= found[1] < it.end for it in unit.switches if it.status != ESCALATED)
    ]  # the others are C now
    if not stay:
        return
    changed = {name for unit in docket.units.values() for name in _changed(unit)}
    for unit, name, start, end in stay:
        tokens = [it for it in unit.text.lexed.tokens if start <= it.start < end]
        docket.add(
            unit.file,
            [
                Verdict(
                    Site(unit.file.name, it.start, it.end, SiteKind.CALL, _text(it), name),
                    Status.ESCALATED,
                    NakedBody.id,
                    f"{_text(it)} became C, {_WHY}",
                )
                for it in tokens
                if it.kind == "identifier"
                and not changed.isdisjoint(_led_to(it.text, unit.text.evaluator.macros))
            ],
        )


def _text(token: Token) -> str:
    return token.text.decode("latin-1")


def _changed(unit: Unit) -> Iterable[bytes]:
    """Macros, and functions that may be inlined, with a rewritten site."""
    for site, verdict in unit.verdicts.items():
        if verdict.status is not Status.REWRITTEN:
            continue
        if (macro := unit.region(site).name) is not None:
            yield macro
            continue
        context = unit.context(site)
        node = context.node_at(site.start, site.end) if context is not None else None
        function = enclosing_function(node) if node is not None else None
        declarator = function.child_by_field_name("declarator") if function is not None else None
        if context is None or declarator is None:
            continue
        end = context.start(declarator)
        head = _ENDS.split(unit.file.data[max(0, end - _LONGEST_HEAD) : end])[-1]
        if _INLINED.search(head):
            yield context.name.encode("latin-1")


def _led_to(name: bytes, macros: MacroTable) -> set[bytes]:
    """A name, and those in what it stands for."""
    seen, stack = set[bytes](), [name]
    while stack:
        name = stack.pop()
        if name not in seen:
            seen.add(name)
            macro = macros.get(name)
            stack += macro.words if macro else []
    return seen
