"""What Intel HEX and S-records share: lines of hexadecimal digits."""

from __future__ import annotations

import binascii
from collections.abc import Iterator
from io import BytesIO


def numbered_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, without the space around them, numbered from 1."""
    for number, line in enumerate(BytesIO(data), start=1):
        text = line.strip()
        if text:
            yield number, text


def decode(digits: bytes) -> bytes | None:
    """Bytes of a row of digits; None if there is anything else in it."""
    try:
        return binascii.unhexlify(digits)
    except binascii.Error:
        return None
