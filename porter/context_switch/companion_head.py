"""What C beside an assembler file begins with: the same conditions hold there as in the file.

An assembler file includes headers and defines macros, or constants of its assembler's, and asks
for them in `#if`. The C that stands for its functions asks the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from porter.context_switch.directives import defined_name, directives
from porter.context_switch.own_conditions import in_c

_NAME = re.compile(r"\b[A-Za-z_]\w*")
_ASKS = frozenset({"if", "ifdef", "ifndef", "elif"})
_DEFINES = frozenset({"define", "undef"})


def companion_head(data: bytes) -> list[str]:
    """The file's includes, and the definitions of what its conditions ask for, in their order and
    under the conditions that they stand under."""
    found = list(directives(in_c(data)))
    asked = _asked(found)
    open_groups: list[list[str]] = [[]]
    for word, rest in found:
        line = f"#{word} {rest}".strip()
        if word in _ASKS and word != "elif":
            open_groups.append([line])
        elif word in ("elif", "else"):
            open_groups[-1].append(line)
        elif word == "endif" and len(open_groups) > 1:
            group = [*open_groups.pop(), line]
            if any(it.startswith(("#include", "#define", "#undef")) for it in group):
                open_groups[-1] += group
        elif word == "include" or (word in _DEFINES and defined_name(rest) in asked):
            open_groups[-1].append(line)
    return open_groups[0]


def asks_the_same(data: bytes, *tables: Mapping[str, str]) -> bool:
    """Whether what the file's conditions ask for is the same by each table of macros: a header may
    define something for assembler alone."""
    waiting, seen = _asked(list(directives(in_c(data)))), set[str]()
    while waiting:
        told = [{name: table[name] for name in waiting if name in table} for table in tables]
        if any(one != told[0] for one in told):
            return False
        seen |= waiting
        waiting = {name for text in told[0].values() for name in _NAME.findall(text)} - seen
    return True


def _asked(lines: list[tuple[str, str]]) -> set[str]:
    """Names that decide conditions, by their values too."""
    found = {name for word, rest in lines if word in _ASKS for name in _NAME.findall(rest)}
    defined = [rest for word, rest in lines if word == "define"]
    while True:
        behind = {
            it for rest in defined if defined_name(rest) in found for it in _NAME.findall(rest)
        }
        if behind <= found:
            return found
        found |= behind
