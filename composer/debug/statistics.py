"""Numbers of a whole run, whether or not its first events are still known."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from composer.debug.timeline import Words
from composer.image.composed import Composed
from composer.simulate.shared import Kind
from composer.simulate.tracer import Lengths, Trace

KIND_NAMES = {
    Kind.CALL: "hypercall",
    Kind.TICK: "kernel tick",
    Kind.LINE: "interrupt",
    Kind.FAULT: "fault",
    Kind.DEFERRED: "deferred work",
    Kind.OTHER: "another exception",
    Kind.RESET: "start of the system",
}


@dataclass(frozen=True)
class Share:
    """What a lane executed, in instructions and as part of 1."""

    name: str
    instructions: int
    share: float


@dataclass(frozen=True)
class PathLine:
    """Kernel paths that began in one way. A path is not interrupted: it is the time for which
    interrupts wait. `longest_what`, `longest_where`: of the longest, its reason and whom it met."""

    kind: str
    count: int
    mean: float
    longest: int
    longest_at: int
    longest_what: str
    longest_where: str


@dataclass(frozen=True)
class Statistics:
    """All numbers; the unit of every length is the executed instruction."""

    instructions: int
    shares: tuple[Share, ...]
    switches: int
    interrupts: int
    ticks: int
    hypercalls: int
    stops: int
    restarts: int
    paths: tuple[PathLine, ...]
    longest_path: PathLine | None
    events: int
    lost: int

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def _path(words: Words, trace: Trace, kind: Kind, lengths: Lengths) -> PathLine:
    where = ""
    for lane in range(1, len(trace.lanes) - 1):
        function = words.function(lane, lengths.longest_pc)
        if words.holds(lane, lengths.longest_pc):
            where = f"{trace.lanes[lane]} {function}".rstrip()
    return PathLine(
        KIND_NAMES[kind],
        lengths.count,
        round(lengths.mean, 1),
        lengths.longest,
        lengths.longest_at,
        words.entry(kind, lengths.longest_argument),
        where,
    )


def statistics(system: Composed, trace: Trace) -> Statistics:
    """The numbers of a trace."""
    words = Words(system, trace)
    total = max(trace.instructions, 1)
    shares = tuple(
        Share(name, count, count / total)
        for name, count in zip(trace.lanes, trace.executed, strict=True)
        if count or name != trace.lanes[-1]
    )
    paths = {kind: _path(words, trace, kind, lengths) for kind, lengths in trace.paths.items()}
    longest = trace.longest_path
    return Statistics(
        instructions=trace.instructions,
        shares=shares,
        switches=trace.happened[Kind.SWITCH],
        interrupts=trace.happened[Kind.LINE],
        ticks=trace.happened[Kind.TICK],
        hypercalls=trace.happened[Kind.CALL],
        stops=trace.happened[Kind.CRIME],
        restarts=trace.happened[Kind.RESTART],
        paths=tuple(paths.values()),
        longest_path=None if longest is None else paths[longest[0]],
        events=len(trace.events),
        lost=trace.lost,
    )


def describe(numbers: Statistics) -> list[str]:
    """Lines for people."""
    width = max(len(share.name) for share in numbers.shares)
    lines = [f"{numbers.instructions:,} instructions"]
    lines += [
        f"  {share.name:{width}} {share.share:7.1%}  {share.instructions:,}"
        for share in numbers.shares
    ]
    lines.append(
        f"{numbers.switches:,} switches, {numbers.interrupts:,} interrupts,"
        f" {numbers.ticks:,} ticks, {numbers.hypercalls:,} hypercalls,"
        f" domains stopped {numbers.stops:,} times"
    )
    lines += [
        f"kernel path, {path.kind}: {path.count:,} times, mean {path.mean:,},"
        f" longest {path.longest:,}"
        for path in numbers.paths
        if path.kind != KIND_NAMES[Kind.RESET]
    ]
    if numbers.longest_path is not None:
        lines.append(f"longest kernel path: {long_path(numbers.longest_path)}")
    if numbers.lost:
        lines.append(
            f"of the events the last {numbers.events:,} are kept; {numbers.lost:,} earlier ones not"
        )
    return lines


def long_path(path: PathLine) -> str:
    """`436 instructions, tick in sensor-node f, at instruction 500,027`."""
    where = f" in {path.longest_where}" if path.longest_where else ""
    return (
        f"{path.longest:,} instructions without interrupts,"
        f" {path.kind if path.kind == path.longest_what else path.longest_what}{where},"
        f" at instruction {path.longest_at:,}"
    )
