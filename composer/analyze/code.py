"""The code of a program that runs, function by function, for who looks for names in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from porter.port import Judged
from porter.program.c_text import CText
from porter.source.c_lexer import Token
from porter.source.source_file import SourceFile

_ENDS = frozenset({b";", b"{", b"}"})


@dataclass(frozen=True)
class Stretch:
    """Tokens of a function's body; of what is outside functions, `function` is ""."""

    text: CText
    function: str
    tokens: list[Token]

    @property
    def file(self) -> SourceFile:
        """The file that it is in."""
        return self.text.file

    def place(self, token: Token) -> str:
        """`file:line` of a token."""
        return f"{self.file.name}:{self.file.line(token.start)}"

    def statements(self) -> Iterator[list[Token]]:
        """Tokens between semicolons and braces."""
        found: list[Token] = []
        for token in self.tokens:
            if token.text in _ENDS:
                if found:
                    yield found
                found = []
            else:
                found.append(token)
        if found:
            yield found


def running(judged: Judged) -> Iterator[Stretch]:
    """All C that the program reaches, as far as anybody knows, in files that it is built from."""
    project = judged.docket.project
    for unit in judged.docket.units.values():
        text, tokens, after = unit.text, unit.text.balanced, 0
        outside: list[Token] = []
        for name, body, end in text.with_members:
            outside += tokens[after : max(after, body)]
            after = max(after, end)
            function = name.decode("latin-1")
            if project.program.why_not(function) is None:
                yield Stretch(text, function, _compiled(judged, text, tokens[body:end]))
        if not text.file.is_header:
            yield Stretch(text, "", _compiled(judged, text, outside + tokens[after:]))


def _compiled(judged: Judged, text: CText, tokens: list[Token]) -> list[Token]:
    """Those that no #if leaves out."""
    knowledge = judged.docket.project.knowledge
    known: dict[int, bool] = {}
    found = []
    for token in tokens:
        arm = text.conditions.arm(token.start)
        if arm.start not in known:
            known[arm.start] = not arm.conditions or knowledge.is_arm_compiled(
                text, token.start, token.end
            )
        if known[arm.start]:
            found.append(token)
    return found
