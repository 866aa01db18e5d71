"""One C file while the rules look at it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from porter.project.domain import Domain
from porter.project.knowledge import CText
from porter.rules.verdict import Status, Verdict
from porter.sites.c_sites import CSites, Registers
from porter.sites.context import Context, Contexts
from porter.sites.region import Region
from porter.sites.site import Site, SiteKind
from porter.source.c_lexer import Token
from porter.source.edit import Edit
from porter.source.source_file import SourceFile
from porter.source.token_tools import matching, split_arguments


@dataclass(frozen=True)
class Call:
    """A call found in the tokens: [start, end) and the text of each argument."""

    start: int
    end: int
    arguments: tuple[bytes, ...]
    is_statement: bool


class Unit:
    """Sites of a file, what is decided about them, and questions that rules ask."""

    def __init__(self, sites: CSites, domain: Domain | None) -> None:
        self.found = sites
        self.domain = domain
        self.verdicts: dict[Site, Verdict] = {}

    @property
    def text(self) -> CText:
        """The file taken apart."""
        return self.found.text

    @property
    def file(self) -> SourceFile:
        """The file."""
        return self.found.text.file

    @property
    def registers(self) -> Registers:
        """Which values are registers."""
        return self.found.registers

    @property
    def contexts(self) -> Contexts:
        """Syntax around a place."""
        return self.found.contexts

    def pending(self, kind: SiteKind | None = None) -> Iterator[Site]:
        """Sites without a verdict, in order."""
        for site in self.found.sites:
            if site not in self.verdicts and (kind is None or site.kind is kind):
                yield site

    def settle(self, verdict: Verdict) -> None:
        """Record a verdict; the first one stands."""
        self.verdicts.setdefault(verdict.site, verdict)

    def context(self, site: Site) -> Context | None:
        """The syntax around a site."""
        return self.contexts.of(self.region(site), site.start, site.end)

    def region(self, site: Site) -> Region:
        """The code or macro body that a site is in."""
        return self.found.regions[site]

    @cached_property
    def _token_index(self) -> dict[int, dict[int, int]]:
        return {}

    def token_index(self, site: Site) -> tuple[tuple[Token, ...], int]:
        """The tokens around a site and the index of its own."""
        region = self.region(site)
        index = self._token_index.setdefault(
            region.start, {token.start: number for number, token in enumerate(region.tokens)}
        )
        return region.tokens, index[site.start]

    def call(self, site: Site) -> Call | None:
        """The call whose function name the site is; None if the name is used otherwise."""
        tokens, index = self.token_index(site)
        if index + 1 >= len(tokens) or tokens[index + 1].text != b"(":
            return None
        closing = matching(tokens, index + 1)
        if closing is None:
            return None
        arguments = tuple(
            self.file.data[part[0].start : part[-1].end]
            for part in split_arguments(tokens[index + 2 : closing])
            if part
        )
        before = tokens[index - 1].text if index else b";"
        after = tokens[closing + 1].text if closing + 1 < len(tokens) else b";"
        return Call(
            site.start,
            tokens[closing].end,
            arguments,
            after == b";" and before in (b";", b"{", b"}", b":"),
        )

    def edits(self) -> set[Edit]:
        """Every edit decided so far."""
        return {
            edit
            for verdict in self.verdicts.values()
            if verdict.status is Status.REWRITTEN
            for edit in verdict.edits
        }
