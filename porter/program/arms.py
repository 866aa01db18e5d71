"""Arms of #if that the build of a project can't contain, whatever its files do.

An arm is out only if a condition around it is certainly false: by what the compiler of the build
defines for its core, by names that belong to other compilers, and by macros for which a header has
a list and nobody defines them. What a header, an option or a
source of the project may define isn't certain, and neither is what a header that isn't there may.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from porter.program.list_macros import missing_list_macros
from porter.project.build import Build
from porter.project.compiler_facts import Predefined, belongs_to_compilers, worlds
from porter.source.c_lexer import Directive, LexedSource, lex_fragment
from porter.source.condition_value import condition_literal, condition_value
from porter.source.conditions import ConditionMap
from porter.source.values import Number

_CORE_HEADER = re.compile(r"core_(?:cm|sc|cmse|star)\w*\.h", re.IGNORECASE)
_CORE = "__CORTEX_M"


class ImpossibleArms:
    """Answers for all files of a project. `conditions`: those of each file."""

    def __init__(self, build: Build, files: Mapping[Path, LexedSource]) -> None:
        self._worlds = worlds(build)
        self._files = files
        self.conditions = {path: ConditionMap(lexed) for path, lexed in files.items()}
        self._values: dict[str, bool | None] = {}
        self._named: dict[str, list[tuple[Path, tuple[str, ...]]]] = {}
        self._options = {it.partition("=")[0].partition("(")[0] for it in build.options.defines}
        self._never: dict[Path, str | None] = {}
        defined = set(self._options)
        for path, lexed in files.items():
            for directive in lexed.directives:
                if directive.name in (b"define", b"undef") and directive.subject:
                    name = directive.subject.decode("latin-1")
                    defined.add(name)
                    if self._matters(name):
                        place = (path, self._around(path, directive))
                        self._named.setdefault(name, []).append(place)
        self._missing = missing_list_macros(files, self.conditions, defined)

    def false_one(self, conditions: Sequence[str]) -> str | None:
        """The condition that is certainly false, None if there is none."""
        return next((it for it in conditions if self._value(it) is False), None)

    def all_hold(self, conditions: Sequence[str]) -> bool:
        """Whether every condition is certainly true."""
        return all(self._value(it) is True for it in conditions)

    def rule_out(self, path: Path, reason: str) -> None:
        """A header is only included where a condition holds that is certainly false."""
        self._never[path] = reason
        self._values.clear()

    def never(self, path: Path) -> str | None:
        """Why a file can't be in the build: an #error of its own, or what all stands under that
        includes it; None if the file may be in it."""
        if path not in self._never:
            self._never[path] = None  # until it is known otherwise, for conditions in circles
            self._never[path] = next(self._errors(path), None)
        return self._never[path]

    def _errors(self, path: Path) -> Iterator[str]:
        lexed = self._files.get(path)
        for directive in lexed.directives if lexed is not None else ():
            if directive.name == b"error":
                around = self._around(path, directive)
                if around and self.all_hold(around):
                    yield f"ends with an #error where {' && '.join(around)}, as in this build"

    def _around(self, path: Path, directive: Directive) -> tuple[str, ...]:
        """The conditions that a directive stands under."""
        return self.conditions[path].arm(directive.start).conditions

    def _value(self, condition: str) -> bool | None:
        if condition not in self._values:
            self._values[condition] = None
            found = {self._in_world(condition, macros) for macros in self._worlds}
            self._values[condition] = found.pop() if len(found) == 1 else None
        return self._values[condition]

    def _in_world(self, condition: str, macros: Predefined) -> bool | None:
        def is_defined(name: bytes) -> bool | None:
            text = name.decode("latin-1")
            if self._is_own(text):
                return None
            if text in macros:
                return True
            return False if belongs_to_compilers(text) or text in self._missing else None

        def value(name: bytes, depth: int = 0) -> Number | None:
            defined = is_defined(name)
            if defined is not True:
                return Number(0) if defined is False else None
            text = macros[name.decode("latin-1")]
            tokens = lex_fragment((text or "").encode())
            if text is None or depth > 8 or len(tokens) != 1:
                return None
            if tokens[0].kind == "identifier":
                return value(tokens[0].text, depth + 1)
            return condition_literal(tokens[0].text)

        return condition_value(condition, is_defined, value, lambda _name: None)

    def _matters(self, name: str) -> bool:
        return name == _CORE or belongs_to_compilers(name) or any(name in it for it in self._worlds)

    def _is_own(self, name: str) -> bool:
        """Whether an option or a file of the project may define a name, or take it away."""
        if name in self._options:
            return True
        return any(
            self.false_one(conditions) is None and self.never(path) is None
            for path, conditions in self._named.get(name, ())
            if not (name == _CORE and _CORE_HEADER.fullmatch(path.name))
        )
