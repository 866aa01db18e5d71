"""Parameters that only removed code used."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.rules.rule import Rule, Sample
from porter.source.c_tree import Node, text_of
from porter.source.declared import parameter_names
from porter.source.edit import Edit

_INDENT = b"    "
_WORD = re.compile(rb"\w+")
_HEADER = (
    "typedef struct { volatile unsigned MODER; } GPIO_TypeDef;\n"
    "#define GPIOA ((GPIO_TypeDef *)0x40020000)\n"
)


class Parameters(Rule):
    """A body that was emptied says that it doesn't need its parameters any more."""

    id = "parameters"
    finds = "a parameter all of whose uses were removed"
    becomes = "`(void)parameter;` at the start of the function"
    why = "its callers stay as they are, and no compiler shall warn about the ported text"
    samples = (
        Sample(
            _HEADER + "void f(unsigned mode)\n{\n    GPIOA->MODER = mode;\n}\n",
            _HEADER + "void f(unsigned mode)\n{\n    (void)mode;\n}\n",
        ),
        Sample(
            "void f(unsigned cycles)\n{\n    __NVIC_SetPriority(-1, cycles);\n}\n",
            "void f(unsigned cycles)\n{\n    (void)cycles;\n}\n",
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Adds to functions with removed code; it decides about no site."""
        if unit.deletions or any(verdict.edits for verdict in unit.verdicts.values()):
            for _, function in unit.contexts.functions():
                self._function(unit, function)
        return iter(())

    def _function(self, unit: Unit, function: Node) -> None:
        tree = unit.variables.tree
        body = function.child_by_field_name("body")
        if body is None or body.type != "compound_statement" or body.has_error:
            return
        replaced = [
            edit
            for verdict in unit.verdicts.values()
            if verdict.status is Status.REWRITTEN
            for edit in verdict.edits
        ]

        def is_gone(use: Node) -> bool:
            start, end = tree.start(use), tree.end(use)
            return unit.is_deleted(start, end) or any(
                edit.start <= start and end <= edit.end for edit in replaced
            )

        start, end = tree.start(body), tree.end(body)
        new = [_WORD.findall(edit.replacement) for edit in replaced if start <= edit.start < end]
        unused: list[bytes] = []
        for name in filter(None, parameter_names(function)):
            uses = list(unit.variables.named(name, body))
            named = any(name in words for words in new)
            if uses and not named and all(is_gone(use) for use in uses):
                unused.append(name)
        if unused:
            unit.extra_edits.append(_statement(unit, function, body, unused))


def _statement(unit: Unit, function: Node, body: Node, names: list[bytes]) -> Edit:
    tree = unit.variables.tree
    opening = tree.start(body) + 1
    if text_of(body).count(b"\n") == 0:
        return Edit(opening, opening, b"".join(b" (void)%s;" % name for name in names))
    eol = unit.file.eol(opening)
    line = unit.file.line_start(tree.start(function))
    margin = unit.file.data[line : tree.start(function)]
    indent = (margin if not margin.strip() else b"") + _INDENT
    text = b"".join(b"%s(void)%s;%s" % (indent, name, eol) for name in names)
    place = unit.file.line_end(opening)
    return Edit(place, place, text)
