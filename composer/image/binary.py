"""One built part of the system, read through the scanner's loader."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from scanner.image.elf import load_elf
from scanner.image.model import Image, Segment
from scanner.report.errors import FvmError, MissingError

REBUILD = "run fvmkit build again"


@dataclass(frozen=True)
class Binary:
    """An ELF whose segments are known to be inside the file.

    `image.problems` may hold more: of a domain the scanner judges them, of the kernel link does.
    """

    name: str
    path: Path
    sha256: str
    entry: int
    image: Image

    @property
    def stored(self) -> tuple[Segment, ...]:
        """The segments that take room in the flash, by load address."""
        found = (segment for segment in self.image.segments if segment.data)
        return tuple(sorted(found, key=lambda segment: segment.load_address))


def read_binary(name: str, path: Path) -> Binary:
    """Read an ELF; FvmError when it isn't one or is cut short."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise MissingError(f"can't be opened: {error.strerror}", file=path, hint=REBUILD) from error
    image = load_elf(content)
    if not image.segments or image.entry is None:
        text = image.problems[0].text if image.problems else "has no entry address"
        raise FvmError(text, file=path, hint=REBUILD)
    return Binary(name, path, hashlib.sha256(content).hexdigest(), image.entry, image)
