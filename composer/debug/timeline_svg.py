"""A timeline as a picture: one lane a domain, a VM's two threads in a row each.

The picture is one SVG without script, font or anything from elsewhere, for light and dark. However
long the run was, it has a bounded number of shapes: time is cut into columns, and what a lane ran
in a column is a tint. Marks of a kind in one column become one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import numpy.typing as npt

from composer.debug.timeline import IDLE, Mark, Slice, Timeline
from composer.simulate.shared import Kind

COLUMNS = 900
COLUMN = 1  # pixels
LEFT, RIGHT, TOP, BOTTOM = 190, 20, 34, 46
LANE, GAP = 34, 10
TINTS = 8
COLOURS = 7  # of lanes; then they repeat
AXIS_STEPS = 8
TOLD = 3  # texts of marks that share a column
TICKS = {Kind.LINE: ("interrupts", -4, 4), Kind.CALL: ("hypercalls", LANE, 4)}

STYLE = """
.fvm-timeline { --ink: #1d2430; --soft: #5b6675; --line: #d5dae1; --paper: #ffffff;
  --c0: #8a8f98; --c1: #7a5195; --c2: #b07d00; --c3: #0072b2; --c4: #00845f; --c5: #b5497c;
  --c6: #3b5bdb; --fault: #c92a2a; --back: #2b8a3e;
  font: 12px system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { .fvm-timeline { --ink: #e6e9ee; --soft: #9aa4b2;
  --line: #3a424e; --paper: #14181e; --c0: #9aa0aa; --c1: #b79bd0; --c2: #e0b040; --c3: #56b4e9;
  --c4: #3fc99a; --c5: #e58ab8; --c6: #91a7ff; --fault: #ff8787; --back: #69db7c; } }
.fvm-timeline text { fill: var(--ink); }
.fvm-timeline .soft { fill: var(--soft); }
.fvm-timeline .paper { fill: var(--paper); }
.fvm-timeline .grid { stroke: var(--line); fill: none; }
.fvm-timeline .fault { fill: var(--fault); }
.fvm-timeline .back { fill: var(--back); }
.fvm-timeline .call { stroke: var(--soft); }
.fvm-timeline .crowd { fill: var(--soft); }
.fvm-timeline .irq { stroke: var(--ink); stroke-width: 1.5; }
"""


@dataclass(frozen=True)
class _Scale:
    """Instructions to columns."""

    start: int
    end: int

    def column(self, at: int) -> float:
        return (at - self.start) * COLUMNS / (self.end - self.start)


def render_timeline(timeline: Timeline, window: tuple[int, int] | None = None) -> str:
    """The picture as an <svg> element; `window` is a part of the run, in instructions."""
    first, last = timeline.span
    if window is not None:
        first, last = max(first, window[0]), min(last, window[1])
    scale = _Scale(first, max(last, first + 1))
    lanes = timeline.lanes
    height = TOP + len(lanes) * (LANE + GAP) + BOTTOM
    width = LEFT + COLUMNS * COLUMN + RIGHT
    title = f"Timeline of {timeline.system}: instructions {scale.start:,} to {scale.end:,}"
    parts = [
        f'<svg class="fvm-timeline" xmlns="http://www.w3.org/2000/svg" role="img"'
        f' viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f'<rect class="paper" width="{width}" height="{height}"/>',
        *_axis(scale, height),
    ]
    ran: dict[int, dict[str, list[Slice]]] = {lane: {} for lane in lanes}
    for piece in timeline.slices:
        if piece.end > scale.start and piece.start < scale.end:
            ran[piece.lane].setdefault(piece.row, []).append(piece)
    marks: dict[int, list[Mark]] = {lane: [] for lane in lanes}
    for mark in timeline.marks:
        if scale.start <= mark.at < scale.end:
            marks[mark.lane].append(mark)
    for row, lane in enumerate(lanes):
        top = TOP + row * (LANE + GAP)
        parts += _lane(timeline, lane, ran[lane], scale, top)
        parts += _marks(marks[lane], scale, top)
    parts += _legend(height)
    return "\n".join([*parts, "</svg>"])


def _axis(scale: _Scale, height: int) -> list[str]:
    parts = []
    bottom = height - BOTTOM
    for step in range(AXIS_STEPS + 1):
        x = LEFT + step * COLUMNS * COLUMN / AXIS_STEPS
        at = scale.start + step * (scale.end - scale.start) // AXIS_STEPS
        anchor = "end" if step == AXIS_STEPS else "middle" if step else "start"
        parts.append(f'<path class="grid" d="M{x:g} {TOP - 6}V{bottom}"/>')
        parts.append(
            f'<text class="soft" x="{x:g}" y="{TOP - 12}" text-anchor="{anchor}">'
            f"{short(at, scale.end - scale.start)}</text>"
        )
    return parts


def short(number: int, span: int) -> str:
    """1,234 / 56.78 k / 9.10 M, exact enough to tell the ends of a span apart."""
    for size, letter in ((1_000_000, " M"), (1_000, " k")):
        if span >= 10 * size:
            return f"{number / size:,.1f}{letter}"
    return f"{number:,}"


def _lane(
    timeline: Timeline, lane: int, ran: Mapping[str, Sequence[Slice]], scale: _Scale, top: int
) -> list[str]:
    name = timeline.trace.lanes[lane]
    share = timeline.trace.executed[lane] / max(timeline.trace.instructions, 1)
    middle = top + LANE / 2 + 4
    parts = [
        f'<text x="8" y="{middle:g}">{escape(name)}</text>',
        f'<text class="soft" x="{LEFT - 34}" y="{middle:g}" text-anchor="end">{share:.1%}</text>',
        f'<path class="grid" d="M{LEFT} {top + LANE + GAP / 2:g}h{COLUMNS * COLUMN}"/>',
    ]
    colour = f"var(--c{lane % COLOURS})"
    unknown = ran.get("", ())  # of a VM: before the first switch that is known
    if not timeline.is_vm(lane):
        parts += _tints(unknown, scale, top, LANE, colour)
        return parts + _tints(ran.get(IDLE, ()), scale, top + LANE - 3, 3, "var(--soft)")
    half = LANE // 2
    for row, y, pieces in (("VCT", top, ()), ("USR", top + half, unknown)):
        parts.append(
            f'<text class="soft" x="{LEFT - 4}" y="{y + 13}" text-anchor="end">{row}</text>'
        )
        parts += _tints([*ran.get(row, ()), *pieces], scale, y, half - 1, colour)
    return parts


def coverage(pieces: Sequence[Slice], start: int, end: int) -> npt.NDArray[np.float64]:
    """For each column the part of it, 0 to 1, that these slices ran."""
    total = np.zeros(COLUMNS + 2)
    per = (end - start) / COLUMNS
    for piece in pieces:
        low = max(piece.start - start, 0) / per
        high = min(piece.end - start, end - start) / per
        if high <= low:
            continue
        first, last = int(low), int(high)
        if first == last:
            total[first] += high - low
            continue
        total[first] += first + 1 - low
        total[first + 1 : last] += 1
        total[last] += high - last
    return total[:COLUMNS]


def _tints(
    pieces: Sequence[Slice], scale: _Scale, y: float, height: float, colour: str
) -> list[str]:
    """Rectangles; neighbours of one tint are one. However short something ran, it is seen."""
    levels = np.ceil(coverage(pieces, scale.start, scale.end) * TINTS).clip(0, TINTS)
    changes = np.flatnonzero(np.diff(levels, prepend=-1.0, append=-1.0))
    parts = []
    for first, last in zip(changes[:-1].tolist(), changes[1:].tolist(), strict=True):
        level = int(levels[first])
        if level:
            opacity = 0.15 + 0.85 * level / TINTS
            parts.append(
                f'<rect x="{LEFT + first * COLUMN}" y="{y:g}" width="{(last - first) * COLUMN}"'
                f' height="{height:g}" fill="{colour}" fill-opacity="{opacity:.2f}"/>'
            )
    return parts


def _marks(marks: Sequence[Mark], scale: _Scale, top: int) -> list[str]:
    """Ticks above the lane for interrupts, below it for calls; triangles for stops and restarts.

    Columns with more than a few ticks are merged with their neighbours of the same kind.
    """
    columns: dict[tuple[Kind, int], list[Mark]] = {}
    for mark in marks:
        columns.setdefault((mark.kind, int(scale.column(mark.at))), []).append(mark)
    parts = []
    crowds: list[tuple[Kind, int, int, int]] = []  # kind, first and last column, how many
    for (kind, column), there in sorted(columns.items()):
        if kind in TICKS and len(there) > TOLD:
            if crowds and crowds[-1][0] is kind and crowds[-1][2] == column - 1:
                _, first, _, count = crowds.pop()
                crowds.append((kind, first, column, count + len(there)))
            else:
                crowds.append((kind, column, column, len(there)))
            continue
        x, bottom = LEFT + column * COLUMN + 0.5, top + LANE
        shape = {
            Kind.LINE: f'<path class="irq" d="M{x:g} {top - 5}v8"',
            Kind.CALL: f'<path class="call" d="M{x:g} {bottom}v4"',
            Kind.CRIME: f'<path class="fault" d="M{x:g} {top + 9}l-6 -12h12z"',
            Kind.RESTART: f'<path class="back" d="M{x:g} {bottom - 7}l-5 10h10z"',
        }[kind]
        parts.append(f"{shape}><title>{escape(_told(there))}</title></path>")
    for kind, first, last, count in crowds:
        name, offset, tall = TICKS[kind]
        parts.append(
            f'<rect class="crowd" x="{LEFT + first * COLUMN}" y="{top + offset}"'
            f' width="{(last + 1 - first) * COLUMN}" height="{tall}">'
            f"<title>{count:,} {name}</title></rect>"
        )
    return parts


def _told(marks: Sequence[Mark]) -> str:
    lines = [f"{mark.at:,}: {mark.text}" for mark in marks[:TOLD]]
    if len(marks) > TOLD:
        lines.append(f"and {len(marks) - TOLD} more")
    return "\n".join(lines)


def _legend(height: int) -> list[str]:
    y = height - 16
    entries = (
        (0, '<path class="irq" d="M{x} {up}v8"/>', "interrupt"),
        (100, '<path class="call" d="M{x} {up}v5"/>', "hypercall"),
        (205, '<path class="fault" d="M{x} {y}l-6 -12h12z"/>', "domain stopped"),
        (345, '<path class="back" d="M{x} {up}l-5 10h10z"/>', "domain restarted"),
    )
    parts = []
    for offset, shape, text in entries:
        x = LEFT + offset
        parts.append(shape.format(x=x, y=y, up=y - 9))
        parts.append(f'<text class="soft" x="{x + 12}" y="{y}">{text}</text>')
    parts.append(
        f'<text class="soft" x="{LEFT + COLUMNS * COLUMN}" y="{y}" text-anchor="end">'
        "unit: executed instructions (sleep takes none)</text>"
    )
    return parts
