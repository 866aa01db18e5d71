"""What a draft is refused for. Which of it, and in which order, the draft's machine says: the first
reason is the one that a person hears."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from porter.context_switch.asked_masks import refuse_questions
from porter.context_switch.caller_frame import refuse_answers, refuse_lost_result
from porter.context_switch.devices import refuse_devices
from porter.context_switch.draft import Draft
from porter.context_switch.ir import (
    CONTEXT,
    FPU,
    IDLE,
    MASKS,
    READ_ONLY,
    SUPERVISOR_CALL,
    Call,
    Guest,
    Statement,
)
from porter.context_switch.left_masks import refuse_left_masks
from porter.context_switch.lost_numbers import refuse_numbers
from porter.context_switch.moved_stacks import sets_stack
from porter.context_switch.result import (
    DISPATCHES,
    FAKES_A_FRAME,
    ROLE_CALL,
    ROLE_OTHER,
    ROLE_PART,
    ROLE_START,
    ROLE_SVC,
    ROLE_SWITCH,
    WAITS,
    NotTranscribable,
)
from porter.context_switch.structure import conditions_and_statements, flatten
from porter.context_switch.two_names import refuse_two_names
from porter.context_switch.waits import refuse_waits
from porter.context_switch.walk import defined, used
from porter.project.vectors import Vectors

if TYPE_CHECKING:  # it looks at functions of the project, and so at the codes that have checks
    from porter.context_switch.project_data import ProjectData

Check = Callable[[Draft], None]
"""Raises NotTranscribable."""

ON_ITS_OWN = "which reads or writes PSP itself: make one function of the two"
_HANDLERS = (ROLE_SWITCH, ROLE_SVC, ROLE_CALL)
_FUNCTIONS = (ROLE_OTHER, ROLE_START, ROLE_PART)  # what C calls


def sets_stack_pointer(draft: Draft) -> None:
    """A first-task start that leaves the task's stack to C."""
    for node in flatten(draft.nodes) if draft.role == ROLE_START else ():
        if isinstance(node, Call) and sets_stack(node.function, draft.names.project.callees):
            raise NotTranscribable(f"calls {node.function}(), {ON_ITS_OWN}")


def passes_words(draft: Draft) -> None:
    """A supervisor call between parameters and a result."""
    statements = flatten(draft.nodes)
    calls = any(isinstance(it, Guest) and it.function == SUPERVISOR_CALL for it in statements)
    if calls and (draft.own.parameters or draft.own.returns):
        raise NotTranscribable(
            "makes a supervisor call and has parameters or a result, which would pass in the "
            "frame; a guest's handler finds none of them there. Call C instead",
            DISPATCHES,
        )


def reaches_devices(draft: Draft) -> None:
    """Through pointers that the project sets."""
    project = draft.names.project
    refuse_devices(draft.everything, project.initial, project.set_later, draft.machine)


def has_two_names(draft: Draft) -> None:
    """A variable that C knows by another name."""
    refuse_two_names(draft.everything, draft.names.project.initial, draft.names.project.units)


def calls_by_registers(draft: Draft) -> None:
    """A callee that keeps to no prototype, or leads to one that takes more than a call gives."""
    called = {it.function for it in flatten(draft.everything) if isinstance(it, Call)}
    for name in sorted(called):
        if name not in draft.names.project.parts.names:
            draft.names.project.private.refuse_callee(name, draft.signatures.get)
    if draft.role in (*_HANDLERS, ROLE_START):
        draft.names.project.kept.refuse(sorted(called))
        draft.names.project.whole.refuse(sorted(called))


def loses_no_write(draft: Draft) -> None:
    """What a callee would read."""
    draft.names.project.lost_writes.refuse(draft.everything)


def leads_to_parts(name: str, project: ProjectData) -> bool:
    """Whether a call may come to a part of the handlers."""
    parts = project.parts.names
    return bool(parts) and any(it.name in parts for it in project.callees.of([name]))


