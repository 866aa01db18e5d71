"""Macros of Arm's and IAR's assemblers: their heads, and what may stand for a parameter.

An argument is put into the body as text. In the port each expression of the body, and each
argument, has the parentheses that it needs on its own: so no sum may come to stand in a product.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from porter.context_switch.expression import Language, is_sum
from porter.context_switch.result import NotTranscribable

_ARM_HEAD = re.compile(r"\s*macro\s*", re.IGNORECASE)
_IAR_HEAD = re.compile(r"\s*(\w+):?\s+macro\b(.*)", re.IGNORECASE)
_LOCAL = re.compile(r"\s+local\b(.*)", re.IGNORECASE)
_END = re.compile(r"\s*(?:mend|endm)\b", re.IGNORECASE)
_CALL = re.compile(r"(?:[^\s:]+:?)?\s+(\w+)(?:\s+(.*))?")
_NUMBERED = re.compile(r"\\([1-9])")
_ALONE = re.compile(r"\(\s*\\\w+\s*\)")
_ARGUMENT = re.compile(r"""(?:"[^"]*"|\([^()]*\)|\{[^}]*\}|[^,])+""")
# What of operands may be an expression, but for the `=` of a literal.
PIECE = re.compile(r"""\{[^}]*\}|"[^"]*"|(\s*=?\s*)((?:'[^']*'|[^,#\[\]{}"])+)""")


@dataclass
class Macro:
    """`label`: the parameter for what stands in front of a call, "" for none. `own`: labels of
    which each expansion has its own (IAR's LOCAL). `body`: its lines by their numbers, parameters
    and such labels as GNU as has them."""

    name: str
    parameters: list[str]
    label: str = ""
    own: list[str] = field(default_factory=list)
    body: dict[int, str] = field(default_factory=dict)

    @property
    def head(self) -> str:
        """Its first line for GNU as."""
        names = [*self.parameters, self.label] if self.label else self.parameters
        return f".macro {self.name} {', '.join(names)}"


class Macros:
    """Those of a file, of whose lines comments are taken out. `heads` are by the number of the line
    that has the name, `bodies` by the number of each line. NotTranscribable where an argument
    would mean something else in the port."""

    def __init__(self, lines: Sequence[str], source: Language) -> None:
        self._source = source
        self.heads: dict[int, Macro] = {}
        self._find(lines)
        self._named = {macro.name.lower(): macro for macro in self.heads.values()}
        self.bodies = {number: text for macro in self.heads.values()
                       for number, text in macro.body.items()}  # fmt: skip
        self._refuse(self.bodies.get(number, line) for number, line in enumerate(lines))

    def label_of(self, name: str) -> str:
        """The parameter of a macro for the label in front of a call, "" for none."""
        macro = self._named.get(name.lower())
        return macro.label if macro is not None else ""

    def _find(self, lines: Sequence[str]) -> None:
        macro: Macro | None = None
        named: Callable[[str], str] = with_parameters
        is_next = False  # Arm's has the name on the next line
        for number, line in enumerate(lines):
            if macro is not None:
                if _END.match(line):
                    macro = None
                else:
                    macro.body[number] = named(line)
            elif is_next and line.strip():
                macro = self.heads[number] = _of_arm(line)
                named, is_next = with_parameters, False
            elif match := _IAR_HEAD.fullmatch(line):
                names = match[2].replace(",", " ").split() or [f"_{n}" for n in range(1, 10)]
                macro = self.heads[number] = Macro(match[1], names)
                named = partial(_with_names, names=names, own=macro.own)
            elif _ARM_HEAD.fullmatch(line):
                is_next = True

    def _refuse(self, lines: Iterable[str]) -> None:
        lines = list(lines)
        beside = {name: self._beside_operators(it) for name, it in self._named.items()}
        for _ in self._named:  # from macros to those that hand their parameters on
            for name, macro in self._named.items():
                for callee, place, argument in self._calls(macro.body.values()):
                    if place in beside[callee]:
                        beside[name] |= {n for n, it in enumerate(macro.parameters)
                                         if argument == f"\\{it}"}  # fmt: skip
        for callee, place, argument in self._calls(lines):
            if place in beside[callee] and is_sum(argument, self._source):
                raise NotTranscribable(
                    f"'{argument}' comes to stand beside an operator in the macro "
                    f"{self._named[callee].name}: write it in parentheses"
                )

    def _beside_operators(self, macro: Macro) -> set[int]:
        """Parameters, counted from 0, that are a part of an expression."""
        pieces = [match[2] for text in macro.body.values()
                  for match in PIECE.finditer(text) if match[2]]  # fmt: skip
        parts = [_ALONE.sub("0", it) for it in pieces if is_sum(it.strip(), self._source)]
        return {place for place, name in enumerate(macro.parameters)
                if any(re.search(rf"\\{name}\b", it) for it in parts)}  # fmt: skip

    def _calls(self, lines: Iterable[str]) -> Iterator[tuple[str, int, str]]:
        """Each argument of each call of a macro: its name, the place, the text."""
        for line in lines:
            match = _CALL.fullmatch(line)
            if match and (name := match[1].lower()) in self._named:
                for place, argument in enumerate(_ARGUMENT.findall(match[2] or "")):
                    yield name, place, argument.strip()


def with_parameters(text: str) -> str:
    """`$x` as `\\x`; a point behind it only ends the name."""
    return re.sub(r"\$(\w+)(\.?)", lambda it: f"\\{it[1]}" + ("\\()" if it[2] else ""), text)


def _with_names(line: str, names: Sequence[str], own: list[str]) -> str:
    """A line of IAR's, which has parameters by name or by number. What LOCAL names joins `own`."""
    if match := _LOCAL.fullmatch(line):
        own += match[1].replace(",", " ").split()
        return ""
    line = _NUMBERED.sub(lambda it: f"\\{names[min(int(it[1]), len(names)) - 1]}", line)
    either = "|".join(map(re.escape, names))
    line = re.sub(rf"(?<![\w.\\])({either})(?![\w.])", r"\\\1", line)
    if not own:
        return line
    either = "|".join(map(re.escape, own))  # \@ counts expansions
    return re.sub(rf"(?<![\w.\\])({either})(?![\w.])", r".Lfvm_\1_\\@", line)


def _of_arm(line: str) -> Macro:
    words = line.replace(",", " ").split() or [""]
    label = words.pop(0)[1:] if words[0].startswith("$") and len(words) > 1 else ""
    return Macro(words[0], [word.lstrip("$") for word in words[1:]], label)
