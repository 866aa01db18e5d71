"""A timeline as text: the numbers, a lane of letters a domain, then the events."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from composer.debug.statistics import Statistics, describe
from composer.debug.timeline import IDLE, Timeline, Words
from composer.debug.timeline_svg import COLUMNS, coverage
from composer.simulate.shared import Kind

WIDTH = 100  # letters of a lane
SHADES = " .:-=+*#%@"
MOST_EVENTS = 50_000  # lines; about 4 MB
SIGNS = {Kind.CRIME: "!", Kind.RESTART: "^"}


def text_timeline(timeline: Timeline, numbers: Statistics, words: Words) -> str:
    """The whole text."""
    lines = [f"Trace of {timeline.system}", *describe(numbers)]
    lines += (f"stop at instruction {stop.at:,}: {stop.text}" for stop in timeline.stops)
    lines += ["", *_lanes(timeline), ""]
    return "\n".join([*lines, *_events(timeline, words), ""])


def _lanes(timeline: Timeline) -> Iterator[str]:
    start, end = timeline.span
    names = timeline.trace.lanes
    width = max(len(names[lane]) for lane in timeline.lanes)
    yield f"{'':{width}} |{start:<{WIDTH - 16},}{end:>16,}|"
    for lane in timeline.lanes:
        pieces = [p for p in timeline.slices if p.lane == lane and p.row != IDLE]
        shares = coverage(pieces, start, end).reshape(WIDTH, COLUMNS // WIDTH).mean(axis=1)
        levels = np.ceil(shares * (len(SHADES) - 1)).clip(0, len(SHADES) - 1).astype(int)
        row = [SHADES[level] for level in levels]
        for mark in timeline.marks:
            if mark.lane == lane and mark.kind in SIGNS and start <= mark.at < end:
                row[(mark.at - start) * WIDTH // (end - start)] = SIGNS[mark.kind]
        yield f"{names[lane]:{width}} |{''.join(row)}|"
    yield f"{'':{width}}  the darker, the more it ran; ! a domain stopped, ^ it restarted"


def _events(timeline: Timeline, words: Words) -> Iterator[str]:
    trace = timeline.trace
    left_out = max(len(trace.events) - MOST_EVENTS, 0)
    if trace.lost or left_out:
        count = trace.lost + left_out
        yield f"({count:,} earlier events are left out; JSON has {len(trace.events):,})"
    stops = {stop.at: stop.text for stop in timeline.stops}
    width = max(len(trace.lanes[lane]) for lane in timeline.lanes)
    for event in trace.events[left_out:]:
        what = stops.get(event.at) if event.kind is Kind.CRIME else None
        yield f"{event.at:>14,}  {trace.lanes[event.lane]:{width}}  {what or words.event(event)}"
