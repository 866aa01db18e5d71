"""What instructions on core registers and memory do to the notes."""

from __future__ import annotations

from dataclasses import replace

from composer.verify.code.arithmetic import value_of
from composer.verify.code.decode import PC, SP, Address, Immediate, Operand, Other, Register
from composer.verify.code.values import signed
from composer.verify.ownership.terms import (
    FRAME_BIT,
    STACK,
    Field,
    FrameType,
    Place,
    Term,
    moved,
    resuming,
)
from composer.verify.ownership.words import Words

_STACKS = ("push", "pop", "vpush", "vpop")
_WHOLE = ("ldr", "ldrd", "ldrex", "str", "strd", "strex")


def transfer(move: Words) -> None:
    """Loads and stores of one register or two."""
    name, operands = move.instruction.name, move.instruction.operands
    count = next(n for n, o in enumerate(operands) if isinstance(o, Address))
    where = operands[count]
    assert isinstance(where, Address)
    place, after = move.addressed(where), _written_back(move, where, count)
    registers = [o.number for o in operands[:count] if isinstance(o, Register)]
    if name == "strex":
        move.put(registers.pop(0), None)
    if name not in _WHOLE:
        if name.startswith("st"):
            move.store_part(place)
        else:
            move.put(registers[0], None)
    elif name.startswith("st"):
        _store_all(move, place, [move.term(register) for register in registers])
    else:
        _load_all(move, place, registers)
    if after is not None and (name.startswith("st") or after[0] not in registers):
        move.put(*after)


def _written_back(move: Words, where: Address, count: int) -> tuple[int, Term] | None:
    """The register that holds the address, and what it holds afterwards."""
    instruction = move.instruction
    if where.base < 0 or not instruction.writes_back:
        return None
    by: int | None = None if where.index is not None else where.offset
    if instruction.post_indexed:
        last = instruction.operands[-1]
        constant = isinstance(last, Immediate) and len(instruction.operands) > count + 1
        by = last.value if constant and isinstance(last, Immediate) else None
    return where.base, None if by is None else moved(move.term(where.base), signed(by))


def _places(place: Place | None, count: int) -> list[Place | None]:
    """Of words that follow one another."""
    return [None if place is None else (place[0], place[1] + 4 * n) for n in range(count)]


def _store_all(move: Words, place: Place | None, terms: list[Term]) -> None:
    for at, term in zip(_places(place, len(terms)), terms, strict=True):
        move.store(at, term)


def _load_all(move: Words, place: Place | None, registers: list[int]) -> None:
    places = _places(place, len(registers))
    terms = [move.load(at, number) for number, at in enumerate(places)]
    for register, term in zip(registers, terms, strict=True):
        move.put(register, term)


def multiple(move: Words) -> None:
    """push, pop, ldm, stm and the floating-point ones."""
    name, operands = move.instruction.name, list(move.instruction.operands)
    base, writes_back = SP, True
    if name not in _STACKS:
        first = operands.pop(0)
        assert isinstance(first, Register)
        base, writes_back = first.number, move.instruction.writes_back
    floats = [n for o in operands if isinstance(o, Other) for n in _singles(o.name)]
    registers = [o.number for o in operands if isinstance(o, Register)]
    size = 4 * (len(floats) + len(registers))
    down = name.endswith(("push", "db"))
    place = move.place(base, -size if down else 0)
    end = moved(move.term(base), -size if down else size)
    if name.endswith("push") or "st" in name:
        terms = [move.ledger.floats[n] for n in floats]
        _store_all(move, place, terms or [move.term(register) for register in registers])
    else:
        _load_all(move, place, registers)
        _load_floats(move, place, floats)
    if name.endswith("pop") and place is not None:
        top = place[1] + size
        move.ledger = move.ledger.remembering(lambda p: p[0] != STACK or p[1] >= top)
    if writes_back and base != SP and base not in registers:
        move.put(base, end)


def _load_floats(move: Words, place: Place | None, floats: list[int]) -> None:
    terms = list(move.ledger.floats)
    for at, number in zip(_places(place, len(floats)), floats, strict=True):
        terms[number] = move.load(at, number)
    move.ledger = replace(move.ledger, floats=tuple(terms))


def _singles(name: str) -> list[int]:
    """Numbers of the single registers in one that is named so."""
    if name[:1] not in ("s", "d") or not name[1:].isdigit():
        return []
    number = int(name[1:])
    return [number] if name[0] == "s" else [2 * number, 2 * number + 1]


def copy(move: Words) -> None:
    """mov."""
    term = _plain(move, move.instruction.operands[1])
    move.forget()
    _result(move, term)


def _plain(move: Words, operand: Operand) -> Term:
    """An operand that isn't shifted."""
    if isinstance(operand, Register):
        return None if operand.shift else move.term(operand.number)
    return operand.value if isinstance(operand, Immediate) else None


def _sources(move: Words) -> tuple[Operand, Operand]:
    operands = move.instruction.operands
    return operands[1 if len(operands) > 2 else 0], operands[-1]


def _result(move: Words, term: Term) -> None:
    target = move.instruction.operands[0]
    if isinstance(target, Register) and target.number not in (SP, PC):
        move.put(target.number, term)


def total(move: Words) -> None:
    """add, sub: what is some bytes behind a pointer, or a new one."""
    source, last = _sources(move)
    by, pointer = value_of(move.before, last), _plain(move, source)
    term: Term = None
    if isinstance(by, int):
        is_sum = move.instruction.name.startswith("add")
        term = moved(pointer, signed(by) if is_sum else -signed(by))
    move.forget()
    _result(move, move.born(0) if term is None else term)


def combine(move: Words) -> None:
    """and, orr: EXC_RETURN of what was saved and of what the kernel has."""
    name, (first, last) = move.instruction.name, _sources(move)
    terms = _plain(move, first), _plain(move, last)
    term: Term = None
    tested: tuple[Term, Term] | None = None
    for one, other in (terms, terms[::-1]):
        if name == "and" and other == FRAME_BIT and isinstance(one, Field):
            term, tested = FrameType(one), (one, other)
        if name == "orr" and term is None:
            term = resuming(one, other)
    move.forget()
    _result(move, term)
    if move.instruction.sets_flags:
        move.ledger = replace(move.ledger, tested=tested)
