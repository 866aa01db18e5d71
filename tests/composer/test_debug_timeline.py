"""The timeline as picture, page, text and JSON, of a run that is made up."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest
from lxml import etree

from composer.debug.output import FORMATS, check_target, write_trace
from composer.debug.statistics import describe, statistics
from composer.debug.timeline import Told, Words, make_timeline
from composer.debug.timeline_html import html_timeline
from composer.debug.timeline_json import json_timeline
from composer.debug.timeline_svg import render_timeline
from composer.debug.timeline_text import text_timeline
from composer.image.composed import Composed, read_composed
from composer.simulate.kernel_map import Thread
from composer.simulate.shared import Kind
from composer.simulate.tracer import Event, Lengths, Trace
from scanner.report.errors import MissingError

SVG = "{http://www.w3.org/2000/svg}"
THREADS = (
    Thread(0, "VCT", False), Thread(0, "USR", False), Thread(1, "VCT", False),
    Thread(1, "USR", False),
)  # fmt: skip
HOSTILE = 'alpha rebooted (1): task "</title><script>alert(1)</script>"'


def trace_of(rounds: int) -> Trace:
    """Each round: USR of alpha calls, line 38 comes, VCT of beta runs; at last alpha is stopped."""
    events = [Event(0, Kind.RESET, 0, 1, 0)]
    at = 100
    for _ in range(rounds):
        events += [
            Event(at, Kind.SWITCH, 0, 1, 0),
            Event(at, Kind.LANE, 1, 0, 0),
            Event(at + 300, Kind.CALL, 1, 8, 0),
            Event(at + 350, Kind.LINE, 0, 38, 0),
            Event(at + 360, Kind.SWITCH, 0, 2, 0),
            Event(at + 400, Kind.LANE, 2, 0, 0),
            Event(at + 500, Kind.CALL, 2, 0, 0),
        ]
        at += 600
    stop = Event(at - 50, Kind.CRIME, 0, 1, 0)
    events += [stop, Event(at - 20, Kind.RESTART, 0, 0, 0)]
    return Trace(
        lanes=("kernel", "alpha", "beta", "nobody's code"),
        threads=THREADS,
        instructions=at,
        executed=(at - 400 * rounds, 300 * rounds, 100 * rounds, 0),
        happened={kind: sum(event.kind is kind for event in events) for kind in Kind},
        paths={
            Kind.RESET: Lengths(1, 100, 100, 0),
            Kind.CALL: Lengths(2 * rounds, 150 * rounds, 100, 600, longest_argument=0),
            Kind.LINE: Lengths(rounds, 50 * rounds, 50, 450, longest_argument=38),
        },
        spans=(),
        events=tuple(events),
        lost=0,
        stops=(stop,),
    )


@pytest.fixture
def system(built: Path) -> Composed:
    return read_composed(built)


def test_lanes_add_up_to_the_run(system: Composed) -> None:
    timeline = make_timeline(system, trace_of(3))
    assert timeline.span == (0, 1900)
    assert sum(piece.end - piece.start for piece in timeline.slices) == 1900
    ran = {
        lane: sum(p.end - p.start for p in timeline.slices if p.lane == lane) for lane in range(4)
    }
    assert ran == {0: 700, 1: 900, 2: 300, 3: 0}
    assert {(p.lane, p.row) for p in timeline.slices} == {
        (0, ""), (1, "USR"), (2, "VCT"),
    }  # fmt: skip


def test_numbers_in_words(system: Composed) -> None:
    lines = describe(statistics(system, trace_of(3)))
    assert lines[:4] == [
        "1,900 instructions", "  kernel   36.8%  700", "  alpha    47.4%  900",
        "  beta     15.8%  300",
    ]  # fmt: skip
    assert lines[4] == ("6 switches, 3 interrupts, 0 ticks, 6 hypercalls, domains stopped 1 times")
    # The start of the system is longer, but no interrupt waits for it.
    assert lines[-1] == (
        "longest kernel path: 100 instructions without interrupts, vct_wait, at instruction 600"
    )


def test_the_picture_stands_alone_for_light_and_dark(system: Composed) -> None:
    picture = render_timeline(make_timeline(system, trace_of(3), [Told("alpha", HOSTILE)]))
    root = etree.fromstring(picture.encode())
    assert root.tag == f"{SVG}svg"
    assert not root.findall(f".//{SVG}script")
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert {"kernel", "alpha", "beta", "VCT", "USR", "47.4%"} <= set(texts)
    titles = [element.text or "" for element in root.iter(f"{SVG}title")]
    assert any(HOSTILE in title for title in titles)
    assert any("hypercall evt_snd" in title for title in titles)
    assert any("interrupt USART2" in title for title in titles)
    assert "prefers-color-scheme: dark" in picture
    assert set(re.findall(r"https?://[^\"' ]+", picture)) == {"http://www.w3.org/2000/svg"}


def test_a_stop_takes_its_own_sentence(system: Composed) -> None:
    trace = trace_of(3)
    stops = (trace.stops[0], Event(1870, Kind.CRIME, 0, 3, 0), Event(1890, Kind.CRIME, 0, 0, 0))
    trace = dataclasses.replace(trace, stops=stops)
    told = [Told("alpha", "alpha rebooted (1)"), Told("alpha", "alpha rebooted (2)")]
    assert [stop.text for stop in make_timeline(system, trace, told).stops] == [
        "alpha rebooted (1)", "stop of beta USR", "alpha rebooted (2)",
    ]  # fmt: skip


def test_a_long_run_is_no_larger_picture(system: Composed) -> None:
    short, long = (
        len(render_timeline(make_timeline(system, trace_of(rounds)))) for rounds in (2000, 40000)
    )
    assert long < 1.2 * short < 500_000


def test_a_window_shows_its_part(system: Composed) -> None:
    timeline = make_timeline(system, trace_of(100), [Told("alpha", HOSTILE)])
    early, late = render_timeline(timeline, (0, 1000)), render_timeline(timeline, (60_000, 60_100))
    assert "alpha rebooted" in late and "alpha rebooted" not in early
    assert "instructions 0 to 1,000" in early


def test_a_run_without_events(system: Composed) -> None:
    nothing = dataclasses.replace(
        trace_of(0), instructions=0, executed=(0, 0, 0, 0), paths={}, events=(), stops=()
    )
    timeline, numbers = make_timeline(system, nothing), statistics(system, nothing)
    etree.fromstring(render_timeline(timeline).encode())
    assert "0 instructions" in text_timeline(timeline, numbers, Words(system, nothing))
    assert "0 instructions" in html_timeline(timeline, numbers)
    json.loads(json_timeline(timeline, numbers))


def test_text_tells_each_event(system: Composed) -> None:
    trace = trace_of(3)
    text = text_timeline(
        make_timeline(system, trace, [Told("alpha", HOSTILE)]),
        statistics(system, trace),
        Words(system, trace),
    )
    lines = text.splitlines()
    assert "           450  kernel  interrupt USART2" in lines
    assert "           400  alpha   hypercall evt_snd" in lines
    assert "         1,850  kernel  " + HOSTILE in lines
    assert "         1,880  kernel  restart of alpha" in lines
    lane = next(line for line in lines if line.startswith("alpha "))
    assert len(lane) == len("kernel |") + 101 and "!" in lane


def test_json_is_what_trace_viewers_read(system: Composed) -> None:
    trace = trace_of(3)
    numbers = statistics(system, trace)
    document = json.loads(json_timeline(make_timeline(system, trace), numbers))
    events = document["traceEvents"]
    assert {event["ph"] for event in events} == {"M", "X", "i"}
    names = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    assert names[1] == "alpha"
    assert sum(e["dur"] for e in events if e["ph"] == "X" and e["tid"] == 1) == 900
    assert document["fvmkit"]["longest_path"]["longest"] == 100


def test_only_traces_are_written_over(system: Composed, tmp_path: Path) -> None:
    targets = [tmp_path / f"my trace{ending}" for ending in FORMATS]
    for _ in range(2):
        for target in targets:
            check_target(target)
        write_trace(system, trace_of(2), (), targets)
    for target in targets:
        target.write_text("what a user wrote")
        with pytest.raises(MissingError, match="is no trace of an earlier run"):
            check_target(target)
    with pytest.raises(MissingError, match=r"let it end in \.html, \.json, \.svg, \.txt"):
        check_target(tmp_path / "trace.png")
    with pytest.raises(MissingError, match="folder doesn't exist"):
        check_target(tmp_path / "gone" / "trace.svg")
    with pytest.raises(MissingError, match="can't be written"):
        (tmp_path / "folder.svg").mkdir()
        check_target(tmp_path / "folder.svg")
