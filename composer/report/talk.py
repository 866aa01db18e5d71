"""A recorded run: what was said on each console, and every restart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from composer.report.colours import colours
from composer.report.material import Material
from composer.simulate.transcript import Line, Recording

FAULT = "fault"
AGAIN = "again"  # a kind of line that says that those before it repeat
LONGEST_BLOCK = 6  # lines of a question and its answer
WORTH_FOLDING = 3


@dataclass(frozen=True)
class Conversation:
    """All that concerns one domain, in order."""

    name: str
    css: str
    lines: tuple[Line, ...]
    ticks: str
    dropped: str
    restarts: str


@dataclass(frozen=True)
class Reboot:
    """A restart of a domain: when, in words, and the record as the kernel wrote it."""

    tick: str
    name: str
    css: str
    sentence: str
    raw: str


@dataclass(frozen=True)
class Talk:
    """A run. `other`: it was recorded with another image."""

    conversations: tuple[Conversation, ...]
    kernel: tuple[Line, ...]
    checks: tuple[Line, ...]
    reboots: tuple[Reboot, ...]
    left_out: int
    other: bool

    @property
    def broken(self) -> tuple[Line, ...]:
        """Checks that were not kept."""
        return tuple(check for check in self.checks if not check.kept)


def talk(material: Material, run: Recording) -> Talk:
    """The run by domains; lines of names that are no domain's count as the kernel's."""
    css = colours(material.plan)
    names = [domain.name for domain in material.plan.domains]
    lines = [line for line in run.lines if line.text or line.kind != "said"]
    conversations = [
        _conversation(name, css[name], lines, run)
        for name in names
        if any(_owner(line) == name for line in lines)
    ]
    reboots = [
        Reboot(
            line.fields.get("tick", "?"),
            line.who,
            css.get(line.who, "dk"),
            line.sentence or line.text,
            line.text,
        )
        for line in lines
        if line.kind == "log" and line.fields.get("kind") == FAULT
    ]
    image = str(material.manifest["files"][material.elf.name]["sha256"])
    return Talk(
        tuple(conversations),
        tuple(line for line in lines if line.kind == "log" and line.who not in names),
        tuple(line for line in lines if line.kind == "check"),
        tuple(reboots),
        run.left_out,
        run.image != image,
    )


def _owner(line: Line) -> str:
    """`motor-controller:USART1` speaks for motor-controller."""
    return line.who.partition(":")[0] if line.kind != "check" else ""


def _conversation(name: str, css: str, lines: Sequence[Line], run: Recording) -> Conversation:
    stat = run.stats.get(name, {})
    return Conversation(
        name,
        css,
        tuple(folded([line for line in lines if _owner(line) == name])),
        *(stat.get(key, "") for key in ("ticks", "dropped", "restarts")),
    )


def folded(lines: Sequence[Line]) -> Iterator[Line]:
    """Lines without what repeats at once, as a script that asks until something happens."""
    start = 0
    while start < len(lines):
        size, times = _repeats(lines, start)
        yield from lines[start : start + size]
        if times > 1:
            noun = "line" if size == 1 else f"{size} lines"
            yield Line(AGAIN, "", f"the last {noun} {times - 1} times more")
        start += size * times


def _repeats(lines: Sequence[Line], start: int) -> tuple[int, int]:
    """Size of the block that begins here and how often it stands there: a line or an exchange."""
    for size in range(1, LONGEST_BLOCK + 1 if lines[start].kind == "typed" else 2):
        block, times = lines[start : start + size], 1
        while lines[start + times * size : start + (times + 1) * size] == block:
            times += 1
        if times >= WORTH_FOLDING:
            return size, times
    return 1, 1
