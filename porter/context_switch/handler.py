"""One function, from its instructions to nested statements."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from porter.context_switch.assemble import Assembly
from porter.context_switch.checks import ON_ITS_OWN, leads_to_parts
from porter.context_switch.code import Code
from porter.context_switch.codes import code_of
from porter.context_switch.draft import Draft
from porter.context_switch.event_waits import refuse_event_waits
from porter.context_switch.first_task import First, with_first
from porter.context_switch.ir import (
    CONTEXT,
    SUPERVISOR_CALL,
    Assign,
    BlockLoad,
    Guest,
    Verbatim,
)
from porter.context_switch.lift_state import NOTHING, Signature
from porter.context_switch.moved_stacks import moves_stack, sets_stack
from porter.context_switch.names import Names
from porter.context_switch.never_back import refuse_no_return
from porter.context_switch.object_file import Function
from porter.context_switch.pick import Pick, find_pick
from porter.context_switch.recipe import Recipe, recipe_for
from porter.context_switch.result import (
    ROLE_OTHER,
    ROLE_PART,
    ROLE_START,
    ROLE_SVC,
    ROLE_SWITCH,
    NotTranscribable,
    OneInstruction,
    Unprepared,
)
from porter.context_switch.services import SERVICE, SERVICE_SIGNATURE, serves
from porter.context_switch.structure import (
    If,
    Node,
    flatten,
    symbols,
)
from porter.context_switch.uncalled import uncalled


@dataclass(frozen=True)
class Handler:
    """A transcribed function. `pick` is a string, the reason, where there is none; `recipe` is that
    of its RTOS, if the task's name can be published; `signature` is what C calls it with;
    `first` what a first-task start leaves to VCT; `no_yields` why yields can't be in user mode."""

    symbol: str
    role: str
    nodes: tuple[Node, ...]
    pick: Pick | str
    instructions: int
    recipe: Recipe | None = None
    signature: Signature = NOTHING
    first: First | None = None
    texts: tuple[tuple[int, str], ...] = ()  # of its instructions, by their offset in bytes
    private: frozenset[str] = frozenset()  # names that it uses and only its own file knows
    may_miss: frozenset[str] = frozenset()  # weak ones
    names: tuple[str, ...] = ()  # that the linker knows it by
    weak: bool = False
    no_yields: str = ""

    @property
    def everything(self) -> tuple[Node, ...]:
        """Its statements, with those that VCT runs of it."""
        return with_first(self.nodes, self.first)


def transcribe(assembly: Assembly, function: Function, role: str, names: Names) -> Handler:
    """Raises NotTranscribable with the reason for a person, and for what goes to a task with a
    template."""
    try:
        return _transcribe(assembly, function, role, names)
    except OneInstruction as reason:
        line = assembly.object.line(function.section, reason.address)
        raise NotTranscribable(f"line {line}: {reason}" if line else str(reason)) from reason
    except NotTranscribable as reason:
        if role in (ROLE_OTHER, ROLE_PART) or reason.template or isinstance(reason, Unprepared):
            raise
        raise NotTranscribable(str(reason), assembly.object.machine.template) from reason


def _transcribe(assembly: Assembly, function: Function, role: str, names: Names) -> Handler:
    code, machine = code_of(assembly, function), assembly.object.machine
    if role in (ROLE_SWITCH, ROLE_SVC, ROLE_START):
        _refuse_helpers(assembly, code, names.project.parts.names)
    refuse_no_return(role, function.names, names.project, machine)
    signatures = _signatures(assembly, function, code, names)
    if role in (ROLE_SWITCH, ROLE_SVC):
        callees = names.project.callees
        signatures = {name: replace(signature, moves_stack=moves_stack(name, callees))
                      for name, signature in signatures.items()}  # fmt: skip
        if serves(signatures):
            asks = not sets_stack(SERVICE, callees)
            signatures[SERVICE] = replace(signatures[SERVICE], asks_stack=asks)
    if role == ROLE_START:  # what a part does, it does in VCT, with PSP as it is there
        signatures = {name: replace(signature, moves_stack=leads_to_parts(name, names.project))
                      for name, signature in signatures.items()}  # fmt: skip
    plain = role in (ROLE_OTHER, ROLE_START, ROLE_PART)
    own = _own(assembly, function, code, names) if plain else NOTHING
    texts = code.texts()
    refuse_event_waits(texts.values(), names.project)
    draft = code.understood(Draft(machine, function, role, own, signatures, names, texts))
    for check in code.checks:
        check(draft)
    pick = find_pick(draft.nodes) if role == ROLE_SWITCH else "not a switch handler"
    mentioned = symbols(draft.nodes)
    own = replace(own, names=tuple("" if _taken(name, mentioned) else name for name in own.names))
    recipe = recipe_for(mentioned)
    if recipe is not None and names.declared_function(recipe.needs) is None:
        recipe = None
    here = symbols(draft.everything)
    private = frozenset(here & assembly.object.private())
    may_miss = frozenset(here & assembly.object.may_miss)
    places = tuple((address - function.start, text) for address, text in texts.items())
    return Handler(
        function.name, role, draft.nodes, pick, len(texts), recipe, own, draft.first, places,
        private, may_miss, function.names, function.weak, machine.no_yields,
    )  # fmt: skip


