"""From the lifted program to one that reads well, and the checks that need its constants."""

from __future__ import annotations

from dataclasses import replace

from porter.asm.effects import WHY_CONTROL
from porter.context_switch import webs
from porter.context_switch.dataflow import Environment, live_in, live_out, propagate, remove_dead
from porter.context_switch.first_fpu import note_fpu_state
from porter.context_switch.idle import wait_in_idle
from porter.context_switch.ir import (
    CONTEXT,
    KEPT,
    MASKS,
    OWN,
    PARAMETERS,
    READ_ONLY,
    RETURNED,
    RISCV_FPU,
    UNREAD,
    WHY_STACK,
    Assign,
    Binary,
    BlockLoad,
    Branch,
    Call,
    Const,
    Expr,
    Load,
    Note,
    Program,
    Statement,
    Store,
    Terminator,
    Undefined,
    Var,
)
from porter.context_switch.locals import name_locals
from porter.context_switch.result import (
    ROLE_CALL,
    ROLE_START,
    ROLE_SVC,
    ROLE_SWITCH,
    NotTranscribable,
)
from porter.context_switch.system_access import check_memory, read_cycles, replace_system_registers
from porter.context_switch.unroll import unroll
from porter.context_switch.volatile import IsVolatile, forget_stacks, has_volatile, mark_volatile
from porter.context_switch.walk import (
    defined,
    reads,
    subexpressions,
    substitute,
    substitute_end,
    undefined,
    used,
)

_ARGUMENTS = ("r0", "r1", "r2", "r3")
_ON_PSP = 4  # bit of EXC_RETURN


def prepare_start(program: Program) -> None:
    """What `split_first` needs to see: constants, and guest calls for system registers."""
    propagate(program, {})
    unroll(program, {})
    note_fpu_state(program)
    replace_system_registers(program, ROLE_START)


def simplify(
    program: Program,
    role: str,
    is_volatile: IsVolatile,
    may_wait: bool = False,
    serves: bool = False,
) -> None:
    """Run all passes. `may_wait`: USR can wait in its place; `serves`: it finds its callers'
    registers in their frames. Raises NotTranscribable for what has no meaning in a guest."""
    # A handler of vector 0 only runs while nothing is masked.
    entry: Environment = dict.fromkeys(MASKS, Const(0)) if role == ROLE_SWITCH else {}
    keep = frozenset() if role == ROLE_SWITCH else frozenset(MASKS)
    propagate(program, entry)
    if role == ROLE_CALL:
        _called_by_task(program)
    elif serves:
        _asked_for_its_stack(program)
    unroll(program, entry)
    if may_wait and wait_in_idle(program):
        propagate(program, entry)
    read_cycles(program)
    _check_conventions(program)
    mark_volatile(program, is_volatile, starts=role in (ROLE_START, ROLE_SVC))
    for _ in range(2):  # the split lets copies through that a reused register blocked
        propagate(program, entry)
        remove_dead(program, keep)
        webs.split(program)
    propagate(program, entry)
    webs.merge_copies(program)
    remove_dead(program, keep)
    inline_loads(program)
    replace_system_registers(program, role)
    remove_dead(program, keep)
    _forget_lost_floats(program)
    name_locals(program)
    forget_stacks(program)
    _forget_unused(program)
    _check(program)
    check_memory(program)


def _called_by_task(program: Program) -> None:
    """EXC_RETURN says of every caller in a guest that it was on its task's stack."""
    lr = Binary("|", Var("LR"), Const(_ON_PSP))
    for block in program.blocks.values():
        block.end = substitute_end(block.end, lambda var: lr if var.name == "LR" else var)


def _asked_for_its_stack(program: Program) -> None:
    """The same where only that is asked of EXC_RETURN, a register of the task otherwise."""
    asked = Binary("&", Var("LR"), Const(_ON_PSP))
    always = Binary("|", Var("LR"), Const(_ON_PSP))
    for block in program.blocks.values():
        if any(part == asked for expr in reads(block.end) for part in subexpressions(expr)):
            block.end = substitute_end(block.end, lambda var: always if var.name == "LR" else var)


def _check_conventions(program: Program) -> None:
    """A plain function gives its caller r4-r11 back, and SP comes back to the handler's stack."""
    for block in program.blocks.values():
        kept: list[Statement] = []
        for statement in block.statements:
            match statement:
                case Assign(target=target, value=value) if target == f"{KEPT}LR":
                    if value != Var("LR"):
                        raise NotTranscribable("returns to another place than its caller")
                case Assign(target=target, value=value) if target.startswith(KEPT):
                    if value != Var(target.replace(KEPT, "entry")):
                        raise NotTranscribable(
                            f"changes r{target.removeprefix(KEPT)} of its caller"
                        )
                case Assign(origin, target, Binary(_, left, right)) if target == RETURNED:
                    if left != right:
                        raise NotTranscribable("leaves SP somewhere else than it found it")
                    kept.append(Note(origin, WHY_STACK))
                case _:
                    kept.append(statement)
        block.statements = kept


