"""Line and column of every element and attribute, and a first look for what is refused.

libxml2 keeps lines of elements but no columns, and nothing of attributes; expat gives byte
offsets. It runs first and refuses a document type declaration, so no entity is ever expanded.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.parsers import expat

from composer.description.model import Place
from scanner.report.errors import FvmError, MissingError

_LARGEST = 1024 * 1024  # bytes; a description is a few kilobytes


class Positions:
    """Places of the elements in document order."""

    def __init__(self, file: Path) -> None:
        self.file = str(file)
        self.data = _read(file)
        self._starts: list[int] = []
        parser = expat.ParserCreate()
        parser.StartElementHandler = lambda *_: self._starts.append(parser.CurrentByteIndex)
        parser.StartDoctypeDeclHandler = lambda *_: self._refuse(parser.CurrentByteIndex)
        try:
            parser.Parse(self.data, True)
        except expat.ExpatError as error:
            raise FvmError(
                f"not well-formed XML: {expat.ErrorString(error.code)}",
                file=self.file,
                line=error.lineno,
                column=error.offset + 1,
                hint="correct the markup",
            ) from None
        except (LookupError, ValueError) as error:  # Python's codecs have the last word
            raise FvmError(
                f"is in an encoding that can't be read: {error}",
                file=self.file,
                line=1,
                column=1,
                hint='save it as UTF-8 and write encoding="UTF-8"',
            ) from None

    def element(self, index: int) -> Place:
        """Where the element number `index` (document order) starts."""
        return self._place(self._starts[index])

    def attribute(self, index: int, name: str) -> Place:
        """Where attribute `name` of element `index` stands; the element when it has none."""
        start = self._starts[index]
        tag = re.compile(rb"""<(?:"[^"]*"|'[^']*'|[^>"'])*>""").match(self.data, start)
        pattern = rb"""\s(""" + re.escape(name.encode()) + rb""")\s*="""
        blanked = re.sub(
            rb""""[^"]*"|'[^']*'""",
            lambda quoted: b'"' + b"." * (len(quoted.group()) - 2) + b'"',
            tag.group() if tag else b"",
        )
        found = re.search(pattern, blanked)
        return self._place(start + found.start(1) if found else start)

    def _place(self, offset: int) -> Place:
        before = self.data[:offset]
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        return Place(self.file, before.count(b"\n") + 1, column)

    def _refuse(self, offset: int) -> None:
        raise self._place(offset).error(
            "a document type declaration is not allowed", "remove <!DOCTYPE ...>"
        )


def _read(file: Path) -> bytes:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise MissingError(
            f"can't open the description: {error.strerror}", file=file, hint="check the path"
        ) from None
    if len(data) > _LARGEST:
        raise FvmError(
            "a description larger than 1 MB is refused", file=file, hint="is it the right file?"
        )
    return data
