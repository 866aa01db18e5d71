"""WFE behind a request of an exception that the same code makes.

The processor takes the exception before it waits, and its return sets the event register (ARMv7-M
Architecture Reference Manual, B1.5.18): that WFE waits for nothing. A call that requests an
exception has had it served when it returns, and leaves no event for a wait in the kernel.
"""

from __future__ import annotations

import re

from porter.flow.barriers import is_barrier
from porter.flow.statements import enclosing_statement
from porter.judging.unit import Unit
from porter.sites.site import Site, SiteKind
from porter.source.c_tree import Node, text_of

REASON = "removed: the exception that was requested just before is the event"
_REQUESTS = 1 << 31 | 1 << 28 | 1 << 26  # NMIPENDSET, PENDSVSET, PENDSTSET of ICSR
_PENDS = re.compile(rb"\bNVIC_SetPendingIRQ\b")


def own_event(unit: Unit, site: Site) -> Node | None:
    """The statement of a WFE, if what stands in front of it requests an exception."""
    context = unit.context(site)
    node = context.node_at(site.start, site.end) if context is not None else None
    statement = enclosing_statement(node) if node is not None else None
    before = statement.prev_named_sibling if statement is not None else None
    while before is not None and (before.type == "comment" or is_barrier(before)):
        before = before.prev_named_sibling
    return statement if before is not None and _requests(unit, before) else None


def _requests(unit: Unit, statement: Node) -> bool:
    if statement.type != "expression_statement":
        return False
    if _PENDS.search(text_of(statement)):
        return True
    for site in unit.found.sites:
        access = unit.access(site) if site.kind is SiteKind.REGISTER else None
        if access is None:
            continue
        where = access.context
        inside = where.tree is unit.variables.tree and (
            statement.start_byte <= access.whole.start_byte < statement.end_byte
        )
        if inside and str(access.register) == "SCB->ICSR" and access.use == "write":
            value = access.value
            number = unit.text.evaluator.number(value, where.scope) if value is not None else None
            return number is None or bool(number & _REQUESTS)
    return False
