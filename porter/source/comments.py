"""Comments of C, which linker scripts and assembler files under C's preprocessor have too."""

from __future__ import annotations

import re

_LITERAL = rb'"(?:\\.|[^"\\\n])*"' + rb"|'(?:\\.|[^'\\\n])'"  # assembler text has lone quotes
_COMMENT = re.compile(rb"(" + _LITERAL + rb")|/\*.*?\*/|//[^\r\n]*", re.DOTALL)


_BLANKED = bytes(byte if byte in b"\r\n" else ord(" ") for byte in range(256))


def without_comments(text: bytes) -> bytes:
    """The text with white space for its comments, every offset and end of line kept."""
    return _COMMENT.sub(lambda match: match.group(1) or blank(match.group()), text)


def blank(text: bytes) -> bytes:
    """The same number of bytes, all white space, ends of line kept."""
    return text.translate(_BLANKED)
