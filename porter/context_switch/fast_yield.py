"""How a yield switches tasks in user mode: what the port registers before the first task starts.

The guest library switches itself where a task's frame and the place of its stack pointer are ones
that it knows; else it runs the switch handler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from porter.context_switch.assembler_frames import AssemblerFrames
from porter.context_switch.c_function import Writer
from porter.context_switch.c_words import otherwise_declared
from porter.context_switch.handler import Handler, publish_name, raises_svc
from porter.context_switch.ir import IDLE, IDLES, Call, Guest
from porter.context_switch.lift_state import NOTHING
from porter.context_switch.names import Names
from porter.context_switch.only_in_handler import may_not_choose, only_in_handler
from porter.context_switch.pick import Pick, Running, own_choice, running_task
from porter.context_switch.placed_blocks import otherwise_reached
from porter.context_switch.result import ROLE_SVC, ROLE_SWITCH
from porter.context_switch.resumers import Resumers
from porter.context_switch.saved_places import saved_behind
from porter.context_switch.saved_words import blocks_behind
from porter.context_switch.stack_depth import ALLOWED, Unbounded, stack_depth
from porter.context_switch.structure import Node, conditions_and_statements
from porter.context_switch.walk import used
from porter.project.vectors import FAULT_HANDLERS, PENDSV, SVC, Vectors
from porter.source.c_tree import one_line

_ANYWHERE = frozenset({"virt_vct_trig", "virt_vct_clear", "virt_cycles", "virt_cpacr"})
_IN_USER_MODE = _ANYWHERE | {IDLE, IDLES}
_OWN_DEPTH = 40  # bytes, for r4-r11, lr and a word: no compiler saves more for a few variables


@dataclass(frozen=True)
class FastYield:
    """`home` is the switch handler, called `name`. `running`: what the guest library switches over
    itself, and `depth` the bytes of a task's stack that choosing the next one takes; where it is
    None a yield is the handler in user mode, and `because` says why. `own`: the port adds what
    `running` names."""

    home: Handler
    name: str
    running: Running | None
    depth: int = 0
    because: str = ""
    own: bool = False

    def __str__(self) -> str:
        if self.running is None:
            return f"fast yield by itself ({self.because})"
        used = f"which takes {self.depth} bytes of a task's stack"
        return f"fast yield through {self.running.choose}(), {used}"

    @property
    def names_itself(self) -> bool:
        """Whether the task's name is found in the running task's control block."""
        recipe = self.home.recipe
        in_task = recipe is not None and recipe.in_task
        return in_task and self.running is not None and not self.running.is_stack

    def behind(self, writer: Writer) -> list[str]:
        """What stands behind the handler."""
        if self.running is None:
            return ["", f"VIRT_YIELD_HANDLER({self.name});"]
        if not self.own:
            return []
        pick = publish_name(self.home).pick
        assert isinstance(pick, Pick)
        frames = "virt_yield_short_frames" if pick.short else "NULL"
        return ["", *writer.choice(self.running, pick), "",
                f"VIRT_YIELD_OVER({self.name}, {self.running.variable}, {self.running.choose}, "
                f"{frames});"]  # fmt: skip

    def registration(self, writer: Writer) -> tuple[Guest, ...]:
        """The calls in front of the first task's start."""
        if self.running is None or self.own:
            return ()
        pick = self.home.pick
        short = isinstance(pick, Pick) and pick.short
        frames = (Guest((), "virt_yield_short_frames", ()),) if short else ()
        recipe = self.home.recipe if self.names_itself else None
        name = recipe.task_name if recipe is not None else "0"
        return writer.yield_over(self.running, name), *frames