def is_part_alone(draft: Draft) -> None:
    """A part of the handlers that does more than move registers and memory."""
    for item in conditions_and_statements(draft.nodes) if draft.role == ROLE_PART else ():
        asked = used(item) | (set(defined(item)) if isinstance(item, Statement) else set())
        if isinstance(item, Call | Guest) or asked & {*MASKS, *READ_ONLY}:
            raise NotTranscribable(
                "is a part of the switch and does more than save and fetch: it calls something or "
                "asks for what only the machine has"
            )


def leaves_floats_to_parts(draft: Draft) -> None:
    """Who has S16-S31 when: a handler and what it calls can't both."""
    if draft.role not in (*_HANDLERS, ROLE_START):
        return
    items = conditions_and_statements(draft.everything)
    own = any(used(it) & {*FPU} or (isinstance(it, Statement) and {*defined(it)} & {*FPU})
              for it in items)  # fmt: skip
    for it in items:
        if own and isinstance(it, Call) and leads_to_parts(it.function, draft.names.project):
            raise NotTranscribable(
                f"saves or fetches S16-S31, and {it.function}(), which it calls, leads to what "
                "does too: let one of them do it"
            )


def waits_alone(draft: Draft) -> None:
    """While a switch handler waits, no other handler may have tasks to go on with."""
    if not any(isinstance(it, Guest) and it.function == IDLE for it in flatten(draft.nodes)):
        return
    names = frozenset(draft.function.names)
    if draft.names.project.serves_calls_alone(names):
        raise NotTranscribable(
            "waits until a task is ready, for a supervisor call's caller: what waits in a guest "
            "requests a switch, and makes no supervisor call",
            WAITS,
        )
    for other in draft.names.project.resumers.found(names, Vectors()):
        if not names & set(other.names):
            raise NotTranscribable(
                f"waits until a task is ready, and {other.names[0]}() of {other.file.name} resumes "
                "tasks too: what that finds while nobody is ready isn't what it found before",
                WAITS,
            )


def is_called_by_registers(draft: Draft) -> None:
    """A caller in assembler that counts on more than C keeps."""
    if draft.role in _FUNCTIONS:
        draft.names.project.private.refuse_callers(draft.function.name, draft.names.function)


def restores_nothing(draft: Draft) -> None:
    """A supervisor call's handler that makes a frame and no task of it."""
    restored = (
        set(defined(node)) & set(CONTEXT) - {"SP"}
        for node in flatten(draft.nodes)
        if isinstance(node, Statement)
    )
    if draft.role == ROLE_SVC and not any(restored):
        raise NotTranscribable(
            "writes PSP but restores no task: what runs on that stack next?", FAKES_A_FRAME
        )


def waits(draft: Draft) -> None:
    """Handlers don't."""
    if draft.role in _HANDLERS:
        project = draft.names.project
        refuse_waits(draft.nodes, project.units, project.callees)


def is_asked_for_masks(draft: Draft) -> None:
    """By what a handler calls."""
    if draft.role in _HANDLERS:
        project = draft.names.project
        refuse_questions(draft.nodes, project.units, project.callees, draft.machine.masks)
        refuse_left_masks(draft.nodes, project.units, project.callees)


def answers_in_frame(draft: Draft) -> None:
    """The caller of a supervisor call has another frame."""
    if draft.role == ROLE_CALL:
        refuse_answers(draft.nodes, draft.names.project.units)


def returns_from_frame(draft: Draft) -> None:
    """A yield whose result others leave in the task's frame."""
    if draft.role == ROLE_OTHER and draft.own.returns:
        refuse_lost_result(draft.nodes, draft.texts)


def owns_context(draft: Draft) -> None:
    """A plain function owns no task's registers."""
    for item in conditions_and_statements(draft.nodes) if draft.role == ROLE_OTHER else ():
        changed = set(defined(item)) if isinstance(item, Statement) else set()
        for what, names in (("changes", changed), ("reads", used(item))):
            if wrong := sorted(names & set(CONTEXT)):
                register = "PSP" if wrong[0] == "SP" else wrong[0].lower()
                raise NotTranscribable(
                    f"{what} {register} of a task, which only a handler of SVC or PendSV may"
                )


def returns_numbers(draft: Draft) -> None:
    """Of which a guest has only whether they are zero."""
    if draft.role == ROLE_OTHER:
        refuse_numbers(draft.function.name, draft.nodes, draft.names.project.units)
