"""Encodings that LLVM names beside the rules that the scanner has for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from proofs.encodings import scanner_tables
from proofs.encodings.llvm import Decoder, Encoding, decode

_SHOWN = 8


class Row(NamedTuple):
    """One encoding: its name on the core, or on a larger one of the family; the scanner's rules."""

    encoding: Encoding
    text: str | None
    elsewhere: str | None
    found: frozenset[str]

    @property
    def hexadecimal(self) -> str:
        """The halfwords, first one first."""
        return " ".join(f"{half:04x}" for half in self.encoding)


class Reason(NamedTuple):
    """Why rows differ and may; `holds` says of which."""

    text: str
    holds: Callable[[str, Row], bool]


@dataclass
class Comparison:
    """How many encodings were compared; differences by reason and what is told, and without one."""

    compared: int = 0
    named: int = 0
    explained: Counter[tuple[str, str]] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)

    def add(self, other: Comparison) -> None:
        """Count more."""
        self.compared += other.compared
        self.named += other.named
        self.explained += other.explained
        self.unexplained += other.unexplained

    def lines(self) -> Iterable[str]:
        """All of it for people."""
        yield f"{self.compared} encodings compared, {self.named} of them instructions to LLVM"
        by_reason: dict[str, list[str]] = {}
        for (reason, told), count in self.explained.most_common():
            by_reason.setdefault(reason, []).append(f"{count} told as {told}")
        for reason, counts in by_reason.items():
            yield f"  {', '.join(counts)}: {reason}"
        for one in self.unexplained[:_SHOWN]:
            yield f"  UNEXPLAINED {one}"
        if len(self.unexplained) > _SHOWN:
            yield f"  UNEXPLAINED {len(self.unexplained) - _SHOWN} more"


def compare(
    arch: str,
    decoder: Decoder,
    elsewhere: Sequence[str | None],
    encodings: Sequence[Encoding],
    wanted: Callable[[str, Row], str | None],
    reasons: Sequence[Reason],
) -> Comparison:
    """Compare what `wanted` says should be told with what the scanner tells."""
    texts = decode(decoder, encodings)
    found = scanner_tables.rules(arch, encodings)
    result = Comparison(compared=len(encodings), named=sum(text is not None for text in texts))
    for row in map(Row, encodings, texts, elsewhere, found):
        rule = wanted(arch, row)
        if row.found == ({rule} if rule is not None else set()):
            continue
        reason = next((one.text for one in reasons if one.holds(arch, row)), None)
        told = " and ".join(sorted(row.found)) or "nothing"
        if reason is None:
            name = row.text or row.elsewhere
            text = f"{arch} {row.hexadecimal} {name}: {rule or 'nothing'} wanted, {told} told"
            result.unexplained.append(text)
        else:
            result.explained[reason, told] += 1
    return result


def unknown(arch: str, row: Row) -> bool:
    """What is told, and no core is known to have."""
    return row.text is None and row.elsewhere is None and bool(row.found)


UNKNOWN = Reason(
    "no core of LLVM has it, bits that should be set or not being otherwise; it is told as what it "
    "is without them, since silicon may not look at them",
    unknown,
)
