"""Constant and copy propagation, and removal of what nobody reads."""

from __future__ import annotations

from operator import ge, gt, le, lt

from porter.context_switch.ir import (
    CONTEXT,
    FLAGS,
    MASKS,
    WHY_NESTING,
    WORD,
    Assign,
    BlockLoad,
    Branch,
    Condition,
    Const,
    Expr,
    Guest,
    Jump,
    Load,
    Note,
    Program,
    Read,
    Statement,
    Symbol,
    Terminator,
    Undefined,
    Var,
)
from porter.context_switch.lift_state import KIND_COMPARE
from porter.context_switch.volatile import has_volatile
from porter.context_switch.walk import (
    defined,
    rewrite,
    subexpressions,
    substitute,
    substitute_end,
    used,
    variables,
)

Environment = dict[str, Expr]

_SIGN = 1 << 31
_ORDERS = {  # by condition code: of signed numbers or not, which
    **{"hs": (False, ge), "lo": (False, lt), "hi": (False, gt), "ls": (False, le)},
    **{"ge": (True, ge), "lt": (True, lt), "gt": (True, gt), "le": (True, le)},
}
WHY_DECIDED = "always goes one way here"

# What the resumed task, the kernel or the checks after this pass still read.
LIVE_AT_EXIT = frozenset((*CONTEXT, *MASKS, "MSP", "CONTROL"))


def propagate(program: Program, entry: Environment) -> None:
    """Replace variables by the constant, symbol or older variable they surely equal.

    `entry` says what is known at the start. Runs to a fixpoint, so loops are sound.
    """
    before: dict[int, Environment | None] = dict.fromkeys(program.blocks)
    before[program.entry] = dict(entry)
    changed = True
    while changed:
        changed = False
        for key in program.order():
            environment = before[key]
            if environment is None:
                continue
            after = _through(program.blocks[key].statements, dict(environment))
            for successor in _followers(program.blocks[key].end, after):
                merged = _meet(before[successor], after)
                if merged != before[successor]:
                    before[successor] = merged
                    changed = True
    for key, environment in before.items():
        if environment is None:
            del program.blocks[key]
        else:
            _replace(program, key, dict(environment))


def _followers(end: Terminator, environment: Environment) -> tuple[int, ...]:
    """The blocks that may run next, where constants decide only one of them."""
    if isinstance(end, Branch):
        condition = rewrite(end.condition, lambda var: environment.get(var.name, var))
        taken = _decided(condition)
        return (end.taken, end.otherwise) if taken is None else (_way(end, taken),)
    return (end.target,) if isinstance(end, Jump) else ()


def _way(end: Branch, taken: bool) -> int:
    return end.taken if taken else end.otherwise


def _decided(condition: Expr) -> bool | None:
    """Whether a comparison of two constants holds; None for any other condition."""
    match condition:
        case Condition("eq" | "ne" as code, Const(), Const(left), Const(right)):
            return (left == right) == (code == "eq")
        case Condition(code, Const(kind), Const(left), Const(right)) if (
            kind == KIND_COMPARE and code in _ORDERS
        ):
            signed, order = _ORDERS[code]
            return bool(order(*map(_signed, (left, right))) if signed else order(left, right))
        case Condition("mi" | "pl" as code, Const(), Const(left), Const(right)):
            return (_signed(left - right) < 0) == (code == "mi")
    return None


def _signed(word: int) -> int:
    return ((word & WORD) ^ _SIGN) - _SIGN


def _meet(old: Environment | None, new: Environment) -> Environment:
    if old is None:
        return dict(new)
    return {name: value for name, value in old.items() if new.get(name) == value}


def _through(statements: list[Statement], environment: Environment) -> Environment:
    for statement in statements:
        _learn(statement, environment)
    return environment


def _learn(statement: Statement, environment: Environment) -> None:
    """The environment after a statement."""
    value: Expr | None = None
    if isinstance(statement, Assign):
        value = rewrite(statement.value, lambda var: environment.get(var.name, var))
    for name in defined(statement):
        environment.pop(name, None)
        for other in [key for key, known in environment.items() if name in variables(known)]:
            del environment[other]
    if not isinstance(statement, Assign) or value is None or value == Var(statement.target):
        return
    simple = isinstance(value, Const | Symbol | Var | Undefined)
    # The operands of a condition go to the condition as a whole: no C local for the flags. Nor one
    # for what becomes of CONTROL: what is written back there must be seen.
    flags = statement.target in FLAGS or variables(value) == {"CONTROL"}
    whole = flags and not any(isinstance(part, Load) for part in subexpressions(value))
    if (simple or whole) and statement.target not in variables(value):
        environment[statement.target] = value


def _replace(program: Program, key: int, environment: Environment) -> None:
    block = program.blocks[key]
    rewritten: list[Statement] = []
    for statement in block.statements:
        new = substitute(statement, lambda var: environment.get(var.name, var))
        rewritten.append(new)
        _learn(statement, environment)
    block.statements = rewritten
    block.end = substitute_end(block.end, lambda var: environment.get(var.name, var))
    if isinstance(block.end, Branch) and (taken := _decided(block.end.condition)) is not None:
        block.statements.append(Note(block.end.origin, WHY_DECIDED))
        block.end = Jump(_way(block.end, taken))


def live_out(program: Program, at_exit: frozenset[str] = LIVE_AT_EXIT) -> dict[int, set[str]]:
    """Variables whose value is still read behind each block."""
    out: dict[int, set[str]] = {key: set() for key in program.blocks}
    changed = True
    while changed:
        changed = False
        for key in reversed(program.order()):
            block = program.blocks[key]
            live: set[str] = set() if block.successors() else set(at_exit)
            for successor in block.successors():
                live |= live_in(program, successor, out[successor])
            if live != out[key]:
                out[key] = live
                changed = True
    return out


def live_in(program: Program, key: int, after: set[str]) -> set[str]:
    """Variables read in a block, or behind it, before they are written."""
    block = program.blocks[key]
    live = set(after) | used(block.end)
    for statement in reversed(block.statements):
        live -= set(defined(statement))
        live |= used(statement)
    return live


def remove_dead(program: Program, keep: frozenset[str] = frozenset()) -> None:
    """Turn assignments that nobody reads, and `x = x`, into notes, until none is left.

    `keep` names variables whose every write stays: masks in code that can be interrupted.
    """
    changed = True
    while changed:
        changed = False
        out = live_out(program)
        for key, block in program.blocks.items():
            live = out[key] | used(block.end)
            kept: list[Statement] = []
            for statement in reversed(block.statements):
                if _is_dead(statement, live, keep):
                    changed = True
                    if isinstance(statement, Assign) and has_volatile(statement.value):
                        kept.append(Read(statement.origin, statement.value))
                        live |= used(statement)
                        continue
                    why = WHY_NESTING if set(defined(statement)) & set(MASKS) else ""
                    kept.append(Note(statement.origin, why))
                    continue
                live = (live - set(defined(statement))) | used(statement)
                kept.append(statement)
            block.statements = kept[::-1]


def _is_dead(statement: Statement, live: set[str], keep: frozenset[str]) -> bool:
    if statement == Guest(statement.origin, "virt_mstatus", (), getattr(statement, "result", None)):
        return not live & set(defined(statement))
    if isinstance(statement, BlockLoad):
        return not live & set(defined(statement))
    if not isinstance(statement, Assign) or statement.target in keep:
        return False
    return statement.target not in live or statement.value == Var(statement.target)
