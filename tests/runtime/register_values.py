"""What registers hold in a procedure, and what it stores where.

A register holds one of a few constants, a constant plus something unknown, or anything. A call
leaves nothing in the registers that the procedure call standard gives away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from capstone import CS_OP_IMM, CS_OP_MEM, CS_OP_REG
from capstone.arm import ARM_CC_AL, ARM_CC_INVALID, ARM_REG_PC, ARM_SFT_LSL

if TYPE_CHECKING:
    from tests.runtime.machine_code import Code

_MASK = 0xFFFFFFFF
_MOST = 4  # constants that one register is followed through
_CLOBBERED = ("r0", "r1", "r2", "r3", "ip", "lr")


class Value(NamedTuple):
    """What a register may hold; without `exact` something unknown is added to it."""

    numbers: frozenset[int]
    exact: bool = True


Registers = Mapping[str, Value]


class Store(NamedTuple):
    """A store through a base of which something is known: word address, what is stored."""

    address: int
    exact: bool
    stored: Value | None


def followed(code: Code, entry: int) -> dict[int, dict[str, Value]]:
    """What registers hold before each instruction of the procedure that starts at `entry`."""
    before: dict[int, dict[str, Value]] = {entry: {}}
    work = [entry]
    while work:
        address = work.pop()
        after = _step(code, address, before[address])
        for following in code.flow(address).following:
            known = before.get(following)
            joined = after if known is None else _join(known, after)
            if joined != known:
                before[following] = dict(joined)
                work.append(following)
    return before


def _step(code: Code, address: int, before: dict[str, Value]) -> dict[str, Value]:
    instruction = code.instructions[address]
    after = dict(before)
    if code.flow(address).calls:
        written = list(_CLOBBERED)
        made = None
    else:
        written = [instruction.reg_name(r) for r in instruction.regs_access()[1]]
        made = _moved(instruction, before) or _made(code, instruction, before)
    for register in written:
        after.pop(register, None)
    if made is not None and made[0] in written:
        after[made[0]] = made[1]
    if instruction.cc in (ARM_CC_AL, ARM_CC_INVALID):
        return after
    joined = _join(before, after)
    other = _otherwise(code, instruction, before)
    if made is not None and other is not None and other[0] == made[0]:
        joined.update(_join(dict([made]), dict([other])))
    return joined


def _otherwise(code: Code, instruction: Any, before: Registers) -> tuple[str, Value] | None:
    """What the instruction just before makes under the opposite condition."""
    for size in (2, 4):
        previous = code.instructions.get(instruction.address - size)
        if previous is not None and previous.size == size:
            opposite = (instruction.cc - 1) ^ 1 == previous.cc - 1
            return _made(code, previous, before) if opposite else None
    return None


def _made(code: Code, instruction: Any, before: Registers) -> tuple[str, Value] | None:
    name, operands = instruction.mnemonic.partition(".")[0], instruction.operands
    if len(operands) < 2 or operands[0].type != CS_OP_REG or instruction.writeback:
        return None
    for suffix in _condition(instruction), "s":
        if suffix and len(name) > 3:
            name = name.removesuffix(suffix)
    target, last = instruction.reg_name(operands[0].reg), operands[-1]
    if name == "ldr" and last.type == CS_OP_MEM and last.mem.base == ARM_REG_PC:
        word = code.word(((instruction.address + 4) & ~3) + last.mem.disp)
        return None if word is None else (target, Value(frozenset({word})))
    left, right = operands[-2] if len(operands) == 3 else operands[0], last
    one, two = _operand(instruction, left, before), _operand(instruction, right, before)
    if name in ("mov", "movw"):
        return None if two is None else (target, two)
    if name == "mvn" and two is not None and two.exact:
        return target, Value(frozenset(~n & _MASK for n in two.numbers))
    if name == "movt" and one is not None and one.exact:
        high = last.imm << 16
        return target, Value(frozenset(n & 0xFFFF | high for n in one.numbers))
    result = _computed(name, one, two)
    return None if result is None else (target, result)


def accesses(code: Code, address: int, before: Registers, kind: str) -> list[Store]:
    """Stores ("st") or loads ("ld") whose base is at least partly known."""
    name = code.name(address)
    if not name.startswith(kind):
        return []
    instruction = code.instructions[address]
    operands = instruction.operands
    if name[2] == "m":
        base = before.get(instruction.reg_name(operands[0].reg))
        if base is None:
            return []
        return [
            Store(n + 4 * i, base.exact, before.get(instruction.reg_name(o.reg)))
            for n in base.numbers
            for i, o in enumerate(operands[1:])
        ]
    found = []
    where = next(i for i, o in enumerate(operands) if o.type == CS_OP_MEM)
    memory = operands[where].mem
    base = before.get(instruction.reg_name(memory.base))
    index = before.get(instruction.reg_name(memory.index)) if memory.index else None
    for i, operand in enumerate(operands[:where]):
        stored = before.get(instruction.reg_name(operand.reg))
        if base is None and index is None:
            continue
        scale = operands[where].shift.value if operands[where].shift.type else 0
        exact = base is not None and base.exact
        if memory.index:
            exact = exact and index is not None and index.exact
        for one in base.numbers if base else (0,):
            for two in index.numbers if index else (0,):
                offset = 0 if instruction.post_index else memory.disp
                found.append(Store((one + offset + (two << scale) + 4 * i) & _MASK, exact, stored))
    return found


def _condition(instruction: Any) -> str:
    names = ("", "eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le")
    return names[instruction.cc] if instruction.cc < len(names) else ""


def _operand(instruction: Any, operand: Any, before: Registers) -> Value | None:
    if operand.type == CS_OP_IMM:
        return Value(frozenset({operand.imm & _MASK}))
    if operand.type != CS_OP_REG:
        return None
    value = before.get(instruction.reg_name(operand.reg))
    if value is None or not operand.shift.type:
        return value
    if operand.shift.type != ARM_SFT_LSL:
        return None
    return _shifted(value, operand.shift.value)


def _shifted(value: Value, by: int) -> Value:
    return Value(frozenset(n << by & _MASK for n in value.numbers), value.exact)


def _computed(name: str, one: Value | None, two: Value | None) -> Value | None:
    if name in ("add", "addw"):
        if one is None and two is None:
            return None
        exact = one is not None and two is not None and one.exact and two.exact
        first, second = (v.numbers if v else frozenset({0}) for v in (one, two))
        return _few(Value(frozenset((a + b) & _MASK for a in first for b in second), exact))
    if one is None or two is None or not two.exact:
        return None
    if name in ("sub", "subw"):
        numbers = frozenset((a - b) & _MASK for a in one.numbers for b in two.numbers)
        return _few(Value(numbers, one.exact))
    if name == "lsl" and len(two.numbers) == 1:
        return _shifted(one, min(two.numbers) & 31)
    if name == "orr" and one.exact:
        return _few(Value(frozenset(a | b for a in one.numbers for b in two.numbers)))
    if name == "and" and one.exact:
        return _few(Value(frozenset(a & b for a in one.numbers for b in two.numbers)))
    return None


def _moved(instruction: Any, before: Registers) -> tuple[str, Value] | None:
    """The base of a load or store of one register that moves it by a constant."""
    memory = next((o.mem for o in instruction.operands if o.type == CS_OP_MEM), None)
    if not instruction.writeback or memory is None:
        return None
    base = instruction.reg_name(memory.base)
    change, last = memory.disp, instruction.operands[-1]
    if instruction.post_index:
        if last.type != CS_OP_IMM:
            return None
        change = -last.imm if last.subtracted else last.imm
    value = before.get(base)
    result = _computed("add", value, Value(frozenset({change & _MASK}))) if value else None
    return None if result is None else (base, result)


def _few(value: Value) -> Value | None:
    return value if len(value.numbers) <= _MOST else None


def _join(one: Registers, two: Registers) -> dict[str, Value]:
    joined = {}
    for register in one.keys() & two.keys():
        known, new = one[register], two[register]
        numbers = known.numbers | new.numbers
        if known == new:
            joined[register] = known
        elif known.exact and new.exact and len(numbers) <= _MOST:
            joined[register] = Value(numbers)
        elif min(known.numbers) <= min(new.numbers):  # a pointer that a loop moves up
            joined[register] = Value(frozenset({min(known.numbers)}), exact=False)
    return joined
