"""Finds fault records and register dumps in whatever a person copied: a terminal, a mail, a ticket.

Around them may be anything: time stamps, prompts, colours, quotation marks, other people's text.
A line that was broken on its way is put together again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from composer.simulate.log import PREFIX, SAID, TASK, TEXT, Record, clean, parse
from composer.simulate.sentences import WROTE

MOST_BYTES = 4 << 20  # of a dump that is looked at
MOST_RECORDS = 500
MOST_TEXT = 480  # characters of one record, broken or not
BROKEN = 6  # lines that one record can have become
MARK = "fvm: fault "
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
QUOTED = re.compile(r"^(?:[>|]\s?)+")  # as mail programs put in front
SPEAKERS = (  # who says what follows
    re.compile(r"(\S+)\s+\|\s*$"),  # as `fvmkit run` puts in front
    re.compile(rf'{PREFIX}{TEXT} domain=(\S+) [^"]*{SAID.strip()}[^"]*$'),  # into the log
    re.compile(rf"(\S+){WROTE}.*$"),  # the same as `fvmkit run` shows it
)
FIELD = re.compile(r"^\S+=")
REGISTERS = "cfsr|hfsr|mmfar|mmar|bfar|pc|lr|sp|psp|msp|xpsr|psr|exc_return|r1[0-2]|r[0-9]"
REGISTER = re.compile(
    rf"\b({REGISTERS})\b[ \t]{{0,16}}[:=]?[ \t]{{0,16}}"
    r"(0x[0-9a-f]{1,8}|[0-9a-f]{8})\b",
    re.IGNORECASE,
)
SAME = {"mmar": "mmfar", "psr": "xpsr"}


@dataclass(frozen=True)
class Found:
    """A record; `line` is where it begins, from 1. `said_by`: the VM that printed it, so that it
    isn't the kernel's; '' for a record of the kernel's or of a file without names in front."""

    line: int
    record: Record
    said_by: str = ""


@dataclass(frozen=True)
class Registers:
    """A dump of registers by somebody else's fault handler."""

    line: int
    values: dict[str, int]


def as_text(content: bytes) -> str:
    """Text of a file; Windows programs write UTF-16. Bytes that are none become `?` later."""
    content = content[:MOST_BYTES]
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    return content.decode("utf-8", "replace")


def find(text: str) -> tuple[list[Found], list[Registers]]:
    """The kernel's fault records and the dumps of registers, each in their order."""
    lines = ESCAPE.sub("", text).replace("\r", "\n").split("\n")
    records = list(islice(_records(lines), MOST_RECORDS))
    return records, list(islice(_registers(lines), MOST_RECORDS))


def _records(lines: list[str]) -> Iterator[Found]:
    """Takes what it finds out of `lines`, so that nothing is found twice."""
    for number, line in enumerate(lines):
        before, *pieces = line.split(MARK)
        for piece in pieces:
            said_by = _speaker(before[-MOST_TEXT:])
            body, used = _whole(piece, lines[number + 1 : number + BROKEN])
            for taken in range(number, number + 1 + used):
                lines[taken] = ""
            yield Found(number + 1, parse(MARK + body), said_by)


def _speaker(before: str) -> str:
    """The VM that says what comes behind a text; '' for the kernel, or if the text doesn't tell."""
    found = next((match for form in SPEAKERS if (match := form.search(before))), None)
    return clean(found[1]) if found is not None and found[1] != "kernel" else ""


def _whole(piece: str, following: list[str]) -> tuple[str, int]:
    """A record up to the end of its task's name, and how many further lines it took.

    One that doesn't end is its first line.
    """
    body, used = piece[:MOST_TEXT], 0
    for line in following:
        if _complete(body) or MARK in line or len(body) >= MOST_TEXT:
            break
        rest = QUOTED.sub("", line).strip()
        # Mail programs break at a blank, which is lost; terminals anywhere.
        joint = " " if FIELD.match(rest) and not body.endswith("=") else ""
        body = (body.rstrip() + joint + rest)[:MOST_TEXT]
        used += 1
    if _complete(body):
        return body[: body.index('"', body.index(TASK) + len(TASK)) + 1], used
    return piece[:MOST_TEXT], 0


def _complete(body: str) -> bool:
    return body.partition(TASK)[2].find('"') >= 0


def _registers(lines: list[str]) -> Iterator[Registers]:
    """Dumps like `CFSR=00008200 BFAR=40000000 pc=08001234`, over one or more lines.

    A register that comes again begins the next dump. What has neither a status nor a pc is none.
    """
    values: dict[str, int] = {}
    start = last = 0
    for number, line in enumerate(lines, start=1):
        for name, value in REGISTER.findall(line[:MOST_TEXT]):
            key = SAME.get(name.lower(), name.lower())
            if key in values or (values and number > last + BROKEN):
                if _is_dump(values):
                    yield Registers(start, values)
                values = {}
            if not values:
                start = number
            values[key] = int(value, 16)
            last = number
    if _is_dump(values):
        yield Registers(start, values)


def _is_dump(values: dict[str, int]) -> bool:
    return len(values) > 1 and not values.keys().isdisjoint(("cfsr", "hfsr", "pc"))
