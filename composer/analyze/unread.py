"""What of a project couldn't be read, besides its build."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from composer.analyze.model import Work
from composer.analyze.switches import place
from porter.execution.survey import Survey
from porter.port import Judged

_SHOWN = 8


def unread(judged: Judged, survey: Survey | None) -> Iterator[Work]:
    """Headers and functions that aren't there, files that no compiler can read."""
    unseen, project = judged.result.unseen, judged.docket.project
    headers = unseen.certain
    if headers:
        names = [*dict.fromkeys(it.name for it in headers)]
        yield Work(
            f"headers: {_some(names)}",
            len(names),
            "they aren't in the tree, and what they define is unknown",
            "give their folders by -I DIR, or fetch what the project takes them from (submodules)",
            tuple(place(it.file, it.offset) for it in headers),
        )
    if unseen.calls:
        calls = [f"{it.name} ({it.count})" for it in unseen.calls]
        yield Work(
            f"functions: {_some(calls)}",
            len(calls),
            "they are called and aren't in the tree, and what they do is unknown",
            "add their sources, or vouch for them: port --known NAME",
            tuple(place(it.file, it.offset) for it in unseen.calls),
        )
    if survey is not None and survey.refused and survey.build.units:
        path, words = next(iter(survey.refused.items()))
        count, every = len(survey.refused), len(survey.refused) + len(survey.program.units)
        yield Work(
            f"files of C, of {every}",
            count,
            f"they can't be preprocessed as the build says: {_shown(survey, path, words)}",
            "correct what the compiler says, with -D or a configuration that it asks for",
            tuple(it.relative_to(survey.root).as_posix() for it in survey.refused
                  if it.is_relative_to(survey.root)),
        )  # fmt: skip
    if not project.program.is_whole:
        yield Work(
            "main()",
            1,
            "no file that is built defines it: what runs isn't known, and everything counts",
            "name the folder that the whole firmware is in",
        )


def _shown(survey: Survey, path: Path, words: str) -> str:
    """What the compiler says, with paths below the project."""
    text = words.replace(f"{survey.root.as_posix()}/", "")
    return text if path.name in text else f"{path.name}: {text}"


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"
