"""`svc 0` in C that puts the address of the function it wants into r12, and arguments into r0-r3:
the guest library brings them to the handler, and back what that leaves there."""

from __future__ import annotations

import re

from porter.context_switch.service_sites import function_around
from porter.judging.unit import Unit
from porter.sites.site import Site
from porter.source.edit import Edit
from porter.source.inline_asm import AsmStatement

REASON = "a call that brings its registers to the machine's own handler"
_CALL = re.compile(rb'"\s*svc[ \t]+#?0(?:\\[nt]|\s)*"', re.IGNORECASE)
_INSTEAD = rb'"push {r4, lr}\n\tbl virt_svc_call\n\tpop {r4, lr}"'


def named_service(unit: Unit, site: Site, statement: AsmStatement) -> Edit | None:
    """What becomes of such a call; None where a statement isn't known to be one."""
    found = list(_CALL.finditer(unit.file.data, statement.start, statement.end))
    if statement.form != "gnu" or len(found) != 1 or not _is_in_build(unit, site):
        return None
    return Edit(*found[0].span(), _INSTEAD)


def _is_in_build(unit: Unit, site: Site) -> bool:
    """Whether it is one of those that were looked at, as the preprocessor leaves them."""
    macro = unit.region(site).name
    if macro is None:
        caller = function_around(unit.text.lexed.tokens, site.start)
        return bool(caller) and unit.names_service(caller)
    name = macro if isinstance(macro, bytes) else macro.encode("latin-1")
    return unit.names_service("") and any(True for _ in unit.places_of_macro(name))
