"""First-task starts that go to the task themselves, or mark the first switch in PSP.

A task's registers can only be set while USR stands still, so what such a start does last becomes a
function of its own, `NAME_first`, that VCT runs once in place of a supervisor call's handler:
it resumes the exception frame that the start took apart by hand, or sets the mark and pends the
switch. A start may go to the task in several ways, where whether there is an FPU decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from porter.context_switch.first_fpu import has_fpu_state
from porter.context_switch.ir import (
    PARAMETERS,
    UNREAD,
    Assign,
    Binary,
    Block,
    BlockLoad,
    Branch,
    Call,
    Const,
    Expr,
    Guest,
    Load,
    Note,
    Origin,
    Program,
    Resume,
    Statement,
    Store,
    Symbol,
    Var,
)
from porter.context_switch.kinds import INTEGER, POINTER
from porter.context_switch.result import ANOTHER_WAY, NotTranscribable
from porter.context_switch.structure import Node, structure
from porter.context_switch.walk import fold, rewrite, subexpressions, variables

WHY_MARK = "set in VCT, where the switch is requested"
WHY_PSP = "the task's stack is set where it is resumed"
FRAME = 32  # bytes that an exception puts on the stack: r0-r3, r12, lr, pc, xPSR
PC, XPSR = 24, 28
THUMB_STATE = 1 << 24
THREAD_ON_PSP = 0xFFFF_FFFD
FPU_FRAME, FPSCR = 104, 96  # the same with S0-S15, FPSCR and a word that nobody reads
WITH_FPU_STATE = 0xFFFF_FFED
_ROOM = 8  # registers R4-R11
_MASKS = ("PRIMASK", "BASEPRI")
OPENS_EARLY = (
    "opens PRIMASK and calls something before it goes to the first task: let it open PRIMASK last"
)


@dataclass(frozen=True)
class First:
    """What VCT does: `statements` of the function; `variables` are what the start leaves to it,
    by name, with their kind; `before`: what comes in front, as it was lifted."""

    statements: tuple[Node, ...]
    variables: tuple[tuple[str, str], ...] = ()
    before: tuple[Statement, ...] = ()


def with_first(nodes: tuple[Node, ...], first: First | None) -> tuple[Node, ...]:
    """A function's statements, with those that VCT runs of it."""
    return nodes if first is None else (*nodes, *first.statements)


def split_first(program: Program, name: str) -> First | None:
    """Take the way to the first task out of a start; None if another handler goes there."""
    ways: dict[int, First] = {}
    before = _ways_to(program)
    for key, block in program.blocks.items():
        for index, statement in enumerate(block.statements):
            if isinstance(statement, Resume):
                ways[key] = resumed_by(block, index, statement, name, before[key])
                break
    if not ways:
        return _mark(program, name)
    first = next(iter(ways.values())) if len(ways) == 1 else _one_of(ways, before, program)
    _forget_psp(program)
    return first


def _ways_to(program: Program) -> dict[int, list[Statement]]:
    """What surely runs before each block, as far back as only one way leads there."""
    before: dict[int, list[Statement]] = {}
    for key in program.order():
        come = [it for it, block in program.blocks.items() if key in block.successors()]
        before[key] = (
            [*before[come[0]], *program.blocks[come[0]].statements]
            if len(come) == 1 and key != program.entry and come[0] in before
            else []
        )
    return before


def _one_of(ways: dict[int, First], before: dict[int, list[Statement]], program: Program) -> First:
    """What VCT does where a start has several ways: it asks again which it is."""
    kept, *others = {it.variables for it in ways.values()}
    if others:
        raise NotTranscribable(ANOTHER_WAY)
    blocks: dict[int, Block] = {}
    for key, block in program.blocks.items():
        first, end = ways.get(key), block.end
        if first is not None:
            blocks[key] = Block([it for it in first.statements if isinstance(it, Statement)], end)
            continue
        if isinstance(end, Branch):
            known = _values([*before[key], *block.statements])
            end = replace(end, condition=_substituted(end.condition, known))
            if not _is_settled(end.condition):
                raise NotTranscribable(ANOTHER_WAY)
        blocks[key] = Block([], end)
    return First(structure(Program(program.entry, blocks)), kept)


def _is_settled(condition: Expr) -> bool:
    """Whether the answer is the same all the time."""
    loads = any(isinstance(it, Load) for it in subexpressions(condition))
    return variables(condition) <= {"CPACR"} and not loads


def _forget_psp(program: Program) -> None:
    for block in program.blocks.values():
        block.statements = [
            Note(statement.origin, WHY_PSP) if sets_psp(statement) else statement
            for statement in block.statements
        ]


