"""One function, from its instructions to nested statements."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace

from porter.context_switch.asked_masks import refuse_questions
from porter.context_switch.assemble import Assembly
from porter.context_switch.caller_frame import refuse_answers, refuse_lost_result
from porter.context_switch.codes import ArmCode, RiscvCode, code_of
from porter.context_switch.devices import refuse_devices
from porter.context_switch.first_task import First, split_first
from porter.context_switch.ir import (
    CONTEXT,
    SUPERVISOR_CALL,
    Assign,
    BlockLoad,
    Call,
    Guest,
    Statement,
    Verbatim,
)
from porter.context_switch.lift_state import NOTHING, Signature
from porter.context_switch.lost_numbers import refuse_numbers
from porter.context_switch.moved_stacks import moves_stack, sets_stack
from porter.context_switch.names import Names
from porter.context_switch.never_back import refuse_no_return
from porter.context_switch.object_file import Function
from porter.context_switch.pick import Pick, find_pick
from porter.context_switch.recipe import Recipe, recipe_for
from porter.context_switch.result import (
    DISPATCHES,
    FAKES_A_FRAME,
    ROLE_CALL,
    ROLE_OTHER,
    ROLE_START,
    ROLE_SVC,
    ROLE_SWITCH,
    NotTranscribable,
    Unprepared,
)
from porter.context_switch.riscv.blocks import join_blocks
from porter.context_switch.riscv.causes import refuse_causes
from porter.context_switch.riscv.devices import check_devices
from porter.context_switch.riscv.first_task import in_vct
from porter.context_switch.riscv.machine import RV32
from porter.context_switch.simplify import prepare_start, simplify
from porter.context_switch.structure import (
    If,
    Node,
    conditions_and_statements,
    flatten,
    structure,
    symbols,
)
from porter.context_switch.two_names import refuse_two_names
from porter.context_switch.waits import refuse_waits
from porter.context_switch.walk import defined, used


@dataclass(frozen=True)
class Handler:
    """A transcribed function. `pick` is a string, the reason, where there is none; `recipe` is that
    of its RTOS, if the task's name can be published; `signature` is what C calls it with;
    `first` what a first-task start leaves to VCT."""

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

    @property
    def everything(self) -> tuple[Node, ...]:
        """Its statements, with those that VCT runs of it."""
        return self.nodes if self.first is None else (*self.nodes, *self.first.statements)


_ON_ITS_OWN = "which reads or writes PSP itself: make one function of the two"


def transcribe(assembly: Assembly, function: Function, role: str, names: Names) -> Handler:
    """Raises NotTranscribable with the reason for a person, and for what goes to a task with a
    template."""
    try:
        return _transcribe(assembly, function, role, names)
    except NotTranscribable as reason:
        if role == ROLE_OTHER or reason.template or isinstance(reason, Unprepared):
            raise
        raise NotTranscribable(str(reason), assembly.object.machine.template) from reason


def _transcribe(assembly: Assembly, function: Function, role: str, names: Names) -> Handler:
    code = code_of(assembly, function)
    if role in (ROLE_SWITCH, ROLE_SVC, ROLE_START):
        _refuse_helpers(assembly, code)
    refuse_no_return(role, function.names, names.project, assembly.object.machine)
    signatures = _signatures(assembly, function, code, names)
    if role in (ROLE_SWITCH, ROLE_SVC):
        units = names.project.units
        signatures = {name: replace(signature, moves_stack=moves_stack(name, units))
                      for name, signature in signatures.items()}  # fmt: skip
    own = NOTHING
    if role in (ROLE_OTHER, ROLE_START):
        declared = names.function(function.name) or code.signature()
        if declared is None:
            raise Unprepared(
                f"no prototype of {function.name}() found: what does it take? Declare it in a "
                "header of the project, or, if it goes on where another file's handler ends, make "
                "one function of the two"
            )
        if declared.problem:
            raise NotTranscribable(f"it {declared.problem}")
        own = declared
    program = code.lift(role, signatures, own)
    first = None
    if role == ROLE_START and assembly.object.machine is not RV32:
        prepare_start(program)
        first = split_first(program, function.name)
    simplify(program, role, names.project.volatiles.holds)
    if assembly.object.machine is RV32:
        check_devices(program)
        join_blocks(program)
    nodes = structure(program)
    if assembly.object.machine is RV32:
        refuse_causes(nodes, names.project.units)
    if role == ROLE_START and assembly.object.machine is RV32:
        first, nodes = in_vct(nodes, function.name, own)
    for node in flatten(nodes) if role == ROLE_START else ():
        if isinstance(node, Call) and sets_stack(node.function, names.project.units):
            raise NotTranscribable(f"calls {node.function}(), {_ON_ITS_OWN}")
    calls = any(isinstance(it, Guest) and it.function == SUPERVISOR_CALL for it in flatten(nodes))
    if calls and (own.parameters or own.returns):
        raise NotTranscribable(
            "makes a supervisor call and has parameters or a result, which would pass in the "
            "frame; a guest's handler finds none of them there. Call C instead",
            DISPATCHES,
        )
    own_statements = nodes if first is None else (*nodes, *first.statements)
    refuse_devices(own_statements, names.project, assembly.object.machine)
    refuse_two_names(own_statements, names.project.initial, names.project.units)
    for name in sorted({it.function for it in flatten(own_statements) if isinstance(it, Call)}):
        names.project.private.refuse_callee(name, signatures.get)
    if role in (ROLE_OTHER, ROLE_START):
        names.project.private.refuse_callers(function.name, names.function)
    if role == ROLE_SVC and not _restores_a_task(nodes):
        raise NotTranscribable(
            "writes PSP but restores no task: what runs on that stack next?", FAKES_A_FRAME
        )
    if role not in (ROLE_OTHER, ROLE_START):
        refuse_waits(nodes, names.project.units)
        refuse_questions(nodes, names.project.units, assembly.object.machine.masks)
    if role == ROLE_CALL:
        refuse_answers(nodes, names.project.units)
    if role == ROLE_OTHER:
        if own.returns and assembly.object.machine is not RV32:
            texts = dict(code.texts())
            refuse_lost_result(nodes, {function.start + it: texts[it] for it in texts})
        _refuse_context(nodes)
        refuse_numbers(function.name, nodes, names.project.units)
    pick: Pick | str = assembly.object.machine.no_yields or "not a switch handler"
    if role == ROLE_SWITCH and not assembly.object.machine.no_yields:
        pick = find_pick(nodes)
    mentioned = symbols(nodes)
    own = replace(own, names=tuple("" if _taken(name, mentioned) else name for name in own.names))
    recipe = recipe_for(mentioned)
    if recipe is not None and names.declared_function(recipe.needs) is None:
        recipe = None
    here = symbols(own_statements)
    private = frozenset(here & assembly.object.private())
    may_miss = frozenset(here & assembly.object.may_miss)
    return Handler(
        function.name, role, nodes, pick, code.count, recipe, own, first, code.texts(), private,
        may_miss, function.names, function.weak,
    )  # fmt: skip


def _refuse_helpers(assembly: Assembly, code: ArmCode | RiscvCode) -> None:
    """A callee that changes the task's registers too isn't what a call is taken for."""
    called = code.callees()
    for function in assembly.object.functions:
        if called & set(function.names) and code_of(assembly, function).touches_stack_pointers():
            raise NotTranscribable(f"calls {function.name}(), {_ON_ITS_OWN}")


def _signatures(
    assembly: Assembly, function: Function, code: ArmCode | RiscvCode, names: Names
) -> dict[str, Signature]:
    """Prototypes of every name that relocations and branches here mention."""
    found: dict[str, Signature] = {}
    for address in range(0, len(assembly.object.data[function.section]), 2):
        relocation = assembly.object.relocation(function.section, address)
        mentioned = relocation.symbol if relocation else None
        if mentioned and (signature := names.function(mentioned)) is not None:
            found[mentioned] = signature
        unknown = mentioned and (mentioned not in found or found[mentioned].unprototyped)
        if mentioned and unknown and assembly.object.machine is RV32:
            found |= _of_this_file(assembly, mentioned)
    for name in code.callees():
        if (signature := names.function(name)) is not None:
            found.setdefault(name, signature)
    return found


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


def _restores_a_task(nodes: tuple[Node, ...]) -> bool:
    return any(
        set(defined(node)) & set(CONTEXT) - {"SP"}
        for node in flatten(nodes)
        if isinstance(node, Statement)
    )


def _refuse_context(nodes: tuple[Node, ...]) -> None:
    """A plain function owns no task's registers."""
    for item in conditions_and_statements(nodes):
        changed = set(defined(item)) if isinstance(item, Statement) else set()
        for what, names in (("changes", changed), ("reads", used(item))):
            if wrong := sorted(names & set(CONTEXT)):
                register = "PSP" if wrong[0] == "SP" else wrong[0].lower()
                raise NotTranscribable(
                    f"{what} {register} of a task, which only a handler of SVC or PendSV may"
                )


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
