"""A timeline picture, as `fvmkit run --trace FILE.svg` writes it, made part of the page.

It is shown as an image: whatever a file of that name holds, in an image nothing runs and nothing
is loaded.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from composer.report.text import printable
from scanner.report.errors import FvmError, MissingError

MOST_BYTES = 8 << 20
SVG = "{http://www.w3.org/2000/svg}"
HINT = "take the file that fvmkit run --trace FILE.svg wrote"


@dataclass(frozen=True)
class Timeline:
    """The picture as a data URL, and its title."""

    url: str
    title: str


def read_timeline(file: Path) -> Timeline:
    """MissingError or FvmError when it is no such picture."""
    try:
        with file.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise MissingError(f"can't be opened: {error.strerror}", file=file) from error
    if len(content) > MOST_BYTES:
        raise FvmError(f"has more than {MOST_BYTES >> 20} MB", file=file, hint=HINT)
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise FvmError(f"is no SVG: {error.msg}", file=file, hint=HINT) from None
    if root.tag != f"{SVG}svg":
        raise FvmError("is no SVG", file=file, hint=HINT)
    title = root.findtext(f"{SVG}title") or "Timeline"
    data = base64.b64encode(content).decode("ascii")
    return Timeline(f"data:image/svg+xml;base64,{data}", printable(title))
