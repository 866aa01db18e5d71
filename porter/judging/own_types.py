"""Types that the project declares under names of <stdint.h>, otherwise than its compiler does.

`<fvm/guest.h>` includes <stdint.h>, and what is declared twice in two ways isn't compiled.
"""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.docket import Docket
from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.sites.site import Site, SiteKind

RULE = "own-types"
_GUEST = b"<fvm/guest.h>"
# As GCC and Clang for bare Arm and RISC-V with 32 bits have them (__UINT32_TYPE__ and so on).
_TYPES = {
    b"int8_t": b"signed char", b"int16_t": b"short", b"int32_t": b"long", b"int64_t": b"long long",
    b"uint8_t": b"unsigned char", b"uint16_t": b"unsigned short", b"uint32_t": b"unsigned long",
    b"uint64_t": b"unsigned long long", b"intptr_t": b"int", b"uintptr_t": b"unsigned int",
}  # fmt: skip
_WORDS = frozenset(b"signed unsigned char short int long __signed__".split())


def judge_own_types(docket: Docket) -> None:
    """A verdict for each such declaration, if some file needs the guest's headers."""
    if any(_GUEST in edit.replacement for port in docket.ports.values() for edit in port.edits):
        for unit in docket.units.values():
            docket.add(unit.file, list(_declarations(unit)))


def _declarations(unit: Unit) -> Iterator[Verdict]:
    tokens = unit.text.lexed.tokens
    if unit.file.path.name == "stdint.h":
        return  # the one that is included
    for index, token in enumerate(tokens):
        if token.text not in _TYPES or index == 0 or tokens[index + 1 : index + 2] == []:
            continue
        first = index
        while first and tokens[first - 1].text in _WORDS:
            first -= 1
        is_typedef = first > 0 and tokens[first - 1].text == b"typedef"
        if first == index or not is_typedef or tokens[index + 1].text != b";":
            continue
        words = [it.text for it in tokens[first:index]]
        start, end = tokens[first - 1].start, token.end
        if _plain(words) == _plain(_TYPES[token.text].split()) or not unit.is_compiled(start, end):
            continue
        name = token.text.decode()
        site = Site(unit.file.name, start, end, SiteKind.TYPE, name)
        reason = (
            f"<fvm/guest.h> includes <stdint.h>, where {name} is "
            f"{_TYPES[token.text].decode()}, and no compiler takes both: include <stdint.h> instead"
        )
        yield Verdict(site, Status.ESCALATED, RULE, reason)


def _plain(words: list[bytes]) -> list[bytes]:
    """The words of a type in one way of several to say it."""
    is_char = b"char" in words
    kept = [it.strip(b"_") for it in words if it != b"int" or len(words) == 1]
    kept = kept if is_char else [it for it in kept if it != b"signed"] or [b"int"]
    return sorted([*kept, b"int"] if kept == [b"unsigned"] else kept)
