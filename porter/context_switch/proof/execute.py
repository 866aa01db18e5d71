"""What one Thumb instruction does to a path (ARMv7-M Architecture Reference Manual, A7.7)."""

from __future__ import annotations

from collections.abc import Callable

from capstone import arm_const

from porter.context_switch.proof.conditions import holds
from porter.context_switch.proof.machine import Flags, Path
from porter.context_switch.proof.model import SVC, TRIGGER
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.terms import (
    WORD,
    Term,
    Truth,
    add,
    as_word,
    binary,
    equal,
    field,
    insert,
    symbol,
)
from porter.context_switch.proof.thumb import Instruction
from porter.context_switch.result import ROLE_START

_SHIFTS = {arm_const.ARM_SFT_LSL: "<<", arm_const.ARM_SFT_LSR: ">>", arm_const.ARM_SFT_ASR: ">>>"}
_OPERATORS = {
    "add": "+", "addw": "+", "sub": "-", "subw": "-", "and": "&", "orr": "|", "eor": "^",
    "mul": "*", "lsl": "<<", "lsr": ">>", "asr": ">>>",
}  # fmt: skip
_EXTENSIONS = {"uxtb": (8, False), "uxth": (16, False), "sxtb": (8, True), "sxth": (16, True)}
_ACCESS = {
    "ldr": (4, False), "ldrb": (1, False), "ldrh": (2, False), "ldrsb": (1, True),
    "ldrsh": (2, True), "str": (4, False), "strb": (1, False), "strh": (2, False),
}  # fmt: skip
_NOTHING = frozenset({"nop", "dsb", "isb", "dmb"})


def execute(path: Path, instruction: Instruction, predicated: bool) -> None:
    """Apply an instruction that isn't a direct branch. `path.pc` is behind it already; a write of
    the PC sets `path.exit`. Raises NotProved for an instruction that isn't known here."""
    action = _ACTIONS.get(instruction.name)
    if action is None:
        raise NotProved(f"the proof doesn't know the instruction '{instruction.text}'")
    action(path, instruction, predicated)


def _value(path: Path, instruction: Instruction, index: int) -> Term:
    """An operand's word."""
    operand = instruction.raw.operands[index]
    if operand.type == arm_const.ARM_OP_IMM:
        return operand.imm & WORD
    if operand.type != arm_const.ARM_OP_REG:
        raise NotProved(f"the proof doesn't know the operands of '{instruction.text}'")
    value = path.read(instruction.register(operand.reg))
    if operand.shift.type == arm_const.ARM_SFT_INVALID:
        return value
    if operand.shift.type not in _SHIFTS:
        raise NotProved(f"the proof doesn't know the shift of '{instruction.text}'")
    return binary(_SHIFTS[operand.shift.type], value, operand.shift.value)


def _target(instruction: Instruction) -> str:
    return instruction.register(instruction.raw.operands[0].reg)


def _set(path: Path, register: str, value: Term) -> None:
    if register == "pc":
        path.exit = value
    else:
        path.write(register, value)


def _move(path: Path, instruction: Instruction, predicated: bool) -> None:
    value = _value(path, instruction, 1)
    if instruction.name == "mvn":
        value = binary("^", value, WORD)
    _set(path, _target(instruction), value)
    if instruction.sets_flags(predicated):
        path.flags = Flags("=", value)


def _move_top(path: Path, instruction: Instruction, predicated: bool) -> None:
    register = _target(instruction)
    path.write(register, insert(path.read(register), _value(path, instruction, 1), 16, 16))


def _arithmetic(path: Path, instruction: Instruction, predicated: bool) -> None:
    name, operands = instruction.name, instruction.raw.operands
    left = _value(path, instruction, 0 if len(operands) == 2 else 1)
    right = _value(path, instruction, len(operands) - 1)
    if name == "add" and len(operands) == 3 and instruction.register(operands[1].reg) == "pc":
        left = binary("&", left, ~3 & WORD)
    if name == "rsb":
        left, right, name = right, left, "sub"
    elif name in ("bic", "orn"):
        right, name = binary("^", right, WORD), {"bic": "and", "orn": "orr"}[name]
    operator = _OPERATORS[name]
    value = binary(operator, left, right)
    _set(path, _target(instruction), value)
    if instruction.sets_flags(predicated):
        if operator in ("+", "-"):
            path.flags = Flags(operator, left, right)
        else:
            path.flags = Flags("=", value, carry=_carry(operator, left, right))


def _with_carry(path: Path, instruction: Instruction, predicated: bool) -> None:
    """adc and sbc."""
    left = _value(path, instruction, 0 if len(instruction.raw.operands) == 2 else 1)
    right = _value(path, instruction, len(instruction.raw.operands) - 1)
    carry = as_word(holds(path.flags, "hs"))
    if instruction.name == "adc":
        value = add(add(left, right), carry)
    else:
        value = binary("-", add(binary("-", left, right), carry), 1)
    path.write(_target(instruction), value)
    if instruction.sets_flags(predicated):
        path.flags = Flags("=", value)