def _own(assembly: Assembly, function: Function, code: Code, names: Names) -> Signature:
    """What C calls a function with."""
    declared = names.function(function.name) or code.signature()
    declared = declared or uncalled(assembly, function, code, names.project.resumers)
    if declared is None:
        raise Unprepared(
            f"no prototype of {function.name}() found: what does it take? Declare it in a "
            "header of the project, or, if it goes on where another file's handler ends, make "
            "one function of the two"
        )
    if declared.problem:
        raise NotTranscribable(f"it {declared.problem}")
    return declared


def _refuse_helpers(assembly: Assembly, code: Code, parts: Collection[str]) -> None:
    """A callee that changes the task's registers too isn't what a call is taken for."""
    called = code.callees() - {*parts}
    for function in assembly.object.functions:
        if called & set(function.names) and code_of(assembly, function).touches_stack_pointers():
            raise NotTranscribable(f"calls {function.name}(), {ON_ITS_OWN}")


def _signatures(
    assembly: Assembly, function: Function, code: Code, names: Names
) -> dict[str, Signature]:
    """Prototypes of every name that relocations and branches here mention."""
    found: dict[str, Signature] = {}
    for name in _mentioned(assembly, function):
        if (signature := names.function(name)) is not None:
            found[name] = signature
        if signature is None or signature.unprototyped:
            found |= _of_this_file(assembly, name)
    for name in code.callees():
        if (signature := names.function(name)) is not None:
            found.setdefault(name, signature)
    if names.project.serves_calls_alone(function.names):
        problem = names.project.services.problem
        found[SERVICE] = replace(SERVICE_SIGNATURE, problem=problem)
    return found


def _mentioned(assembly: Assembly, function: Function) -> Iterable[str]:
    """By relocations of its section, in their order."""
    places = range(0, len(assembly.object.data[function.section]), 2)
    found = (assembly.object.relocation(function.section, place) for place in places)
    return dict.fromkeys(it.symbol for it in found if it is not None and it.symbol)


def _of_this_file(assembly: Assembly, name: str) -> dict[str, Signature]:
    """What a function of the assembler file itself takes, if nothing declares it."""
    for function in assembly.object.functions:
        if name in function.names and function.name in assembly.object.globals:
            with suppress(NotTranscribable):
                signature = code_of(assembly, function).signature()
                return {name: signature} if signature is not None else {}
    return {}


def raises_svc(handler: Handler) -> bool:
    """Whether a first-task start leaves the rest to the project's SVC handler."""
    return handler.first is None and any(
        isinstance(node, Guest) and node.function == SUPERVISOR_CALL
        for node in flatten(handler.nodes)
    )


def _taken(name: str, symbols: set[str]) -> bool:
    """Whether a parameter's name means something else in the C that is written."""
    return name in symbols or re.fullmatch(r"(?:[rmsx]\d+|sp|lr)(?:_\d+)?", name) is not None


def publish_name(handler: Handler) -> Handler:
    """Add the running task's name for fault records, where the next task is known."""
    if handler.recipe is None or handler.role not in (ROLE_SWITCH, ROLE_SVC):
        return handler
    nodes, pick = handler.nodes, handler.pick
    place = _restore(nodes)
    if place is None:
        return handler
    line = Verbatim((), f"fvm_state.task_name = {handler.recipe.task_name}")
    nodes = (*nodes[:place], line, *nodes[place:])
    if isinstance(pick, Pick):
        pick = replace(pick, nodes=(*pick.nodes, line))
    return replace(handler, nodes=nodes, pick=pick)


def _restore(nodes: tuple[Node, ...]) -> int | None:
    """Where the chosen task's registers start to come back, at the outermost level."""
    last = None
    for index, node in enumerate(nodes):
        if isinstance(node, If):
            continue
        if isinstance(node, BlockLoad) and set(node.targets) & set(CONTEXT):
            return index
        if isinstance(node, Assign) and node.target in CONTEXT and last is None:
            last = index
    return last
