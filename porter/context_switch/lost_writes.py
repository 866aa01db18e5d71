"""Whether what a function calls reads a special register whose write its port leaves out."""

from __future__ import annotations

import re

from porter.context_switch.asm_statements import text_in
from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import function_name
from porter.context_switch.callees import Callees
from porter.context_switch.calls_made import ByHand
from porter.context_switch.ir import Call, Note
from porter.context_switch.result import NotTranscribable
from porter.context_switch.resumers import Resumers
from porter.context_switch.structure import Node, flatten
from porter.source.c_tree import enclosing_function

# Masks are asked_masks' affair.
_WRITE = re.compile(r"\bmsr\w*\s+(psp|msp|control|faultmask)\b", re.IGNORECASE)
_READ = r"\bmrs\w*\s+[^\s,]+\s*,\s*{}\b"


class LostWrites:
    """Looks at all that reads special registers."""

    def __init__(self, resumers: Resumers, callees: Callees, units: CUnits) -> None:
        self._resumers, self._callees, self._units = resumers, callees, units

    def refuse(self, nodes: tuple[Node, ...]) -> None:
        """NotTranscribable where a callee finds another value than in the original."""
        items = flatten(nodes)
        called = [it.function for it in items if isinstance(it, Call)]
        notes = [it for it in items if isinstance(it, Note) and it.why]
        texts = [text for it in notes for _, text in it.origin]
        for register in sorted({it.lower() for text in texts for it in _WRITE.findall(text)}):
            readers = self._readers(register)
            for it in self._callees.of(called):
                if it.name in readers:
                    raise NotTranscribable(
                        f"{it.road}, which reads {register.upper()}: a guest's function doesn't "
                        "write it, so what is read there is something else. Hand it on in a "
                        "variable"
                    )

    def _readers(self, register: str) -> set[str]:
        text = re.compile(_READ.format(register), re.IGNORECASE)
        pattern = re.compile(_READ.format(register).encode(), re.IGNORECASE)
        by_hand = (*self._resumers.by_hand(pattern), *self._resumers.outside())
        found = {
            name
            for _, assembly, function in by_hand
            if text.search(ByHand(assembly, function).text)
            for name in function.names
        }
        statements = (
            it for _, it in self._resumers.statements(pattern) if text.search(text_in(it))
        )
        getter = f"__get_{register.upper()}".encode()
        around = map(enclosing_function, (*self._units.named(getter), *statements))
        return found | {function_name(it).decode("latin-1") for it in around if it is not None}
