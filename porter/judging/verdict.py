"""How a site ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from porter.sites.site import Site
from porter.source.edit import Edit


class Status(Enum):
    """Every site gets one of these."""

    REWRITTEN = "rewritten"
    LEFT = "left"
    ESCALATED = "escalated"


@dataclass(frozen=True)
class Verdict:
    """`edits` carry out a rewriting; several sites of one statement may share an edit. `also`:
    first and last lines elsewhere that it speaks of, as uses of a macro with the site in it."""

    site: Site
    status: Status
    rule: str
    reason: str
    edits: tuple[Edit, ...] = ()
    also: tuple[tuple[Path, int, int], ...] = ()
