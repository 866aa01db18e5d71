"""The errors a user can meet, in one tree that every package of the toolkit shares."""

from __future__ import annotations

from os import PathLike, fspath

from scanner.report.one_line import one_line


class FvmError(Exception):
    """Input was read and a person must change something.

    `str()` is one line `file:line:col: what, and what to do`; the parts that are unknown are left
    out. `exit_code` is what the command that stops on this error returns.
    """

    exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        file: str | PathLike[str] | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = None if file is None else fspath(file)
        self.line = line
        self.column = column
        self.hint = hint

    def __str__(self) -> str:
        place = ""
        if self.file is not None:
            place = one_line(self.file)
            for part in (self.line, self.column):
                if part is None:
                    break
                place += f":{part}"
            place += ": "
        advice = "" if self.hint is None else f"; {self.hint}"
        return f"{place}{self.message}{advice}"


class MissingError(FvmError):
    """A file or project that does not exist or can't be opened, or a wrong command line."""

    exit_code = 2


class InternalError(FvmError):
    """The toolkit contradicts itself: never the user's fault."""

    exit_code = 3
