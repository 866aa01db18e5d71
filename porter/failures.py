"""Errors of fvmkit itself: in which file, line and step, while the other files go on."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from scanner.report.errors import FvmError, InternalError
from scanner.report.one_line import one_line

_HERE = Path(__file__).resolve().parent.parent
_SEND = (
    "an error of fvmkit itself, not of your project: please send its authors this line, "
    f'"fvmkit {version("fvmkit")}" and what it takes to see it again'
)


class StepFailed(InternalError):
    """A step met an error that nobody expected; `step` says what was being done."""

    def __init__(
        self, step: str, error: Exception, file: str | None = None, line: int | None = None
    ) -> None:
        self.step = step
        self.told = _told(error)
        self.trace = tuple(traceback.format_exception(error))
        super().__init__(
            f"internal error while {step}: {self.told}", file=file, line=line, hint=_SEND
        )


@dataclass(frozen=True)
class Failure:
    """Why a file isn't ported. `line`: of it, where the step was, if that is known; `error`: with
    the place in fvmkit's own text; `trace`: the way there, for who mends it."""

    file: str
    line: int | None
    step: str
    error: str
    trace: tuple[str, ...]

    @property
    def place(self) -> str:
        """`file:line`."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        return f"{self.place}: not ported: internal error while {self.step}: {self.error}"


@contextmanager
def step(
    doing: str,
    file: str | None = None,
    line: Callable[[], int | None] = lambda: None,
    passes: tuple[type[Exception], ...] = (),
) -> Iterator[None]:
    """Says what was being done where an error comes up that nobody expected: the innermost step
    counts. What a user can mend goes through as it is, and so do `passes`."""
    through: tuple[type[Exception], ...] = (StepFailed, *passes)
    try:
        yield
    except through:
        raise
    except Exception as error:
        if isinstance(error, FvmError) and not isinstance(error, InternalError):
            raise
        raise StepFailed(doing, error, file, line()) from error


class Failures:
    """The files that such an error keeps from being ported, each with its first one."""

    def __init__(self) -> None:
        self.found: dict[Path, Failure] = {}

    @contextmanager
    def of(self, path: Path, name: str, doing: str) -> Iterator[None]:
        """Work on one file. An error in it ends this work alone; `name`: as the report has it."""
        try:
            with step(doing):
                yield
        except StepFailed as error:
            self.add(path, failure_of(error, name))

    def add(self, path: Path, failure: Failure) -> None:
        """Another file."""
        self.found.setdefault(path, failure)


def failure_of(error: StepFailed, name: str) -> Failure:
    """What the report says of it, in a file called `name`."""
    return Failure(error.file or name, error.line, error.step, error.told, error.trace)


def what_to_send(count: int, of: int, what: str) -> str:
    """Whose error it is, and what those who can mend it need; `what`: a file or a handler, of
    which `count` `of` so many failed."""
    return (
        f"{count} of {of} {what}s failed by an error of fvmkit itself, not of your project: "
        "nothing is written for them. Please send its authors the lines above that say so, "
        f'"fvmkit {version("fvmkit")}", the trace that port -v and --json show, and the file with '
        "what it includes, or a part of it that does the same"
    )


def _told(error: Exception) -> str:
    """The error in a line, with the place where it came up in fvmkit's own text."""
    said = str(error) if isinstance(error, InternalError) else repr(error)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename).resolve()
        if file.is_relative_to(_HERE) and ".venv" not in file.relative_to(_HERE).parts:
            inside = file.relative_to(_HERE).as_posix()
            return one_line(f"{said} ({inside}:{frame.lineno} in {frame.name})")
    return one_line(said)