def _carry(operator: str, value: Term, amount: Term) -> Truth | None:
    """The bit that a shift by a constant pushes out last."""
    if not isinstance(amount, int) or not 0 < amount < 32:
        return None
    if operator == "<<":
        return equal(field(value, 32 - amount, 1), 1)
    return equal(field(value, amount - 1, 1), 1) if operator in (">>", ">>>") else None


def _compare(path: Path, instruction: Instruction, predicated: bool) -> None:
    left, right = _value(path, instruction, 0), _value(path, instruction, 1)
    match instruction.name:
        case "cmp":
            path.flags = Flags("-", left, right)
        case "cmn":
            path.flags = Flags("+", left, right)
        case "tst":
            path.flags = Flags("=", binary("&", left, right))
        case "teq":
            path.flags = Flags("=", binary("^", left, right))


def _extend(path: Path, instruction: Instruction, predicated: bool) -> None:
    width, signed = _EXTENSIONS[instruction.name]
    path.write(_target(instruction), field(_value(path, instruction, 1), 0, width, signed))


def _bit_field(path: Path, instruction: Instruction, predicated: bool) -> None:
    operands = instruction.raw.operands
    low, width = operands[-2].imm, operands[-1].imm
    register = _target(instruction)
    match instruction.name:
        case "ubfx" | "sbfx":
            value = _value(path, instruction, 1)
            path.write(register, field(value, low, width, instruction.name == "sbfx"))
        case "bfi":
            value = _value(path, instruction, 1)
            path.write(register, insert(path.read(register), value, low, width))
        case "bfc":
            path.write(register, insert(path.read(register), 0, low, width))


def _address(path: Path, instruction: Instruction) -> Term:
    """Of a single transfer; writes the base back where the instruction does."""
    operands = instruction.raw.operands
    index = next(i for i, op in enumerate(operands) if op.type == arm_const.ARM_OP_MEM)
    memory = operands[index].mem
    base = instruction.register(memory.base)
    start = path.read(base)
    if base == "pc":
        start = start & ~3
    offset: Term = memory.disp & WORD
    if memory.index:
        if operands[index].subtracted:
            raise NotProved(f"the proof doesn't know the address of '{instruction.text}'")
        offset = path.read(instruction.register(memory.index))
        shift = operands[index].shift
        if shift.type != arm_const.ARM_SFT_INVALID:
            offset = binary(_SHIFTS[shift.type], offset, shift.value)
        elif memory.lshift:
            offset = binary("<<", offset, memory.lshift)
    if not instruction.raw.writeback:
        return add(start, offset)
    if instruction.raw.post_index:
        if index + 1 < len(operands):  # the step is an operand of its own
            step = _value(path, instruction, index + 1)
            offset = binary("-", 0, step) if operands[index + 1].subtracted else step
        path.write(base, add(start, offset))
        return start
    path.write(base, add(start, offset))
    return add(start, offset)


def _load(path: Path, instruction: Instruction, predicated: bool) -> None:
    size, signed = _ACCESS[instruction.name]
    _set(path, _target(instruction), path.load(_address(path, instruction), size, signed))


def _store(path: Path, instruction: Instruction, predicated: bool) -> None:
    value = path.read(_target(instruction))
    path.store(_address(path, instruction), value, _ACCESS[instruction.name][0])


def _double(path: Path, instruction: Instruction, predicated: bool) -> None:
    registers = [instruction.register(op.reg) for op in instruction.raw.operands[:2]]
    values = [path.read(register) for register in registers]
    address = _address(path, instruction)
    for index, register in enumerate(registers):
        place = add(address, 4 * index)
        if instruction.name == "ldrd":
            path.write(register, path.load(place))
        else:
            path.store(place, values[index])


def _float(path: Path, instruction: Instruction, predicated: bool) -> None:
    """vldr and vstr."""
    registers = _words([_target(instruction)])
    address = _address(path, instruction)
    _transfer(path, registers, address, instruction.name == "vldr")


def _multiple(path: Path, instruction: Instruction, predicated: bool) -> None:
    operands = instruction.raw.operands
    base = instruction.register(operands[0].reg)
    registers = _words([instruction.register(operand.reg) for operand in operands[1:]])
    size = 4 * len(registers)
    start = path.read(base)
    before = instruction.name.endswith("db")
    address = add(start, -size & WORD) if before else start
    loads = "ld" in instruction.name
    if instruction.raw.writeback and not (loads and base in registers):
        after = address if before else add(start, size)
    else:
        after = start
    if not loads:
        _transfer(path, registers, address, loads)
    path.write(base, after)
    if loads:
        _transfer(path, registers, address, loads)


def _push(path: Path, instruction: Instruction, predicated: bool) -> None:
    registers = _registers(instruction)
    address = add(path.read("sp"), -4 * len(registers) & WORD)
    _transfer(path, registers, address, False)
    path.write("sp", address)


def _pop(path: Path, instruction: Instruction, predicated: bool) -> None:
    registers = _registers(instruction)
    start = path.read("sp")
    path.write("sp", add(start, 4 * len(registers)))
    _transfer(path, registers, start, True)


