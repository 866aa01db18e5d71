"""Recorded conversations with the example's consoles: what was asked and what was answered.

A recording is a text file:

    # a comment
    motor-controller> set speed 1200
    speed 1200
    ok
    sensor-node~ get setpoint
    setpoint 1200
    ok

`NAME> TEXT` sends a line, in which \\xNN stands for a byte; the answer follows, up to `ok`,
`error: ...` or the `ready` of a restart. `NAME~ TEXT` asks again until that answer comes.
Fields `t=` (time) and `n=` (counts) are recorded as `#`: they may have any value, but must not
fall between two restarts. Everything else must be the same byte for byte.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.console import Console, is_end_of_answer

QUESTION = re.compile(r"([a-z-]+)([>~]) (.*)")
_FIELD = re.compile(r"\b([tn])=(\d+)")
_PATIENCE = 120.0  # seconds for a `~` answer, on a busy host


@dataclass(frozen=True)
class Exchange:
    """One question and its answer, normalised."""

    console: str
    sent: str
    is_repeated: bool
    answer: tuple[str, ...]
    line: int  # in the recording

    @property
    def bytes(self) -> bytes:
        """What goes over the line, without the end of line."""
        return self.sent.encode("ascii").decode("unicode_escape").encode("latin-1")


def read_recording(file: Path) -> list[Exchange]:
    """The exchanges of a recording. ValueError names a line that is none."""
    exchanges: list[Exchange] = []
    asked: tuple[str, str, bool, int] | None = None
    answer: list[str] = []
    for number, text in enumerate(file.read_text("ascii").splitlines(), 1):
        match = QUESTION.fullmatch(text) if asked is None else None
        if asked is not None:
            answer.append(text)
            if is_end_of_answer(text):
                name, sent, is_repeated, line = asked
                exchanges.append(Exchange(name, sent, is_repeated, tuple(answer), line))
                asked, answer = None, []
        elif match:
            asked = (match[1], match[3], match[2] == "~", number)
        elif text and not text.startswith("#"):
            raise ValueError(f"{file}:{number}: neither question nor comment: {text!r}")
    if asked is not None:
        raise ValueError(f"{file}: the last answer has no end")
    return exchanges


def normalise(lines: list[str]) -> tuple[str, ...]:
    """The answer with `#` for every time and count."""
    return tuple(_FIELD.sub(r"\1=#", line) for line in lines)


@dataclass
class Monotonic:
    """Times and counts of one console: they don't fall unless it restarts."""

    last: dict[str, list[int]] = field(default_factory=dict)

    def check(self, lines: list[str]) -> None:
        """AssertionError if a value is smaller than it was in an earlier answer of that kind."""
        for line in lines:
            if line == "ready":
                self.last.clear()
            values = [int(match[2]) for match in _FIELD.finditer(line)]
            if values:
                kind = line.split()[0]
                before = self.last.get(kind, [0] * len(values))
                assert all(a <= b for a, b in zip(before, values, strict=True)), (before, line)
                self.last[kind] = values


def play(exchanges: list[Exchange], consoles: Mapping[str, Console]) -> None:
    """Has the conversation; AssertionError at the first answer that differs."""
    seen = {name: Monotonic() for name in consoles}
    for exchange in exchanges:
        lines = answer_to(exchange, consoles[exchange.console])
        seen[exchange.console].check(lines)
        assert normalise(lines) == exchange.answer, f"line {exchange.line}: {exchange.sent}"


def answer_to(exchange: Exchange, console: Console) -> list[str]:
    """The lines of the answer; a repeated question is asked until the recorded answer comes."""
    end = time.monotonic() + _PATIENCE
    while True:
        lines = console.ask(exchange.bytes)
        is_done = normalise(lines) == exchange.answer or time.monotonic() > end
        if is_done or not exchange.is_repeated:
            return lines


def counts(line: str) -> dict[str, int]:
    """The times and counts of an answer line by the word before them; `t=` alone is `t`.

    `status t=120 hb1 n=12` gives {"t": 120, "hb1": 12}.
    """
    words = line.split()[1:]
    result: dict[str, int] = {}
    label = ""
    for word in words:
        match = re.fullmatch(r"(\w+)=(\d+)", word)
        if match:
            result[label if match[1] in "tn" and label else match[1]] = int(match[2])
            label = ""
        else:
            label = f"{label} {word}".strip()
    return result
