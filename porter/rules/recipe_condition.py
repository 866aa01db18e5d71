"""Blocks of an RTOS's port that its recipe switches off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from porter.context_switch.recipe import conditions_of_port
from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.rules.rule import Rule
from porter.source.c_lexer import Directive
from porter.source.conditions import condition_of
from porter.source.edit import Edit

OFF = b"#if 0"


class RecipeCondition(Rule):
    """An #if around checks of hardware: one line is changed where a block would be taken out."""

    id = "recipe-condition"
    finds = "an #if in a port of this RTOS that a recipe names"
    becomes = "#if 0"
    why = "what such a block checks is the machine's; a small diff is easy to review"

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """What stands in such an arm stays; so does what a port has switched off before."""
        named = conditions_of_port(unit.file.name)
        if not named:
            return
        for place, directive in enumerate(unit.text.lexed.directives):
            condition = condition_of(directive)
            reason = named.get(condition)
            end = _end(unit.text.lexed.directives[place:])
            if end is None or (reason is None and not _was_named(unit, directive, named)):
                continue
            if reason is not None:
                text = f" /* {condition}: {reason} */"
                edit = Edit(directive.start, directive.end, OFF + text.encode("latin-1"))
                unit.extra_edits.append(edit)
            for site in unit.pending():
                if directive.end <= site.start < end:
                    yield self.left(site, f"switched off: {reason or 'before'}")


def _was_named(unit: Unit, directive: Directive, names: Mapping[str, str]) -> bool:
    """Whether the comment beside `#if 0` is one of this rule's."""
    line = unit.file.data[directive.start :].split(b"\n", 1)[0].decode("latin-1")
    return condition_of(directive) == "0" and any(f"/* {name}: " in line for name in names)


def _end(directives: Sequence[Directive]) -> int | None:
    """Where the #endif of the first one stands; None if there is another arm."""
    depth = 0
    for directive in directives:
        if directive.name.startswith(b"if"):
            depth += 1
        elif directive.name == b"endif":
            depth -= 1
        elif directive.name.startswith(b"el") and depth == 1:
            return None
        if depth == 0:
            return directive.start if directive.name == b"endif" else None
    return None
