"""C functions of RISC-V that the compiler makes interrupt handlers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.rules.rule import Rule
from porter.sites.interrupt_attributes import WORDS, Attribute, attribute_around
from porter.sites.site import Site, SiteKind
from porter.source.edit import Edit
from porter.source.source_file import SourceFile

_SPACE = b" \t"
_ENDS_LINE = re.compile(rb"[ \t]*(?=\r?\n|\Z)")
_NEEDS_NO_SPACE = b";,)"


class InterruptAttribute(Rule):
    """The word goes, and the attribute with its last word."""

    id = "interrupt-attribute"
    finds = "__attribute__((interrupt)), also with the mode, among other words and in a macro"
    becomes = "nothing: an ordinary function"
    why = "such a function ends in mret, which traps; a machine's vectors are called and return"

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Attribute by attribute; what can't be edited exactly stays."""
        for site in unit.pending(SiteKind.ATTRIBUTE):
            tokens, index = unit.token_index(site)
            attribute = attribute_around(tokens, index)
            if attribute is None or tokens[index].text not in WORDS:
                yield self.escalated(
                    site,
                    "makes an interrupt handler, which ends in mret: a machine's vectors are plain "
                    "functions, so take the attribute out",
                )
            elif any(
                attribute.start <= it.start < attribute.end for it in unit.text.lexed.directives
            ):
                yield self.escalated(
                    site, "an attribute with #if arms in it: take out what makes it end in mret"
                )
            else:
                edit = _without(unit.file, attribute, site)
                yield self.rewritten(site, "a machine's vectors are plain functions", edit)


def _without(file: SourceFile, attribute: Attribute, site: Site) -> Edit:
    """The edit that takes one word out; all of them take out the attribute."""
    others = [word for word in attribute.words if word and word[0].text not in WORDS]
    if not others:
        return _whole(file, attribute)
    written = [word for word in attribute.words if word]
    if len(written) - len(others) > 1:
        text = b", ".join(file.data[it[0].start : it[-1].end] for it in others)
        return Edit(written[0][0].start, written[-1][-1].end, text)
    number = next(n for n, word in enumerate(written) if word[0].start == site.start)
    if number + 1 < len(written):
        return Edit(site.start, written[number + 1][0].start, b"")
    return Edit(written[number - 1][-1].end, written[number][-1].end, b"")


def _whole(file: SourceFile, attribute: Attribute) -> Edit:
    """An attribute's deletion, with the line that it has for itself or a space beside it."""
    data, start, end = file.data, attribute.start, attribute.end
    line = file.line_start(start)
    rest = _ENDS_LINE.match(data, end)
    if rest is not None:
        continues = data[:line].rstrip(b"\r\n").endswith(b"\\")
        if not data[line:start].strip() and not continues:
            return Edit(line, file.line_end(end), b"")
        return Edit(_before(data, start), end, b"")
    while data[end : end + 1] and data[end] in _SPACE:
        end += 1
    if data[end] in _NEEDS_NO_SPACE:
        return Edit(_before(data, start), end, b"")
    is_apart = not start or data[start - 1 : start].isspace()
    return Edit(start, end, b"" if is_apart else b" ")


def _before(data: bytes, start: int) -> int:
    """Where the space before a place begins."""
    while start and data[start - 1] in _SPACE:
        start -= 1
    return start
