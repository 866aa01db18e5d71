"""Barriers behind a request to a system vector.

On bare metal they make the processor take the exception before it goes on. A call has done what
was asked when it returns, so they have nothing left to do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.flow.statements import sole_call
from porter.source.c_tree import Node, text_of

BARRIERS = frozenset({b"__DSB", b"__ISB", b"__DMB"})
"""Calls that are one."""
_ASM = re.compile(
    rb'(?:__)?(?:asm|ASM)(?:__)?\s*(?:(?:__)?volatile(?:__)?\s*)?\(\s*"\s*(?:dsb|isb|dmb)(?:\s+\w+)?\s*'
    rb'(?:\\n)?(?:\\t)?\s*"\s*(?::\s*:\s*:\s*"memory"\s*)?\)\s*;?'
)


def is_barrier(statement: Node) -> bool:
    """A statement that is one barrier and nothing else."""
    call = sole_call(statement)
    function = call.child_by_field_name("function") if call is not None else None
    if function is not None:
        return text_of(function) in BARRIERS
    return _ASM.fullmatch(text_of(statement).strip()) is not None


def barriers_after(statement: Node) -> Iterator[Node]:
    """The barriers that directly follow a statement."""
    following = statement.next_named_sibling
    while following is not None and (following.type == "comment" or is_barrier(following)):
        if following.type != "comment":
            yield following
        following = following.next_named_sibling
