"""How a yield switches tasks in user mode: what the port registers before the first task starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from porter.context_switch.assembler_frames import AssemblerFrames
from porter.context_switch.c_function import Writer
from porter.context_switch.c_words import otherwise_declared
from porter.context_switch.frame_yield import HEAD, depth_or_reason
from porter.context_switch.handler import Handler, raises_svc
from porter.context_switch.ir import Call, Guest
from porter.context_switch.lift_state import Signature
from porter.context_switch.names import Names
from porter.context_switch.only_in_handler import only_in_handler
from porter.context_switch.pick import Pick, Running, running_task
from porter.context_switch.result import ROLE_SVC, ROLE_SWITCH
from porter.context_switch.resumers import Resumers
from porter.context_switch.saved_places import saved_behind
from porter.context_switch.saved_words import blocks_behind
from porter.context_switch.stack_depth import ALLOWED, Unbounded, stack_depth
from porter.context_switch.structure import Node, conditions_and_statements
from porter.context_switch.yielded import Yielded
from porter.project.vectors import PENDSV, SVC, Vectors
from porter.source.c_tree import one_line


@dataclass(frozen=True)
class FastYield:
    """`home` is the only switch handler with a pick. `function` is the name of that pick as a
    function of its own; None where the guest library needs no more than `running`."""

    home: Handler
    running: Running | None
    function: str | None
    depth: int  # bytes of stack that what it calls takes

    @property
    def through(self) -> str:
        """What chooses the next task."""
        return self.function or (self.running.choose if self.running is not None else "")

    @property
    def names_itself(self) -> bool:
        """Whether the task's name is found in the running task's control block."""
        recipe = self.home.recipe
        return self.running is not None and recipe is not None and recipe.in_task

    def registration(self, writer: Writer) -> tuple[Guest, ...]:
        """The calls in front of the first task's start."""
        pick = self.home.pick
        if isinstance(pick, Yielded):
            return (Guest((), "virt_yield_frames", (self.function or "",)),)
        short = isinstance(pick, Pick) and pick.short
        frames = (Guest((), "virt_yield_short_frames", ()),) if short else ()
        if self.running is None:
            return Guest((), "virt_yield_set", (self.function or "",)), *frames
        recipe = self.home.recipe if self.names_itself else None
        name = recipe.task_name if recipe is not None else "0"
        return writer.yield_over(self.running, name), *frames


def fast_yield(
    functions: Sequence[tuple[str, Handler]],
    names: Names,
    vectors: Vectors,
    others: Sequence[tuple[Node, ...]] = (),
) -> FastYield | str | None:
    """That of a file with these functions, by name; the reason where another handler resumes tasks
    too, or where what chooses the next one does what only a handler may. `others`: what other #if
    arms of a handler do to yield."""
    picks = (Pick, Yielded)
    homes = [(name, handler) for name, handler in functions if isinstance(handler.pick, picks)]
    if not homes:
        return None
    name, home = homes[0]
    if other := _served_elsewhere(name, home, names.project.resumers, vectors):
        return other
    if isinstance(home.pick, Yielded):
        depth = depth_or_reason([home.pick.nodes, *others], names)
        return depth if isinstance(depth, str) else FastYield(home, None, f"{name}_pick", depth)
    if other := _other_resumer(home, functions, names.project.resumers, vectors):
        return other
    assert isinstance(home.pick, Pick)
    project = names.project
    if why := only_in_handler(home.pick, project.units, project.callees, project.resumers):
        return why
    items = conditions_and_statements(home.pick.nodes)
    called = [item.function for item in items if isinstance(item, Call)]
    try:
        depth = stack_depth(called, names.project.units, names.project.callees)
    except Unbounded as reason:
        return str(reason)
    if depth > ALLOWED:
        return f"choosing a task takes {depth} bytes of the task's stack, more than {ALLOWED}"
    if found := AssemblerFrames(home.pick, names.project.resumers, names.project.units).look():
        return found
    blocks = blocks_behind(home.pick, names.project.units)
    kept = {it.encode() for it in saved_behind(home.pick)}
    if cplusplus := names.project.units.in_cplusplus(blocks | kept):
        return f"{cplusplus[0]} is C++ and has {cplusplus[1]}: does it look into frames?"
    if (declares := otherwise_declared(blocks, names.project.units)) is not None:
        return f"'{one_line(declares)}' is under another type elsewhere: does it look into frames?"
    running = running_task(home.pick)
    if running is not None and names.function(running.choose) != Signature((), False):
        running = None
    return FastYield(home, running, None if running is not None else f"{name}_pick", depth)


def _served_elsewhere(name: str, home: Handler, resumers: Resumers, vectors: Vectors) -> str:
    """Why another handler may serve PendSV, or this one something else."""
    called = resumers.also_called(home.names)
    served = vectors.served_by((name, *sorted(called)))
    if PENDSV not in served or served - {PENDSV, SVC}:
        return (
            f"neither its name nor a vector table says that {name}() serves PendSV, and nothing "
            "else than supervisor calls beside it"
        )
    for other in sorted(called - {home.symbol}):
        if PENDSV not in vectors.served_by((other,)):
            return f"{other} is another name of {name}(): which exception does that serve?"
    if home.weak and (instead := resumers.instead(home.symbol, called)):
        return f"{name}() is weak, and {instead} has one of that name: the linker takes one"
    if leading := resumers.leading_to(called, home.weak):
        return (
            f"{leading} has the address of {name}() or goes there: does something else than "
            "PendSV's vector end there?"
        )
    return ""


def _other_resumer(
    home: Handler,
    functions: Sequence[tuple[str, Handler]],
    resumers: Resumers,
    vectors: Vectors,
) -> str:
    """Why a handler may find the frame of a yield that isn't the supervisor call's, behind which
    the library completes such a frame. One of the same name in another file is an alternative."""
    called = resumers.also_called(home.names)
    if file := resumers.unread(called):
        return f"{file.name} can't be compiled: does something in it resume tasks?"
    others = [it for it in resumers.found(called, vectors) if home.symbol not in it.names]
    written = {handler.symbol: name for name, handler in functions}
    calls = {it.names for it in others if it.role == ROLE_SVC}
    raised = any(raises_svc(handler) for _, handler in functions)
    for other in others:
        own = [written[name] for name in other.names if name in written]
        served = vectors.served_by((*own, *other.names))
        is_call = served == {SVC} or (not served and raised and len(calls) == 1)
        if other.role == ROLE_SWITCH or not is_call:
            name = (*own, *other.names)[0]
            return (
                f"{name}() of {other.file.name} resumes tasks, too, and knows no frame of a yield"
            )
    return ""


def pick_text(writer: Writer, name: str, pick: Pick | Yielded) -> list[str]:
    """A pick function as C."""
    if isinstance(pick, Yielded):
        return [HEAD, *writer.yielded(name, pick)]
    return [
        "/* The same for a yield that is a function call: the registers are on the stack. */",
        *writer.pick(name, pick),
    ]