def _mark(program: Program, name: str) -> First | None:
    """PSP is set to a constant, which the switch handler looks at: VCT sets it where a switch is
    requested, so that nothing comes in between."""
    marks = [(block, index, statement) for block in program.blocks.values()
             for index, statement in enumerate(block.statements)
             if isinstance(statement, Assign) and statement.target == "SP"]  # fmt: skip
    if not marks:
        return None
    block, marked, mark = marks[0]
    if len(marks) > 1 or not isinstance(mark.value, Const):
        raise NotTranscribable("sets PSP in a way that no first task is resumed by")
    request = Guest((), "virt_vct_trig", ("FVM_VIRT_SWITCH",))
    for end in program.blocks.values():
        pends = [index for index, statement in enumerate(end.statements)
                 if statement == replace(request, origin=statement.origin)]  # fmt: skip
        if pends:
            start = marked if end is block else 0
            _ask(end, start, pends[0], [once(name, end.statements[pends[0]].origin)])
            block.statements[marked] = Note(mark.origin, WHY_MARK)
            return First((Assign(mark.origin, "SP", mark.value), request))
    raise NotTranscribable("marks the first switch in PSP but doesn't pend one")


def once(name: str, origin: Origin) -> Guest:
    """The request."""
    return Guest(origin, "virt_vct_once", (f"{name}_first",))


def _ask(block: Block, ready: int, index: int, request: Sequence[Statement]) -> None:
    """Put a request for VCT in place of a statement. What opens PRIMASK behind `ready`, where the
    original has the task's stack already, goes behind it: an interrupt in between would find USR's
    where that finds the task's."""
    opens = [n for n in range(ready, index) if is_mask(block.statements[n], "virt_int_unmask")]
    if not opens:
        block.statements[index : index + 1] = request
        return
    between = block.statements[opens[0] + 1 : index]
    if len(opens) > 1 or any(isinstance(it, Call | Guest) for it in between):
        raise NotTranscribable(OPENS_EARLY)
    block.statements[opens[0] : index + 1] = [*between, *request, block.statements[opens[0]]]


def resumed_by(
    block: Block, index: int, resume: Resume, name: str, before: Sequence[Statement] = ()
) -> First:
    """What VCT does for a start that goes to the task; the start's block requests it. `before`:
    what runs before that block."""
    way = [*before, *block.statements[:index]]
    values = _values(way)

    def known(expr: Expr) -> Expr:
        return _substituted(expr, values)

    target, stack = known(resume.target), known(resume.stack)
    registers = [(f"R{n}", known(Var(f"r{n}"))) for n in range(4, 4 + _ROOM)]
    masks = () if opens_mask(way) else _MASKS
    request: list[Statement] = [once(name, resume.origin)]
    if masks:
        request = _let_only_this_through(name, request)
    sets = [n - len(before) for n, it in enumerate(way) if sets_psp(it)]
    ready = sets[0] if sets else index
    if any(is_mask(it, "virt_int_unmask") for it in way[ready + len(before) : len(before)]):
        raise NotTranscribable(OPENS_EARLY)
    ready = max(ready, 0)
    reopened = tuple(
        Guest((), "virt_int_restore", (f"VIRT_{mask}", Load(Symbol(kept_as(name, mask)))))
        for mask in masks
    )
    integers = tuple((kept_as(name, mask), INTEGER) for mask in masks)
    with_fpu = has_fpu_state(values)
    size = FPU_FRAME if with_fpu else FRAME
    frame, variable = _below(stack, size), f"{name}_frame"
    handed: tuple[tuple[str, str], ...] = ((variable, POINTER), *integers)
    is_there = _is_pc(target, frame) and known(Var("r0")) == Load(frame)
    if is_there and variables(frame) <= set(PARAMETERS):
        there: Expr = Load(Symbol(variable))
        if _closed(frame):
            there, handed = frame, integers
        else:
            request.insert(0, Store((), Symbol(variable), frame))
        _ask(block, ready, index, request)
        kept = [(place, seen) for place, value in registers
                if (seen := _on_frame(value, frame)) != value or _closed(value)]  # fmt: skip
        return First((*_resuming(there, resume.origin, kept, with_fpu), *reopened), handed)
    if with_fpu or not variables(resume.target) | variables(resume.stack) <= set(PARAMETERS):
        raise NotTranscribable(ANOTHER_WAY)
    # No frame there: one for a task that has just been called.
    bottom = Binary("-", resume.stack, Const(FRAME))
    pc = Binary("&", resume.target, Const(0xFFFF_FFFE))
    built: list[Statement] = [
        Assign((), "frame", bottom),
        Store((), Var("frame"), Var("r0")),
        Store((), Binary("+", Var("frame"), Const(PC)), pc),
        Store((), Binary("+", Var("frame"), Const(XPSR)), Const(THUMB_STATE)),
        Store((), Symbol(variable), Var("frame")),
    ]
    _ask(block, ready, index, [*built, *request])
    constants = [(place, value) for place, value in registers if isinstance(value, Const)]
    resuming = _resuming(Load(Symbol(variable)), resume.origin, constants)
    return First((*resuming, *reopened), handed)


