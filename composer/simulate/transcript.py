"""What was said during a run: a file that `fvmkit run --record` writes and `report` shows.

    {"schema": 1, "system": NAME, "image": SHA-256 of its ELF, "left_out": 0,
     "lines": [{"kind": "said", "from": "sensor-node", "text": "ready"}, ...],
     "stats": [{"domain": "sensor-node", "tick": 5000, ...}, ...]}

Kinds: `said` by a VM's console; `typed` to it; `log`, a line of the kernel's, with its fields, and
as a sentence where it is a fault; `check`, what a script expected (`kept`: whether it was so).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from composer.simulate.log import Record, clean
from scanner.report.errors import FvmError, MissingError

SCHEMA = 1
BEGINNING = b'{\n "schema": 1,\n "system": '  # of the file
MOST_LINES = 5000  # of a run; a VM that talks without end doesn't fill the disk
LINE_BYTES = 400
MOST_LETTERS = 600  # of a line that is read; the kernel's are longer than a console's
MOST_BYTES = 16 << 20  # of a file that is read
STAT = "stat"
HINT = "take the file that fvmkit run --record wrote"
KINDS = ("said", "typed", "log", "check")


@dataclass(frozen=True)
class Line:
    """One line; `who` is the VM, the domain that a fault names, or the kernel."""

    kind: str
    who: str
    text: str
    sentence: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    kept: bool = True


@dataclass(frozen=True)
class Recording:
    """A run as it was written down. `stats`: the last statistics of each domain."""

    system: str
    image: str
    lines: tuple[Line, ...]
    stats: Mapping[str, Mapping[str, str]]
    left_out: int = 0


class Transcript:
    """Collects a run; bytes become lines, characters without a picture become `?`."""

    def __init__(self, system: str, image: str) -> None:
        self._system, self._image = system, image
        self._lines: list[Line] = []
        self._rest: dict[tuple[str, str], bytes] = {}
        self._stats: dict[str, Mapping[str, str]] = {}
        self._left_out = 0

    def said(self, name: str, data: bytes) -> None:
        """Bytes from a console."""
        self._feed("said", name, data, b"\n")

    def typed(self, name: str, data: bytes) -> None:
        """Bytes to a console; Enter is CR."""
        self._feed("typed", name, data, b"\r")

    def logged(self, record: Record, sentence: str) -> None:
        """A line of the kernel's log. Of the statistics only the last ones are kept."""
        if record.kind == STAT:
            if "domain" in record.fields:
                self._stats[record.fields["domain"]] = dict(record.fields)
            return
        who = record.fields.get("domain", "kernel")
        words = sentence if sentence != record.text else ""
        self._add(Line("log", who, record.text, words, {"kind": record.kind, **record.fields}))

    def checked(self, promise: str, kept: bool) -> None:
        """Something that a script expected of the run."""
        self._add(Line("check", "", clean(promise), kept=kept))

    def recording(self) -> Recording:
        """All so far; what has no line end yet counts as a line."""
        rest = [Line(kind, name, _text(data)) for (kind, name), data in self._rest.items() if data]
        return Recording(
            self._system, self._image, (*self._lines, *rest), self._stats, self._left_out
        )

    def save(self, file: Path) -> None:
        """Write it down. FvmError when the disk or the rights refuse."""
        try:
            file.write_text(as_json(self.recording()), "utf-8")
        except OSError as error:
            raise FvmError(f"can't be written: {error.strerror}", file=file) from error

    def _feed(self, kind: str, name: str, data: bytes, end: bytes) -> None:
        *lines, rest = (self._rest.get((kind, name), b"") + data).split(end)
        if len(rest) > LINE_BYTES:
            lines, rest = [*lines, rest], b""
        self._rest[kind, name] = rest
        for line in lines:
            self._add(Line(kind, name, _text(line)))

    def _add(self, line: Line) -> None:
        if len(self._lines) < MOST_LINES:
            self._lines.append(line)
        else:
            self._left_out += 1


def _text(data: bytes) -> str:
    return clean(data.rstrip(b"\r\n").decode("utf-8", "replace"))[:LINE_BYTES]


def as_json(run: Recording) -> str:
    """The file's text: the same run gives the same bytes."""
    document = {
        "schema": SCHEMA,
        "system": run.system,
        "image": run.image,
        "left_out": run.left_out,
        "lines": [_entry(line) for line in run.lines],
        "stats": [dict(fields) for fields in run.stats.values()],
    }
    return json.dumps(document, indent=1) + "\n"


def _entry(line: Line) -> dict[str, Any]:
    entry: dict[str, Any] = {"kind": line.kind, "from": line.who, "text": line.text}
    if line.kind == "log":
        entry |= {"sentence": line.sentence, "fields": dict(line.fields)}
    if line.kind == "check":
        entry["kept"] = line.kept
    return entry


def read_recording(file: Path) -> Recording:
    """A run from its file. MissingError or FvmError when it is none."""
    try:
        if file.stat().st_size > MOST_BYTES:
            raise FvmError(f"has more than {MOST_BYTES >> 20} MB", file=file, hint=HINT)
        document = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise MissingError(f"can't be opened: {error.strerror}", file=file) from error
    except (ValueError, RecursionError):
        raise FvmError(
            "is no JSON", file=file, hint="take what fvmkit run --record wrote"
        ) from None
    try:
        if document["schema"] != SCHEMA:
            raise ValueError("schema")
        stats = {str(s["domain"]): _strings(s) for s in document["stats"]}
        lines = tuple(_line(entry) for entry in document["lines"][:MOST_LINES])
        left_out = int(document["left_out"])
        return Recording(str(document["system"]), str(document["image"]), lines, stats, left_out)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FvmError(
            f"is no record of a run: {error} is missing or odd",
            file=file,
            hint=HINT,
        ) from None


def _line(entry: Mapping[str, Any]) -> Line:
    if entry["kind"] not in KINDS:
        raise ValueError("kind")
    return Line(
        entry["kind"],
        _cleaned(entry["from"]),
        _cleaned(entry["text"]),
        _cleaned(entry.get("sentence", "")),
        _strings(entry.get("fields", {})),
        entry.get("kept", True) is True,
    )


def _strings(fields: Mapping[str, Any]) -> dict[str, str]:
    return {_cleaned(key): _cleaned(value) for key, value in fields.items()}


def _cleaned(value: object) -> str:
    return clean(str(value)[:MOST_LETTERS])
