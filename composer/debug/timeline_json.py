"""A timeline for trace viewers: the trace-event format that Perfetto and Chrome's tracing read.

One microsecond of the viewer is one instruction. `fvmkit` has the numbers.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from composer.debug.statistics import Statistics
from composer.debug.timeline import Timeline

PROCESS = 1


def json_timeline(timeline: Timeline, numbers: Statistics) -> str:
    """The file's text, one event a line."""
    names = timeline.trace.lanes
    events: list[dict[str, Any]] = [
        _about("process_name", 0, timeline.system),
        *(_about("thread_name", lane, names[lane]) for lane in timeline.lanes),
    ]
    lines = [json.dumps(event) for event in events]
    lines += (
        f'{{"ph": "X", "pid": {PROCESS}, "tid": {piece.lane}, "ts": {piece.start},'
        f' "dur": {piece.end - piece.start}, "name": {_quoted(piece.row or names[piece.lane])}}}'
        for piece in timeline.slices
    )
    lines += (
        f'{{"ph": "i", "s": "t", "pid": {PROCESS}, "tid": {mark.lane}, "ts": {mark.at},'
        f' "cat": "{mark.kind.name.lower()}", "name": {_quoted(mark.text)}}}'
        for mark in timeline.marks
    )
    about = json.dumps({"schema": 1, "system": timeline.system, **numbers.as_json()})
    body = ",\n".join(lines)
    return f'{{"displayTimeUnit": "ms",\n"fvmkit": {about},\n"traceEvents": [\n{body}\n]}}\n'


def _about(what: str, lane: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": PROCESS, "tid": lane, "name": what, "args": {"name": name}}


@cache
def _quoted(text: str) -> str:
    """As JSON; there are few texts and many events."""
    return json.dumps(text)
