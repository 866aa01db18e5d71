"""Supervisor calls that say which function they want: `svc 0`, with its address in r12.

The handler of such calls does what r12 says with r0 to r3, and leaves in the caller's frame what
comes back. In a guest the call goes through `virt_svc_call`, behind which a handler finds exactly
that frame. So it may read its caller's registers there, where all calls of the project are such,
and what its `blx r12` leads to are the functions that they name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

from porter.context_switch.c_flow import CUnits
from porter.context_switch.lift_state import Signature
from porter.context_switch.service_sites import ServiceSite, service_sites, uses_in
from porter.source.comments import without_comments
from porter.source.mnemonics import CONDITIONAL
from porter.source.source_file import ASM_SUFFIXES, CPLUSPLUS_SUFFIXES

SERVICE = "virt_service"
"""Calls the function whose address is its last argument, with the others."""
SERVICE_SIGNATURE = Signature((False,) * 5, True)


def serves(signatures: Mapping[str, Signature]) -> bool:
    """Whether a function that may call these calls what its callers name."""
    return SERVICE in signatures and not signatures[SERVICE].problem


_OTHERS = ASM_SUFFIXES | CPLUSPLUS_SUFFIXES
_RAISES = re.compile(
    rb"(?im)(?:^|[\"\s;:])svc%s[ \t]+[#\w(%%=]" % CONDITIONAL.encode(),
)


class Services:
    """Looks through a project's supervisor calls, when somebody asks."""

    def __init__(self, files: Iterable[Path], units: CUnits) -> None:
        self._others = [it for it in files if it.suffix.lower() in _OTHERS]
        self._units = units

    @property
    def functions(self) -> frozenset[str]:
        """Those that the calls name; none where some call isn't such."""
        return frozenset(self._found[1].values())

    @property
    def problem(self) -> str:
        """Why the frame of a call isn't its caller's in a guest; "" where it is."""
        return self._found[0]

    def made_by(self, function: str) -> bool:
        """Whether a C function makes such a call; of "" whether any does."""
        return function in self._found[1] if function else bool(self._found[1])

    def runs_only_for_calls(self, function: str) -> bool:
        """Whether nothing has a function's name but such calls: it runs in their handler."""
        if self.problem or function not in self.functions:
            return False
        name = function.encode("latin-1")
        word = re.compile(rb"(?<![\w.$])%s(?![\w.$])" % re.escape(name))
        if any(map(word.search, self._units.assembler_code())):
            return False
        made = [it for it in self._sites if it.function == function]
        written = [it for it in made if it.in_template]
        return len(made) - len(written) == sum(
            uses_in(text, name) for text in self._units.texts()
        ) and len(written) == sum(1 for _ in self._units.jumps(name))

    @cached_property
    def _sites(self) -> list[ServiceSite]:
        return [
            it
            for text in self._units.texts()
            for it in service_sites(text)
            if not self._is_never_made(it.caller, text)
        ]

    def _is_never_made(self, caller: str, text: bytes) -> bool:
        """Whether the function around, which its file keeps for itself, is named nowhere there."""
        name = caller.encode("latin-1")
        if not name or self._units.is_quoted(name) or uses_in(text, name):
            return False
        return re.search(rb"\bstatic\b[^;{}]*\b%s\s*\(" % re.escape(name), text) is not None

    @cached_property
    def _found(self) -> tuple[str, dict[str, str]]:
        """The problem, and by caller what is called."""
        found: dict[str, str] = {}
        for site in self._sites:
            where = f"{site.caller}(): " if site.caller else ""
            known = (
                self._units.definitions(site.function.encode("latin-1")) if site.function else ()
            )
            if not known or found.get(site.caller, site.function) != site.function:
                return f"{where}'{site.text}' doesn't say which function it wants", {}
            found[site.caller] = site.function
        if not found:
            return "no call of the project puts a function's address into r12", {}
        for file in self._others:
            if _RAISES.search(without_comments(file.read_bytes())):
                return f"{file.name} makes supervisor calls too, and not of that kind", {}
        return "", found
