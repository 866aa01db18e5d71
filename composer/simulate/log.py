"""The kernel's log as it comes over the console UART.

Lines are `fvm: KIND key=value ...`. One value of a line was chosen by a guest, the name of the
running task or what a VM wrote: the hypervisor puts it last and in quotes, and nothing behind its
opening quote is taken for a field. Whatever can't be parsed is passed on as text without control
characters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

PREFIX = "fvm: "
TASK, SAID = ' task="', ' said="'
TEXT = "text"  # the kind of line that has what a VM wrote
LINE_BYTES = 512  # the longest line of the hypervisor has less than half of that
FIELD = re.compile(r"([a-z_]+)=(\S+)")


@dataclass(frozen=True)
class Record:
    """One line: `kind` is its first word, "" for text that is no line of the kernel's."""

    kind: str
    text: str
    fields: dict[str, str] = field(default_factory=dict)
    task: str = ""
    said: str = ""

    def number(self, key: str) -> int | None:
        """A field as a number; None when it is missing, `none` or no number."""
        try:
            return int(self.fields[key], 0)
        except (KeyError, ValueError):
            return None


def clean(text: str) -> str:
    """Text without anything that could move a terminal's cursor or forge a line."""
    return "".join(letter if letter.isascii() and letter.isprintable() else "?" for letter in text)


def parse(line: str) -> Record:
    """One line without its end."""
    text = clean(line)
    if not text.startswith(PREFIX):
        return Record("", text)
    kind, *_ = text[len(PREFIX) :].split(maxsplit=1) or [""]
    opening = SAID if kind == TEXT else TASK
    body, _, rest = text[len(PREFIX) :].partition(opening)
    chosen = rest.rpartition('"')[0]
    quoted = {"said": chosen} if kind == TEXT else {"task": chosen}
    return Record(kind, text, dict(FIELD.findall(body)), **quoted)


class LineReader:
    """Cuts a stream of bytes into records; a line that never ends is cut at LINE_BYTES."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[Record]:
        """The records that `data` completes."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LINE_BYTES:
            lines.append(self._rest)
            self._rest = b""
        return [parse(line.rstrip(b"\r").decode("ascii", "replace")) for line in lines]
