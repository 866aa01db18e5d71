"""Objects that an attribute of Arm's compilers puts at an address."""

from __future__ import annotations

import re
from collections.abc import Sequence

from porter.source.c_lexer import Token

_ATTRIBUTES = (b"at", b"__at", b"__at__")
_SECTION = re.compile(rb"\.ARM\.__at_(\w+)", re.ASCII)  # armclang's way to say at(...)
_AROUND = 9  # tokens that hold `__attribute__((zero_init, at(`


def placed_at(tokens: Sequence[Token], index: int) -> bytes | None:
    """What a token says in `at(0x20001000)` or `section(".ARM.__at_0x20001000")`; None for the
    others."""
    token = tokens[index]
    if token.kind == "string":
        section = _SECTION.search(token.text)
        return section[1] if section is not None else None
    if index < 2 or tokens[index - 1].text != b"(" or tokens[index - 2].text not in _ATTRIBUTES:
        return None
    around = tokens[max(0, index - _AROUND) : index]
    is_attribute = any(it.text in (b"__attribute__", b"__attribute") for it in around)
    return token.text if is_attribute else None