def _registers(instruction: Instruction) -> list[str]:
    return _words([instruction.register(operand.reg) for operand in instruction.raw.operands])


def _words(registers: list[str]) -> list[str]:
    """Double registers as the two words they are made of."""
    found = []
    for register in registers:
        if register.startswith("d") and register[1:].isdigit():
            number = int(register[1:])
            found += [f"s{2 * number}", f"s{2 * number + 1}"]
        else:
            found.append(register)
    return found


def _transfer(path: Path, registers: list[str], address: Term, loads: bool) -> None:
    for index, register in enumerate(registers):
        place = add(address, 4 * index)
        if loads:
            _set(path, register, path.load(place))
        else:
            path.store(place, path.read(register))


def _special_read(path: Path, instruction: Instruction, predicated: bool) -> None:
    special = str(instruction.raw.op_str).split(",")[-1].strip().upper()
    if special == "CONTROL" and path.native:
        path.write(_target(instruction), symbol("CONTROL"))
        return
    if special not in ("PSP", "PRIMASK", "BASEPRI") or not path.native:
        raise NotProved(f"the proof doesn't know '{instruction.text}'")
    path.write(_target(instruction), path.registers[special])


def _special_write(path: Path, instruction: Instruction, predicated: bool) -> None:
    special = str(instruction.raw.op_str).split(",")[0].strip().upper()
    value = _value(path, instruction, 1)
    start = path.model.role == ROLE_START
    match special:
        case "PSP" if path.native:
            path.write("PSP", value)
        case "PRIMASK" if path.native:
            path.write("PRIMASK", binary("&", value, 1))
        case "BASEPRI" if path.native:
            path.write("BASEPRI", binary("&", value, 0xFF))
        case "BASEPRI_MAX" if path.native and isinstance(value, int) and value & 0xFF:
            path.write("BASEPRI", value & 0xFF)
        case "CONTROL" if path.native and (value in (0, 2, 3) or not path.model.is_handler):
            pass  # tasks run unprivileged on their own stack
        case "MSP" if path.native and start:
            pass  # a virtual handler has a stack of its own
        case _:
            raise NotProved(f"the proof doesn't know '{instruction.text}'")


def _change_state(path: Path, instruction: Instruction, predicated: bool) -> None:
    masks, which = instruction.name == "cpsid", str(instruction.raw.op_str)
    if not path.native or (masks and "f" in which):
        raise NotProved(f"the proof doesn't know '{instruction.text}'")
    if "i" in which:
        path.write("PRIMASK", int(masks))


def _supervisor_call(path: Path, instruction: Instruction, predicated: bool) -> None:
    if not path.native or path.model.role != ROLE_START:
        raise NotProved(f"the proof doesn't know '{instruction.text}' here")
    path.event(TRIGGER, (SVC,))


def _jump(path: Path, instruction: Instruction, predicated: bool) -> None:
    path.exit = _value(path, instruction, 0)


def _move_float(path: Path, instruction: Instruction, predicated: bool) -> None:
    """vmov of one word between register files."""
    operands = [instruction.register(operand.reg) for operand in instruction.raw.operands]
    if len(operands) != 2 or any(name.startswith("d") for name in operands):
        raise NotProved(f"the proof doesn't know '{instruction.text}'")
    path.write(operands[0], path.read(operands[1]))


def _nothing(path: Path, instruction: Instruction, predicated: bool) -> None:
    pass


_ACTIONS: dict[str, Callable[[Path, Instruction, bool], None]] = {
    **dict.fromkeys(("mov", "movs", "movw", "mvn"), _move),
    "movt": _move_top,
    **dict.fromkeys((*_OPERATORS, "rsb", "bic", "orn"), _arithmetic),
    **dict.fromkeys(("adc", "sbc"), _with_carry),
    **dict.fromkeys(("cmp", "cmn", "tst", "teq"), _compare),
    **dict.fromkeys(_EXTENSIONS, _extend),
    **dict.fromkeys(("ubfx", "sbfx", "bfi", "bfc"), _bit_field),
    **dict.fromkeys([name for name in _ACCESS if name.startswith("ld")], _load),
    **dict.fromkeys([name for name in _ACCESS if name.startswith("st")], _store),
    **dict.fromkeys(("ldrd", "strd"), _double),
    **dict.fromkeys(("ldm", "ldmdb", "stm", "stmdb"), _multiple),
    **dict.fromkeys(("vldmia", "vldmdb", "vstmia", "vstmdb"), _multiple),
    **dict.fromkeys(("vldr", "vstr"), _float),
    **dict.fromkeys(("push", "vpush"), _push),
    **dict.fromkeys(("pop", "vpop"), _pop),
    "vmov": _move_float,
    "mrs": _special_read,
    "msr": _special_write,
    **dict.fromkeys(("cpsid", "cpsie"), _change_state),
    "svc": _supervisor_call,
    "bx": _jump,
    **dict.fromkeys(_NOTHING, _nothing),
}
