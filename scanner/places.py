"""The places of an image that a person knows: functions, source lines, calls inlined there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from scanner.image.inlined import InlinedCall
from scanner.image.model import Image
from scanner.report.finding import Finding, Inlined
from scanner.source_tree import SourceTree


class Places:
    """Source files are those of `tree` where they are there."""

    def __init__(self, image: Image, tree: SourceTree | None) -> None:
        self._image, self._tree = image, tree

    def function(self, address: int) -> str | None:
        """The function that holds an address."""
        symbols = self._image.symbols
        return symbols.function_at(address) if symbols else None

    def sources(self, addresses: Iterable[int]) -> dict[int, str]:
        """`file:line` of the addresses for which debug information has one."""
        lines = self._image.lines
        found = {} if lines is None else lines.locate(addresses, self._tree is not None)
        return {address: self._in_tree(source) for address, source in found.items()}

    def of(self, findings: Sequence[Finding]) -> list[Finding]:
        """The findings with all of that."""
        addresses = [finding.address for finding in findings if finding.address is not None]
        sources, lines = self.sources(addresses), self._image.lines
        joined = self._tree is not None
        calls = {} if lines is None else lines.inlined(addresses, joined)
        return [
            one
            if one.address is None
            else replace(
                one,
                function=self.function(one.address),
                source=sources.get(one.address),
                inlined=self._inlined(one.address, calls.get(one.address, ())),
            )
            for one in findings
        ]

    def _inlined(self, address: int, chain: Sequence[InlinedCall]) -> tuple[Inlined, ...]:
        callers = [*(call.function for call in chain[1:]), self.function(address)]
        return tuple(
            Inlined(call.function, call.source and self._in_tree(call.source), caller)
            for call, caller in zip(chain, callers, strict=False)
        )

    def _in_tree(self, source: str) -> str:
        if self._tree is None:
            return source
        file, _, line = source.rpartition(":")
        return f"{self._tree.place(file)}:{line}"
