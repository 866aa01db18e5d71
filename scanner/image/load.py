"""Any file format to an image."""

from __future__ import annotations

from scanner.image.elf import load_elf
from scanner.image.model import Image


def load_image(data: bytes) -> Image:
    """Read a program; whatever is wrong with it becomes a problem of the image, never an error."""
    return load_elf(data)