def sets_psp(statement: Statement) -> bool:
    """Whether a statement writes PSP."""
    return isinstance(statement, Assign) and statement.target == "SP"


def is_mask(statement: Statement, function: str = "") -> bool:
    """Whether a statement calls a function on PRIMASK, any if none is named."""
    return (
        isinstance(statement, Guest)
        and statement.arguments[:1] == ("VIRT_PRIMASK",)
        and function in ("", statement.function)
    )


def opens_mask(statements: list[Statement]) -> bool:
    """Whether PRIMASK is surely clear behind these."""
    masks = [statement for statement in statements if is_mask(statement)]
    return bool(masks) and is_mask(masks[-1], "virt_int_unmask")


def kept_as(name: str, mask: str) -> str:
    """The variable that has a mask meanwhile."""
    return f"{name}_{mask.lower()}"


def _let_only_this_through(name: str, request: list[Statement]) -> list[Statement]:
    """A task may begin masked, but PRIMASK would hold the request too. BASEPRI doesn't; it holds
    the others meanwhile."""
    return [
        *(Store((), Symbol(kept_as(name, mask)), Var(mask)) for mask in _MASKS),
        Guest((), "virt_int_mask", ("VIRT_BASEPRI",)),
        *request,
        Guest((), "virt_int_unmask", ("VIRT_PRIMASK",)),
    ]


def _resuming(
    frame: Expr, origin: Origin, registers: Sequence[tuple[str, Expr]], with_fpu: bool = False
) -> tuple[Statement, ...]:
    fpscr = Store((), Binary("+", Var("sp"), Const(FPSCR)), Const(0))
    return (
        Assign((), "sp", frame),
        *(Assign((), place, value) for place, value in registers),
        *([fpscr] if with_fpu else []),
        Assign((), "SP", Var("sp")),
        Assign(origin, "LR", Const(WITH_FPU_STATE if with_fpu else THREAD_ON_PSP)),
    )


def _on_frame(value: Expr, frame: Expr) -> Expr:
    """A word of the frame as seen from its pointer."""
    if isinstance(value, Load):
        for offset in range(-128, FRAME, 4):
            if value.address == _below(frame, -offset):
                return Load(_below(Var("sp"), -offset))
    return value


def _values(statements: list[Statement]) -> dict[str, Expr]:
    """What each variable holds at the end, as far as memory wasn't written since it was read."""
    values: dict[str, Expr] = {}

    def known(expr: Expr) -> Expr:
        return _substituted(expr, values)

    for statement in statements:
        match statement:
            case Assign(target=target, value=value):
                values[target] = known(value)
            case BlockLoad(base=base, targets=targets, before=False, writeback=writeback):
                start = known(Var(base))
                for number, target in enumerate(targets):
                    if target != UNREAD:
                        values[target] = Load(fold(Binary("+", start, Const(4 * number))))
                if writeback:
                    values[base] = fold(Binary("+", start, Const(4 * len(targets))))
            case Store(address=address):
                values = {n: v for n, v in values.items() if not _may_change(v, address)}
            case Guest() | Note():
                pass
            case _:
                values = {}
    return values


def _may_change(value: Expr, written: Expr) -> bool:
    """Whether a store changes what a value was read from; objects of two names are two."""
    loads = [part.address for part in subexpressions(value) if isinstance(part, Load)]
    return any(
        not (isinstance(address, Symbol) and isinstance(written, Symbol))
        or address.name == written.name
        for address in loads
    )


def _substituted(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    return rewrite(expr, lambda var: values.get(var.name, var))


def _closed(value: Expr) -> bool:
    """Whether a value can be had elsewhere: from names and constants alone."""
    return not variables(value)


def _below(pointer: Expr, bytes_: int) -> Expr:
    step = Binary("-" if bytes_ >= 0 else "+", pointer, Const(abs(bytes_)))
    return fold(step)


def _is_pc(target: Expr, frame: Expr) -> bool:
    if isinstance(target, Binary) and target.operator in "|&" and isinstance(target.right, Const):
        target = target.left
    return target == Load(_below(frame, -PC))
