"""The last rule: what nobody understood."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.registers.register import Register
from porter.rules.rule import Rule
from porter.sites.registers import DOUBTFUL
from porter.sites.site import Site, SiteKind
from porter.source.values import Number, Pointer

_MEMBER = re.compile(rb"\s*->\s*(\w+)")
_DOUBTFUL = (
    " by a header of the project, which may be another chip's, and something else by the struct "
    "that it is used as: say which chip it is by --domain"
)
_UNREAD = (
    ": the function around it can't be read, since a word in it isn't known to be a macro or a "
    "type; is a header missing?"
)


class Unknown(Rule):
    """Sites of a kind that is found but for which no rule exists."""

    id = "unknown"
    finds = "a privileged instruction or register access that no other rule understands"
    becomes = "itself"
    why = "a wrong rewriting is worse than a question"

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Escalates all that is left."""
        doubtful = {
            it.site: it.register.name
            for it in unit.accesses()
            if it.register is not None and it.register.block == DOUBTFUL
        }
        for site in unit.pending():
            if site in doubtful:
                yield self.escalated(site, f"{doubtful[site]}{_DOUBTFUL}")
                continue
            name = unit.region(site).name
            where = f"in the macro {name.decode('latin-1')}" if name is not None else "here"
            why = f"no rule knows what {_what(unit, site)} is for {where}"
            if unit.context(site) is None:
                why += _UNREAD
            yield self.escalated(site, why)


def _what(unit: Unit, site: Site) -> str:
    """A place as it is written, with the member of a block, or the register that a number is."""
    if site.kind is not SiteKind.REGISTER:
        return site.what
    member = _MEMBER.match(unit.file.data, site.end)
    if member is not None:
        return f"{site.what}->{member[1].decode('latin-1')}"
    register = _register(unit, site)
    return site.what if register is None else f"{site.what}, {register},"


def _register(unit: Unit, site: Site) -> Register | None:
    """The register whose address a name or number is, whatever is done with it."""
    match unit.text.evaluator.text(site.what.encode("latin-1")):
        case Number(value=address) | Pointer(address=int() as address):
            return unit.registers.space.identify(address)
    return None
