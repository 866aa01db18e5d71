"""A timeline as one page: the numbers, the whole run, and a closer look at what matters."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from composer.debug.statistics import Statistics, describe, long_path
from composer.debug.timeline import Timeline
from composer.debug.timeline_svg import render_timeline

CLOSE = 6_000  # instructions of a closer look
MOST_STOPS = 5
STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 1140px; padding: 0 1rem;
  background: #ffffff; color: #1d2430; }
@media (prefers-color-scheme: dark) { body { background: #14181e; color: #e6e9ee; } }
figure { margin: 1.5rem 0; overflow-x: auto; }
figcaption { font-weight: 600; }
pre { overflow-x: auto; }
"""


def html_timeline(timeline: Timeline, numbers: Statistics) -> str:
    """The whole page."""
    name = escape(timeline.system)
    figures = "\n".join(
        f"<figure><figcaption>{escape(caption)}</figcaption>\n"
        f"{render_timeline(timeline, window)}</figure>"
        for caption, window in _looks(timeline, numbers)
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Timeline of {name}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>Timeline of {name}</h1>\n"
        f"<pre>{escape(chr(10).join(describe(numbers)))}</pre>\n"
        f"{_stops(timeline)}\n{figures}\n</body></html>\n"
    )


def _stops(timeline: Timeline) -> str:
    items = "".join(f"<li>{stop.at:,}: {escape(stop.text)}</li>" for stop in timeline.stops)
    return f"<h2>Domains stopped</h2><ul>{items}</ul>" if items else ""


def _looks(timeline: Timeline, numbers: Statistics) -> Iterator[tuple[str, tuple[int, int]]]:
    start, end = timeline.span
    yield ("The run" if not numbers.lost else "The last part of the run"), (start, end)
    seen = [mark for mark in timeline.stops if mark.at >= start]
    for mark in seen[:MOST_STOPS]:
        yield mark.text, (mark.at - CLOSE // 2, mark.at + CLOSE // 2)
    longest = numbers.longest_path
    if longest is not None and longest.longest_at >= start:
        middle = longest.longest_at + longest.longest // 2
        window = (middle - CLOSE // 2, middle + CLOSE // 2)
        yield f"The longest kernel path: {long_path(longest)}", window
    yield "The end", (max(end - CLOSE, start), end)
