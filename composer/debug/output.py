"""Files of `fvmkit run --trace`: the ending of a name says what it will hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from composer.debug.statistics import Statistics, describe, statistics
from composer.debug.timeline import Timeline, Told, Words, make_timeline
from composer.debug.timeline_html import html_timeline
from composer.debug.timeline_json import json_timeline
from composer.debug.timeline_svg import render_timeline
from composer.debug.timeline_text import text_timeline
from composer.image.composed import Composed
from composer.image.write import write_all
from composer.simulate.tracer import Trace
from scanner.report.errors import MissingError

Writer = Callable[[Timeline, Statistics, Words], str]
FORMATS: dict[str, Writer] = {
    ".html": lambda timeline, numbers, _: html_timeline(timeline, numbers),
    ".json": lambda timeline, numbers, _: json_timeline(timeline, numbers),
    ".svg": lambda timeline, _numbers, _words: render_timeline(timeline) + "\n",
    ".txt": text_timeline,
}
# How a file of each format begins, so that only a trace is written over.
BEGINNINGS = {
    ".html": '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
    ".json": '{"displayTimeUnit": "ms",\n"fvmkit": ',
    ".svg": '<svg class="fvm-timeline"',
    ".txt": "Trace of ",
}


def check_target(path: Path) -> None:
    """MissingError when a trace can't go there, before anything runs."""
    if path.suffix not in FORMATS:
        raise MissingError(
            "a trace is text, a picture, a page or JSON by its name's ending",
            file=path,
            hint=f"let it end in {', '.join(FORMATS)}",
        )
    if not path.absolute().parent.is_dir():
        raise MissingError("can't be written: its folder doesn't exist", file=path)
    try:
        with path.open("rb") as file:
            beginning = file.read(200)
    except FileNotFoundError:
        return
    except OSError as error:
        raise MissingError(f"can't be written: {error.strerror}", file=path) from error
    if beginning and not beginning.startswith(BEGINNINGS[path.suffix].encode()):
        raise MissingError(
            "is there and is no trace of an earlier run", file=path, hint="choose another name"
        )


def write_trace(
    system: Composed, trace: Trace, faults: Sequence[Told], targets: Sequence[Path]
) -> list[str]:
    """Write all the files; returns the numbers of the run as lines for people."""
    timeline = make_timeline(system, trace, faults)
    numbers = statistics(system, trace)
    words = Words(system, trace)
    write_all({path: FORMATS[path.suffix](timeline, numbers, words).encode() for path in targets})
    return describe(numbers)
