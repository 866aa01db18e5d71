"""Functions that resume a task and that C believes never to return.

On the machine nothing comes back from them. Their C in VCT sets the task's registers and returns to
who calls it, and where a declaration says that it doesn't, the compiler left nothing behind the
call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import function_name, is_declarator
from porter.context_switch.machine import Machine
from porter.context_switch.project_data import ProjectData
from porter.context_switch.result import ROLE_START, Unprepared
from porter.source.c_tree import Node, ancestors, enclosing_function, text_of

_SAYS = r"no_?return\w*"
_ELSEWHERE = frozenset({"argument_list", "initializer_list"})  # a vector table, or mtvec's setter


def refuse_no_return(
    role: str, names: Iterable[str], project: ProjectData, machine: Machine
) -> None:
    """Unprepared where C calls such a function. What starts tasks returns at most where a handler's
    C calls it."""
    if role not in machine.resuming:
        return
    names = frozenset(names)
    for name in sorted(names):
        for use in _uses(name, project.units):
            if _never_returns(name, use, project.units) and (
                role != ROLE_START or _runs_in_handler(use, names, project)
            ):
                caller = function_name(around) if (around := enclosing_function(use)) else b""
                who = f"{caller.decode('latin-1')}()" if caller else "who calls it"
                raise Unprepared(
                    f"is declared never to return, and as C in VCT it returns to {who}, where the "
                    "compiler left nothing behind the call: take the word out of its declaration"
                )


def _uses(name: str, units: CUnits) -> Iterator[Node]:
    """Calls, and what may become one: a pointer that the compiler can follow."""
    for node in units.named(name.encode("latin-1")):
        parent = node.parent
        if node.type != "identifier" or parent is None or is_declarator(node):
            continue
        is_called = parent.type == "call_expression"
        around = {it.type for it in ancestors(node)}
        if is_called or not any(it in _ELSEWHERE or it.startswith("gnu_asm") for it in around):
            yield node
    yield from units.jumps(name.encode("latin-1"))


def _never_returns(name: str, use: Node, units: CUnits) -> bool:
    """As the compiler of the file understands the declaration; as its text says, where a block has
    it or another compiler's word."""
    told = units.constant(use, f"__builtin_has_attribute({name}, __noreturn__)")
    if told is not None:
        return told == 1
    text = text_of([use, *ancestors(use)][-1]).decode("latin-1")
    called = rf"\b{re.escape(name)}\s*\([^(){{}};]*\)"
    said = rf"{_SAYS}[^{{}};]*{called}|{called}[^{{}};]*{_SAYS}"
    return re.search(said, text, re.IGNORECASE) is not None


def _runs_in_handler(use: Node, names: frozenset[str], project: ProjectData) -> bool:
    """Whether a handler in assembler calls the C around, by names."""
    around = enclosing_function(use)
    called = project.resumers.called_by_handlers(names)
    reached = {it.name.encode("latin-1") for it in project.callees.of(sorted(called))}
    return around is not None and function_name(around) in reached