def _forget_unused(program: Program) -> None:
    """No local for a result or a loaded word that nobody reads."""
    out = live_out(program)
    for key, block in program.blocks.items():
        live = out[key] | used(block.end)
        kept: list[Statement] = []
        for statement in reversed(block.statements):
            after = live
            live = (live - set(defined(statement))) | used(statement)
            if isinstance(statement, Call):
                result = statement.result if statement.result in after else None
                left = tuple(name if name in after else UNREAD for name in statement.left)
                statement = replace(statement, result=result, left=left if any(left) else ())
            elif isinstance(statement, BlockLoad):
                targets = tuple(name if name in after else UNREAD for name in statement.targets)
                statement = replace(statement, targets=targets)
            kept.append(statement)
        block.statements = kept[::-1]


def _forget_lost_floats(program: Program) -> None:
    """A floating-point register that a call destroyed and nobody restored is of no task: the one
    that goes on said in mstatus that it has none."""
    for block in program.blocks.values():
        block.statements = [
            Note(statement.origin, "")
            if isinstance(statement, Assign)
            and statement.target in RISCV_FPU
            and isinstance(statement.value, Undefined)
            else statement
            for statement in block.statements
        ]


def inline_loads(program: Program) -> None:
    """Fold a load into the next statement where that is its only reader."""
    for block in program.blocks.values():
        index = 0
        while index < len(block.statements):
            statement = block.statements[index]
            reader = _next(block.statements, index)
            if (
                isinstance(statement, Assign)
                and reader is not None
                and statement.target not in CONTEXT
                and _loads(statement.value)
                and _uses(program, statement.target) == 1
                and not _reorders(statement.value, block.statements[reader])
            ):
                following = block.statements[reader]
                if statement.target in used(following) and not _writes_base(following, statement):
                    block.statements[reader] = _inlined(statement, following)
                    block.statements[index] = Note(statement.origin, "")
            index += 1


def _reorders(value: Expr, following: Statement) -> bool:
    """Whether one expression would have two volatile loads, of which C doesn't say which is
    first."""
    return has_volatile(value) and any(map(has_volatile, reads(following)))


def _loads(value: Expr) -> bool:
    return any(
        isinstance(part, Load) or (isinstance(part, Var) and part.name in READ_ONLY)
        for part in subexpressions(value)
    )


def _next(statements: list[Statement], index: int) -> int | None:
    for position in range(index + 1, len(statements)):
        if not isinstance(statements[position], Note):
            return position
    return None


def _uses(program: Program, name: str) -> int:
    count = 0
    for block in program.blocks.values():
        for item in (*block.statements, block.end):
            for expr in reads(item):
                count += sum(part == Var(name) for part in subexpressions(expr))
    return count


def _writes_base(following: Statement, statement: Assign) -> bool:
    """Block transfers need their base as a variable; only plain statements take an expression."""
    return not isinstance(following, Assign | Store) or statement.target in defined(following)


def _inlined(statement: Assign, following: Statement) -> Statement:
    value = statement.value
    name = statement.target
    return replace(
        substitute(following, lambda var: value if var.name == name else var),
        origin=(*statement.origin, *following.origin),
    )


def _unaligned(item: Statement | Terminator) -> int | None:
    """Where a word is accessed whose place can be a multiple of 4 only by the pointer's not being
    one."""
    accessed = [part.address for expr in reads(item) for part in subexpressions(expr)
                if isinstance(part, Load) and part.size == 4]  # fmt: skip
    if isinstance(item, Store) and item.size == 4:
        accessed.append(item.address)
    for address in accessed:
        match address:
            case Binary("+" | "-", _, Const(step)) if step % 4:
                return step
    return None


def _check(program: Program) -> None:
    """Nobody may read what nobody wrote."""
    for block in program.blocks.values():
        for item in (*block.statements, block.end):
            if "CONTROL" in used(item):
                raise NotTranscribable(WHY_CONTROL)
            if (step := _unaligned(item)) is not None:
                raise NotTranscribable(
                    f"accesses a word {step} bytes behind a pointer, as in a packed struct: only "
                    "words at multiples of 4 are proved"
                )
            for expr in reads(item):
                if (hole := undefined(expr)) is not None:
                    raise NotTranscribable(f"reads a register that {hole.why} destroyed")
        if isinstance(block.end, Branch) and "flag_kind" in used(block.end):
            raise NotTranscribable("a condition tests flags of more than one instruction")
    entry = live_in(program, program.entry, live_out(program)[program.entry])
    unknown = sorted(entry - {*CONTEXT, *MASKS, *PARAMETERS, *READ_ONLY, "MSP", "CONTROL"})
    if any(name.startswith(OWN) for name in unknown):
        raise NotTranscribable("keeps or computes an address of the handler's own stack")
    if unknown and unknown[0] in _ARGUMENTS:
        raise NotTranscribable(
            f"reads {unknown[0]} before anything was written there: what a supervisor call passes "
            "is in the frame at PSP, and a function that is called switches no machine's tasks, "
            "only a handler does"
        )
    if unknown:
        raise NotTranscribable(f"reads {unknown[0]} before anything was written there")