def fast_yield(
    functions: Sequence[tuple[str, Handler]],
    names: Names,
    vectors: Vectors,
    arms: Mapping[str, Sequence[Handler]],
    starts: bool,
) -> FastYield | str | None:
    """That of a file with these functions, by name, each with those of its #if arms; the reason
    where nothing but VCT may run what switches. `starts`: one of them starts the first task."""
    homes = [(name, handler) for name, handler in functions if handler.role == ROLE_SWITCH]
    elsewhere = ""
    for name, home in homes:
        if home.no_yields:
            return home.no_yields
        if other := _served_elsewhere(name, home, names.project.resumers, vectors):
            elsewhere = elsewhere or other
            continue
        over = _over_running(name, home, functions, names, vectors, starts)
        if isinstance(over, FastYield):
            return over
        if why := _only_in_vct((home, *arms.get(name, ())), names):
            return over if why == over else f"{over}; and {why}"
        return FastYield(home, name, None, because=over)
    return elsewhere or None


def _only_in_vct(handlers: Sequence[Handler], names: Names) -> str:
    """Why a handler can't run in user mode, as a part of a yield."""
    project = names.project
    for handler in handlers:
        items = conditions_and_statements(handler.nodes)
        if why := _another_thing(handler.nodes, _IN_USER_MODE):
            return why
        if why := may_not_choose(handler.nodes, project.units, project.callees):
            return why
        called = [it.function for it in items if isinstance(it, Call)]
        for it in project.callees.of(called):
            if it.body.cplusplus is not None and not it.body.definitions:
                return f"{it.road}, which is C++: does it open interrupts?"
    return ""


def _over_running(
    name: str,
    home: Handler,
    functions: Sequence[tuple[str, Handler]],
    names: Names,
    vectors: Vectors,
    starts: bool,
) -> FastYield | str:
    """A yield by the guest library's own switch, or why it can't be had. Only where a function
    starts the first task it can be registered there; else it stands behind the handler."""
    if isinstance(home.pick, str):
        return home.pick
    project = names.project
    running = running_task(home.pick)
    own = running is None or not starts or names.function(running.choose) != NOTHING
    if own or running is None:
        running = own_choice(home.symbol)
        if why := _another_thing(home.pick.nodes, _ANYWHERE):
            return why
    if other := _other_resumer(home, functions, project.resumers, vectors):
        return other
    if why := only_in_handler(home.pick, project.units, project.callees, project.resumers):
        return why
    items = conditions_and_statements(home.pick.nodes)
    called = [it.function for it in items if isinstance(it, Call)]
    try:
        depth = stack_depth(called, project.units, project.callees) + _OWN_DEPTH * own
    except Unbounded as reason:
        return str(reason)
    if depth > ALLOWED:
        return f"choosing a task takes {depth} bytes of the task's stack, more than {ALLOWED}"
    if found := AssemblerFrames(home.pick, project.resumers, project.units).look():
        return found
    blocks = blocks_behind(home.pick, project.units)
    kept = {it.encode() for it in saved_behind(home.pick)}
    if cplusplus := project.units.in_cplusplus(blocks | kept):
        return f"{cplusplus[0]} is C++ and has {cplusplus[1]}: does it look into frames?"
    if (declares := otherwise_declared(blocks, project.units)) is not None:
        return f"'{one_line(declares)}' is under another type elsewhere: does it look into frames?"
    if other := otherwise_reached(blocks, kept, project.units):
        return f"{other}: does somebody look into frames by it?"
    return FastYield(home, name, running, depth, own=own)


def _another_thing(nodes: tuple[Node, ...], same: frozenset[str]) -> str:
    """What of these nodes is another thing in user mode; `same`: functions that aren't."""
    for item in conditions_and_statements(nodes):
        if isinstance(item, Guest) and item.function not in same:
            return f"what {item.function}() does is another thing in user mode"
        if used(item) & {"PRIMASK"}:
            return "it asks for PRIMASK, which a yield sets"
    return ""


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
        if (
            FAULT_HANDLERS & {*other.names}
            and not served
            and not resumers.leading_to(frozenset(other.names), weak=False)
        ):
            continue  # no guest runs it
        is_call = served == {SVC} or (not served and raised and len(calls) == 1)
        if other.role == ROLE_SWITCH or not is_call:
            name = (*own, *other.names)[0]
            return (
                f"{name}() of {other.file.name} resumes tasks, too, and knows no frame of a yield"
            )
    return ""
