"""What a rule is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.sites.site import Site
from porter.source.edit import Edit


@dataclass(frozen=True)
class Sample:
    """A piece of C and what the porter makes of it; `escalates` says that a person is needed."""

    before: str
    after: str
    escalates: bool = False


class Rule(ABC):
    """One rule. `finds`, `becomes` and `why` are for people; `samples` are its tests."""

    id: ClassVar[str]
    finds: ClassVar[str]
    becomes: ClassVar[str]
    why: ClassVar[str]
    samples: ClassVar[tuple[Sample, ...]] = ()

    @abstractmethod
    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Verdicts on pending sites that this rule understands."""

    def rewritten(self, site: Site, reason: str, *edits: Edit) -> Verdict:
        """A site that runs in the virtual machine after these edits."""
        return Verdict(site, Status.REWRITTEN, self.id, reason, edits)

    def left(self, site: Site, reason: str) -> Verdict:
        """A site that stays as it is, for a reason."""
        return Verdict(site, Status.LEFT, self.id, reason)

    def escalated(self, site: Site, reason: str) -> Verdict:
        """A site that a person must change."""
        return Verdict(site, Status.ESCALATED, self.id, reason)


class Revision(Rule):
    """A rule on what other rules decided: its verdicts take the place of theirs."""

    def excused(self, unit: Unit, why: Callable[[Site], str | None]) -> Iterator[Verdict]:
        """Escalated sites that need nobody, for the reason that `why` gives."""
        for site, verdict in unit.verdicts.items():
            if verdict.status is Status.ESCALATED and (reason := why(site)) is not None:
                yield self.left(site, f"{reason}; else: {verdict.reason}")

    @abstractmethod
    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """New verdicts on settled sites."""
