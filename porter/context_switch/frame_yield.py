"""A fast yield over frames of any shape: the handler without what the library saves and loads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from porter.context_switch.ir import Call
from porter.context_switch.only_in_handler import may_not_choose, not_read
from porter.context_switch.stack_depth import ALLOWED, Unbounded, stack_depth
from porter.context_switch.structure import Node, conditions_and_statements

if TYPE_CHECKING:
    from porter.context_switch.names import Names

HEAD = "/* The same for a yield: the library saves and loads r4-r11 and S16-S31. */"


def depth_or_reason(picks: Sequence[tuple[Node, ...]], names: Names) -> int | str:
    """Bytes of stack that choosing takes, of all #if arms; or why it may run in a handler alone.
    A frame is as PendSV leaves it, so nobody is asked whether he looks into it."""
    project = names.project
    called: list[str] = []
    for nodes in picks:
        if why := may_not_choose(nodes, project.units, project.callees):
            return why
        if why := not_read(nodes, project.units, project.callees, project.resumers):
            return why
        items = conditions_and_statements(nodes)
        called += [item.function for item in items if isinstance(item, Call)]
    try:
        depth = stack_depth(called, project.units, project.callees)
    except Unbounded as reason:
        return str(reason)
    if depth > ALLOWED:
        return f"choosing a task takes {depth} bytes of the task's stack, more than {ALLOWED}"
    return depth
