"""What Intel HEX and S-records share: lines of hexadecimal digits."""

from __future__ import annotations

import binascii
from collections.abc import Iterator
from io import BytesIO

MARK = b"\xef\xbb\xbf"
"""The mark of UTF-8 that editors put in front of a text; it is no part of it."""

_END_OF_TEXT = b"\x1a \t\r\n"


def numbered_lines(data: bytes, comment: bytes | None = None) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, without the space around them, numbered from 1.

    `comment` begins lines that are for people. Behind the last line may stand what CP/M and DOS
    end a text with.
    """
    for number, line in enumerate(BytesIO(data.removeprefix(MARK).rstrip(_END_OF_TEXT)), start=1):
        text = line.strip()
        if text and (comment is None or not text.startswith(comment)):
            yield number, text


def decode(digits: bytes) -> bytes | None:
    """Bytes of a row of digits; None if there is anything else in it."""
    try:
        return binascii.unhexlify(digits)
    except binascii.Error:
        return None
