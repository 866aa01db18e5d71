"""Numeric local labels of Arm's assembler, `10 LDR r0, [r1]` and `BEQ %F10`, as GNU as has them.

In both the nearest one counts. Arm's has a level for each macro that is being expanded, and looks
for a label in the macro itself, then in what calls it, never in what it calls. GNU as knows text
alone: so a label in a macro gets a number that no other expansion has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from porter.context_switch.dialect_macros import Macro
from porter.context_switch.result import NotTranscribable

_LABEL = re.compile(r"(\d{1,3})(?:[A-Za-z_]\w*)?:?(?=\s|$)")
_STATEMENT = re.compile(r"(\S*\s+)(\S+)(\s+)(.*)")
_REFERENCE = re.compile(
    r"(^|[,=(\[+*/-])(\s*)%([fb]?)([at]?)(\d{1,3})(?:[A-Za-z_]\w*)?(?!\w)", re.IGNORECASE
)
_SCOPE = re.compile(r"\S*\s+(?:rout|area)\b", re.IGNORECASE)
_CONDITION = re.compile(r"[ \t]*#[ \t]*(if|el|endif)")  # its first letters

Arms = tuple[int, ...]  # the lines of the directives that open the arms around a line


@dataclass(frozen=True)
class _Place:
    """Where a label stands. `macro`: the line of that one's head, None outside; `scope`: the line
    of the ROUT or AREA in front."""

    line: int
    macro: int | None
    scope: int
    arms: Arms


class LocalLabels:
    """Those of a file, whose lines have no comments. `heads` are its macros by the number of the
    line that has the name."""

    def __init__(self, lines: Sequence[str], heads: Mapping[int, Macro]) -> None:
        self._macro_of = {line: head for head, macro in heads.items() for line in macro.body}
        self._callable = {macro.name.lower(): macro for macro in heads.values()}
        self._places: list[_Place] = []
        self._labels: dict[int, list[_Place]] = {}
        scope, arms = 0, list[int]()
        for number, line in enumerate(lines):
            if condition := _CONDITION.match(line):
                if condition[1] != "if" and arms:
                    arms.pop()
                if condition[1] != "endif":
                    arms.append(number)
            scope = number if _SCOPE.match(line) else scope
            place = _Place(number, self._macro_of.get(number), scope, tuple(arms))
            self._places.append(place)
            if label := _LABEL.match(line):
                self._labels.setdefault(int(label[1]), []).append(place)

    def written(self, number: int, line: str) -> str:
        """A line, with its number, as GNU as has its label and its references."""
        place = self._places[number]
        if label := _LABEL.match(line):
            line = f"{_number(place, int(label[1]))}: {line[label.end() :].strip()}"
        statement = _STATEMENT.match(line)
        if statement is None:
            return line
        front, word, space, operands = statement.groups()
        callee = self._callable.get(word.lower())
        if label and callee is not None and callee.label:
            raise NotTranscribable(f"{label[0]} is a local label that the macro {word} is given")

        def reference(match: re.Match[str]) -> str:
            lead, blanks, way, level, digits = match.groups()
            if callee is not None and self._in_others(int(digits), None):
                raise NotTranscribable(f"a macro that has the label {digits} gets one by it")
            return lead + blanks + self._reference(place, way.lower(), level.lower(), int(digits))

        return front + word + space + _REFERENCE.sub(reference, operands)

    def _reference(self, place: _Place, way: str, level: str, label: int) -> str:
        """`way` is f, b or, for first backwards and then forwards, nothing; `level` is t for this
        macro alone, a for those too that it calls, or nothing."""
        own = [it for it in self._labels.get(label, ())
               if it.macro == place.macro
               and (place.macro is not None or it.scope == place.scope)]  # fmt: skip
        behind = [it for it in own if it.line > place.line]
        before = [it for it in own if it.line <= place.line]
        inside = place.macro is not None
        if level == "a" and self._in_others(label, place.macro):
            raise NotTranscribable(f"the label {label} may be any of several macros'")
        if inside and not {"f": behind, "b": before, "": own}[way]:
            if level == "t" or not way or self._in_others(label, place.macro):
                raise NotTranscribable(f"which label {label} a macro means isn't known")
            return f"{label}{way}"  # of what calls it
        if not way and before and behind and not any(_surely(it, place) for it in before):
            raise NotTranscribable(f"which label {label} is meant, an #if decides: say %B or %F")
        return f"{_number(place, label)}{way or ('b' if before else 'f')}"

    def _in_others(self, label: int, macro: int | None) -> bool:
        """Whether another macro has a label of a number."""
        return any(it.macro not in (None, macro) for it in self._labels.get(label, ()))


def _number(place: _Place, label: int) -> str:
    """Three digits are the author's; `\\@` counts expansions."""
    return str(label) if place.macro is None else f"1\\@1{label:03}"


def _surely(label: _Place, user: _Place) -> bool:
    """Whether a label is there wherever its user is."""
    return user.arms[: len(label.arms)] == label.arms
