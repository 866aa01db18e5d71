"""Which loader reads a file: decided by what is in it, never by its name."""

from __future__ import annotations

import re
from dataclasses import replace

from scanner.image.elf import is_elf, is_object, load_elf
from scanner.image.entropy import noise_problem
from scanner.image.hex import load_hex
from scanner.image.model import Image, UntrustedError
from scanner.image.raw import load_raw
from scanner.image.srec import load_srec
from scanner.image.text_records import MARK
from scanner.image.uf2 import MAGIC, load_uf2

MAX_CODE = 32 << 20
"""Bytes of code that are scanned."""

MAX_TEXT, MAX_BLOCKS = 3 * MAX_CODE, 2 * MAX_CODE
"""Bytes that a file of text records, or of UF2 blocks, needs for so much code."""

_HEX = re.compile(rb"(?:\s|;[^\r\n]{0,256}[\r\n]){0,64}:[0-9A-Fa-f]{2}")
_SREC = re.compile(rb"\s{0,64}S[0-9][0-9A-Fa-f]{2}")
_BEGINNING, _HEAD = 256, 32 << 10
_PRINTABLE = bytes([*range(0x20, 0x7F), *b"\t\r\n\x1a"])
_OTHERS = (
    (b"!<arch>\n", "a library of object files: link it into a program"),
    (b"MZ", "a program for Windows"),
    (b"\xcf\xfa\xed\xfe", "a program for macOS"),
    (b"PK\3\4", "a ZIP archive"),
    (b"\x1f\x8b", "compressed by gzip"),
    (b"DfuSe", "a DfuSe container: convert it to Intel HEX"),
)
_UNKNOWN = "no program"
_NEEDS_BASE = "neither ELF, Intel HEX, S-record nor UF2; a raw binary needs --base ADDRESS"


def load_image(data: bytes, *, base: int | None = None) -> Image:
    """Read a program of any format; whatever is wrong with it becomes a problem of the image.

    `base` is where a raw binary lies; files that say so themselves are read without it.
    """
    try:
        image = _load(data, base)
    except UntrustedError as error:
        return Image(problems=(error.problem,))
    noise = noise_problem(image.segments)
    return image if noise is None else replace(image, problems=(*image.problems, noise))


def no_program(beginning: bytes) -> str | None:
    """Why a file that begins like this need not be read where nobody named it; else None."""
    if is_object(beginning):
        return "an object file that is not linked yet"
    for magic, what in _OTHERS:
        if beginning.startswith(magic):
            return what
    texts = any(_is_text(form, beginning) for form in (_HEX, _SREC))
    known = texts or is_elf(beginning) or beginning.startswith(MAGIC)
    return None if known else _UNKNOWN


def is_raw(data: bytes) -> bool:
    """Whether nothing in a file says what it is, so that it may be a raw binary."""
    return bool(data) and no_program(data) == _UNKNOWN


def _load(data: bytes, base: int | None) -> Image:
    if not data:
        raise UntrustedError("empty", "the file is empty")
    if is_elf(data):
        return load_elf(data)
    if data.startswith(MAGIC):
        if len(data) > MAX_BLOCKS:
            raise _too_large(MAX_BLOCKS, "blocks")
        return load_uf2(data)
    for form, load in ((_HEX, load_hex), (_SREC, load_srec)):
        if _is_text(form, data):
            if len(data) > MAX_TEXT:
                raise _too_large(MAX_TEXT, "records")
            return load(data)
    if base is not None:
        if len(data) > MAX_CODE:
            raise _too_large(MAX_CODE, "code")
        return load_raw(data, base)
    for magic, what in _OTHERS:
        if data.startswith(magic):
            raise UntrustedError("unknown-format", what)
    raise UntrustedError("unknown-format", _NEEDS_BASE)


def _too_large(limit: int, what: str) -> UntrustedError:
    return UntrustedError("too-large", f"more than {limit >> 20} MiB of {what}")


def _is_text(form: re.Pattern[bytes], data: bytes) -> bool:
    text = data[:_HEAD].removeprefix(MARK)
    return form.match(text) is not None and not text[:_BEGINNING].translate(None, _PRINTABLE)
