"""Pictures of the results: SVG without script or anything from elsewhere, for light and dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from math import ceil, log2

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 860, 60, 350, 44, 44
CURVE_HEIGHT, PANEL_HEIGHT, PANEL_GAP = 360, 110, 34
COLOURS = 8
STEPS = (1, 2, 5)
LABEL = 15  # pixels that a label at the end of a curve takes

STYLE = """
svg { --ink: #1d2430; --soft: #5b6675; --line: #d5dae1; --paper: #ffffff;
  --c0: #0072b2; --c1: #b07d00; --c2: #00845f; --c3: #b5497c; --c4: #7a5195; --c5: #c92a2a;
  --c6: #3b5bdb; --c7: #8a8f98; font: 12px system-ui, sans-serif; background: var(--paper); }
@media (prefers-color-scheme: dark) { svg { --ink: #e6e9ee; --soft: #9aa4b2; --line: #3a424e;
  --paper: #14181e; --c0: #56b4e9; --c1: #e0b040; --c2: #3fc99a; --c3: #e58ab8; --c4: #b79bd0;
  --c5: #ff8787; --c6: #91a7ff; --c7: #9aa0aa; } }
text { fill: var(--ink); } .soft { fill: var(--soft); } .title { font-weight: 600; }
.grid { stroke: var(--line); fill: none; } .curve { fill: none; stroke-width: 2; }
"""


@dataclass(frozen=True)
class Histogram:
    """One panel: how often each number of instructions was seen, and what to say of it."""

    title: str
    counts: Mapping[int, int]
    note: str


def _document(height: int, title: str, body: Sequence[str]) -> str:
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}"'
            f' viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">',
            f"<style>{STYLE}</style>",
            f'<text class="title" x="{LEFT}" y="20">{escape(title)}</text>',
            *body,
            "</svg>",
            "",
        ]
    )


def _step(most: float, wanted: int) -> int:
    """A round distance of grid lines, so that there are about as many as wanted."""
    exponent = 0
    while True:
        for factor in STEPS:
            step = factor * 10**exponent
            if most / step <= wanted:
                return int(step)
        exponent += 1


def _spread(places: Sequence[float]) -> list[float]:
    """The same order of heights, with room for a label each."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    found = list(places)
    for before, after in pairwise(order):
        found[after] = max(found[after], found[before] + LABEL)
    return found


def curves(
    title: str, axis: str, sizes: Sequence[int], series: Mapping[str, Sequence[float]]
) -> str:
    """Instructions over sizes, which double from step to step."""
    right, bottom = WIDTH - RIGHT, CURVE_HEIGHT - BOTTOM
    most = max(max(values) for values in series.values())
    step = _step(most, 8)
    top = ceil(most / step) * step

    def x(size: int) -> float:
        return LEFT + (right - LEFT) * (log2(size) - log2(sizes[0])) / log2(sizes[-1] / sizes[0])

    def y(value: float) -> float:
        return bottom - (bottom - TOP) * value / top

    body = []
    for value in range(0, top + 1, step):
        body.append(f'<path class="grid" d="M{LEFT} {y(value):.1f}H{right}"/>')
        body.append(
            f'<text class="soft" x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">'
            f"{value}</text>"
        )
    for size in sizes:
        body.append(f'<path class="grid" d="M{x(size):.1f} {bottom}v5"/>')
        body.append(f'<text x="{x(size):.1f}" y="{bottom + 18}" text-anchor="middle">{size}</text>')
    body.append(
        f'<text class="soft" x="{(LEFT + right) / 2:.0f}" y="{bottom + 36}" text-anchor="middle">'
        f"{escape(axis)}</text>"
    )
    body.append(f'<text class="soft" x="{LEFT}" y="{TOP - 8}">instructions, mean</text>')
    ends = _spread([y(values[-1]) for values in series.values()])
    for number, ((name, values), end) in enumerate(zip(series.items(), ends, strict=True)):
        colour = f"var(--c{number % COLOURS})"
        points = [(x(size), y(value)) for size, value in zip(sizes, values, strict=True)]
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
        body.append(f'<path class="curve" style="stroke:{colour}" d="M{path}"/>')
        body += [
            f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" style="fill:{colour}"/>' for a, b in points
        ]
        text = f"{name}: {values[0]:.0f} to {values[-1]:.0f}"
        body.append(
            f'<text x="{right + 10}" y="{end + 4:.1f}" style="fill:{colour}">{escape(text)}</text>'
        )
    return _document(CURVE_HEIGHT, title, body)


def histograms(title: str, panels: Sequence[Histogram]) -> str:
    """Panels below each other with one scale of instructions; heights are shares, from 0 to 1."""
    right = WIDTH - 30
    most = max(max(panel.counts) for panel in panels)
    step = _step(most, 10)
    top = ceil((most + 1) / step) * step
    height = TOP + len(panels) * (PANEL_HEIGHT + PANEL_GAP) + BOTTOM - PANEL_GAP

    def x(value: float) -> float:
        return LEFT + (right - LEFT) * value / top

    body = []
    for number, panel in enumerate(panels):
        start = TOP + number * (PANEL_HEIGHT + PANEL_GAP)
        base = start + PANEL_HEIGHT
        total, highest = sum(panel.counts.values()), max(panel.counts.values())
        body.append(f'<text x="{LEFT}" y="{start - 6}">{escape(panel.title)}</text>')
        body.append(
            f'<text class="soft" x="{right}" y="{start - 6}" text-anchor="end">'
            f"{escape(panel.note)}</text>"
        )
        body.append(f'<path class="grid" d="M{LEFT} {base}H{right}"/>')
        body.append(
            f'<text class="soft" x="{LEFT - 8}" y="{start + 10}" text-anchor="end">'
            f"{100 * highest / total:.0f} %</text>"
        )
        bars = "".join(
            f"M{x(value):.1f} {base}v{-(PANEL_HEIGHT - 12) * count / highest:.1f}"
            for value, count in sorted(panel.counts.items())
        )
        # What is rare would be lower than a pixel: a dot below the line says that it is there.
        dots = "".join(f"M{x(value):.1f} {base + 2}v3" for value in sorted(panel.counts))
        colour = f"var(--c{number % COLOURS})"
        body.append(f'<path style="stroke:{colour}; stroke-width:1.5" d="{bars}"/>')
        body.append(f'<path style="stroke:{colour}" d="{dots}"/>')
    last = height - BOTTOM
    for value in range(0, top + 1, step):
        body.append(
            f'<text class="soft" x="{x(value):.1f}" y="{last + 22}" text-anchor="middle">'
            f"{value}</text>"
        )
    body.append(
        f'<text class="soft" x="{(LEFT + right) / 2:.0f}" y="{last + 38}" text-anchor="middle">'
        "instructions from the trigger to the task</text>"
    )
    return _document(height, title, body)
