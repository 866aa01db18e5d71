"""What of a project couldn't be read, besides its build."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from composer.analyze.model import Work
from composer.analyze.switches import place
from porter.port import Judged
from porter.program.preprocess import preprocessed

_SHOWN = 8


def unread(judged: Judged) -> Iterator[Work]:
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
    yield from _refused(judged)
    if not project.program.is_whole:
        yield Work(
            "main()",
            1,
            "no file that is built defines it: what runs isn't known, and everything counts",
            "name the folder that the whole firmware is in",
        )


def _refused(judged: Judged) -> Iterator[Work]:
    """Files that the compiler doesn't get through, with what it says of the first."""
    project = judged.docket.project
    units = {it: options for it, options in project.build.units.items() if it.suffix == ".c"}
    lost = [it for it in units if not project.knowledge.was_asked(it)]
    words = preprocessed({it: units[it] for it in lost[:1]})[1]
    for path, said in words.items():
        text = said.replace(f"{project.root.as_posix()}/", "")
        yield Work(
            f"files of C, of {len(units)}",
            len(lost),
            f"they can't be preprocessed as the build says: {path.name}: {text}",
            "correct what the compiler says, with -D or a configuration that it asks for",
            tuple(Path(os.path.relpath(it, project.root)).as_posix() for it in lost),
        )


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"
