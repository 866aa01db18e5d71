"""Text that writes PSP or CONTROL otherwise than by a call of CMSIS's function: what that one does
is seen where it is called."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from porter.context_switch.service_sites import function_around
from porter.program.c_text import CText
from porter.source.comments import without_comments
from porter.source.source_file import SourceFile

PSP = re.compile(
    rb"\b__(?:TZ_)?set_PSP(?:_NS)?\b|\bmsr(?:[a-z]{2})?\s+psp\b|\bPSP(?:_NS)?\s*=", re.IGNORECASE
)
CONTROL = re.compile(
    rb"msr(?:[a-z]{2})?(?:\s|\\[nt])+control\b|(?:asm_*|_[aw]sr\w*)\s*\(\s*\"control\"",
    re.IGNORECASE,
)
_OWN = frozenset({"__set_PSP", "__TZ_set_PSP_NS", "__set_CONTROL", "__get_CONTROL"})
_DEFINES = re.compile(rb"#\s*define\s+(\w+)")


def writes(
    source: SourceFile, text: Callable[[], CText], register: re.Pattern[bytes]
) -> Iterator[int]:
    """Where a file has such text; `text` is it taken apart, where it isn't assembler."""
    for match in register.finditer(without_comments(source.data)):
        if source.is_asm or not _is_own(text(), match):
            yield match.start()


def _is_own(text: CText, match: re.Match[bytes]) -> bool:
    """Whether it is in what CMSIS has for that, which nobody has called yet."""
    at = match.start()
    for directive in text.lexed.directives:
        if directive.start <= at < directive.end:
            name = _DEFINES.match(text.file.data, directive.start)
            return name is not None and name[1].decode("latin-1") in _OWN
    around = function_around(text.lexed.tokens, at)
    return around in _OWN or (not around and match.group().startswith(b"__"))
