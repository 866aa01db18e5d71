"""A place that the oracle found."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, order=True)
class Place:
    """Lines of a file; `macro`: in the body of which #define it stands."""

    file: str
    line: int
    last: int
    kind: str
    text: str
    macro: str = ""

    def within(self, line: int, last: int, macro: str) -> Place:
        """The same as a part of a macro's definition."""
        return replace(self, line=min(self.line, line), last=max(self.last, last), macro=macro)

    def __str__(self) -> str:
        inside = f" (in #define {self.macro})" if self.macro else ""
        return f"{self.file}:{self.line}: {self.kind} {self.text}{inside}"
