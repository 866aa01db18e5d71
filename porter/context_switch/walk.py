"""Reading and rewriting expressions and statements of the small language."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from porter.context_switch.ir import (
    UNREAD,
    WORD,
    Assign,
    Binary,
    BlockLoad,
    BlockStore,
    Branch,
    Call,
    Choice,
    Condition,
    Const,
    ContextLoad,
    ContextStore,
    Exit,
    Expr,
    Guest,
    LeadingZeros,
    Load,
    Read,
    Resume,
    Statement,
    Store,
    Symbol,
    Terminator,
    Undefined,
    Var,
)

Rewrite = Callable[[Var], Expr]


def parts(expr: Expr) -> tuple[Expr, ...]:
    """Direct sub-expressions."""
    match expr:
        case Binary(_, left, right) | Condition(_, _, left, right):
            return (left, right) if isinstance(expr, Binary) else (expr.kind, left, right)
        case Load(inner) | LeadingZeros(inner):
            return (inner,)
        case Choice(condition, yes, no):
            return (condition, yes, no)
    return ()


def subexpressions(expr: Expr) -> Iterator[Expr]:
    """The expression and everything in it."""
    yield expr
    for part in parts(expr):
        yield from subexpressions(part)


def variables(expr: Expr) -> set[str]:
    """Names of the variables an expression reads."""
    return {part.name for part in subexpressions(expr) if isinstance(part, Var)}


def rewrite(expr: Expr, change: Rewrite) -> Expr:
    """The expression with each variable replaced, folded."""
    match expr:
        case Var():
            return change(expr)
        case Binary(operator, left, right):
            return fold(Binary(operator, rewrite(left, change), rewrite(right, change)))
        case Load(address):
            return replace(expr, address=rewrite(address, change))
        case Condition(code, kind, left, right):
            return Condition(
                code, rewrite(kind, change), rewrite(left, change), rewrite(right, change)
            )
        case LeadingZeros(word):
            return LeadingZeros(rewrite(word, change))
        case Choice(Condition(code, kind, left, right), yes, no):
            asked = Condition(
                code, rewrite(kind, change), rewrite(left, change), rewrite(right, change)
            )
            return Choice(asked, rewrite(yes, change), rewrite(no, change))
    return expr


def fold(expr: Binary) -> Expr:
    """Constant arithmetic on words, and offsets of symbols."""
    match expr:
        case Binary("+" | "-" as sign, Symbol(name, offset), Const(value)):
            return Symbol(name, offset + (value if sign == "+" else -value))
        case Binary("+" | "-" | "|" | "^" | "<<" | ">>" | ">>>", left, Const(0)):
            return left
        case Binary("&", Binary("|", _, Const(ones)), Const(mask)) if mask & ~ones == 0:
            return Const(mask)
        case Binary("&", Const() as mask, Binary() as value):
            return fold(Binary("&", value, mask))
        case Binary("+" | "-" as outer, Binary("+" | "-" as inner, base, Const(a)), Const(b)):
            total = (a if inner == "+" else -a) + (b if outer == "+" else -b)
            return fold(Binary("+" if total >= 0 else "-", base, Const(abs(total))))
        case Binary(operator, Const(a), Const(b)):
            results = {
                "+": a + b,
                "-": a - b,
                "*": a * b,
                "&": a & b,
                "|": a | b,
                "^": a ^ b,
                "<<": a << b if b < 32 else 0,
                ">>": a >> b if b < 32 else 0,
            }
            if operator in results:
                return Const(results[operator] & WORD)
    return expr


def reads(statement: Statement | Terminator) -> tuple[Expr, ...]:
    """The expressions a statement evaluates."""
    match statement:
        case Assign(value=value) | Read(value=value):
            return (value,)
        case Store(address=address, value=value):
            return (address, value)
        case BlockStore(base=base, values=values):
            return (Var(base), *values)
        case BlockLoad(base=base):
            return (Var(base),)
        case Call(arguments=arguments, moves_stack=moves):
            return (*arguments, Var("SP")) if moves else arguments
        case ContextStore(address=address, registers=registers):
            return (address, *map(Var, registers))
        case ContextLoad(address=address):
            return (address,)
        case Resume(target=target, stack=stack):
            return (target, stack)
        case Guest(arguments=arguments):
            return tuple(argument for argument in arguments if isinstance(argument, Expr))
        case Branch(condition=condition):
            return (condition,)
        case Exit(value=Expr() as value):
            return (value,)
    return ()


def used(statement: Statement | Terminator) -> set[str]:
    """Variables a statement reads."""
    names: set[str] = set()
    for expr in reads(statement):
        names |= variables(expr)
    return names


def defined(statement: Statement) -> tuple[str, ...]:
    """Variables a statement writes."""
    match statement:
        case Assign(target=target):
            return (target,)
        case BlockStore(base=base, writeback=True):
            return (base,)
        case BlockLoad(base=base, targets=targets, writeback=writeback):
            read = tuple(target for target in targets if target != UNREAD)
            return (*read, base) if writeback and base not in read else read
        case Call(result=result, moves_stack=moves, left=left):
            written = (result, *left, "SP" if moves else None)
            return tuple(name for name in written if name is not None and name != UNREAD)
        case Guest(result=str(result)):
            return (result,)
        case ContextLoad(registers=registers):
            return registers
    return ()


def substitute(statement: Statement, change: Rewrite) -> Statement:
    """The statement with the variables it reads replaced; a block's base keeps its name."""
    match statement:
        case Assign(value=value) | Read(value=value):
            return replace(statement, value=rewrite(value, change))
        case Store(address=address, value=value):
            return replace(
                statement, address=rewrite(address, change), value=rewrite(value, change)
            )
        case BlockStore(values=values):
            return replace(statement, values=tuple(rewrite(value, change) for value in values))
        case Call(arguments=arguments):
            return replace(statement, arguments=tuple(rewrite(a, change) for a in arguments))
        case Resume(target=target, stack=stack):
            return replace(statement, target=rewrite(target, change), stack=rewrite(stack, change))
        case Guest(arguments=arguments):
            return replace(
                statement,
                arguments=tuple(
                    rewrite(a, change) if isinstance(a, Expr) else a for a in arguments
                ),
            )
    return statement


def substitute_end(end: Terminator, change: Rewrite) -> Terminator:
    """The same for what a block ends with."""
    match end:
        case Branch(condition=condition):
            return replace(end, condition=rewrite(condition, change))
        case Exit(value=Expr() as value):
            return replace(end, value=rewrite(value, change))
    return end


def undefined(expr: Expr) -> Undefined | None:
    """The first content of an expression that nobody knows, if any."""
    for part in subexpressions(expr):
        if isinstance(part, Undefined):
            return part
    return None
