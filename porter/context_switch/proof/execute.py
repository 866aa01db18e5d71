"""What one Thumb instruction does to a path (ARMv7-M Architecture Reference Manual, A7.7)."""

from __future__ import annotations

from collections.abc import Callable

from porter.context_switch.proof import transfers
from porter.context_switch.proof.conditions import holds
from porter.context_switch.proof.machine import Flags, Path
from porter.context_switch.proof.model import MODES, SVC, TRIGGER
from porter.context_switch.proof.operands import assign, target, word_of
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.terms import (
    WORD,
    Term,
    Truth,
    add,
    as_word,
    binary,
    choose,
    equal,
    field,
    insert,
    overflows,
    symbol,
)
from porter.context_switch.proof.thumb import Instruction
from porter.context_switch.result import ROLE_START

_OPERATORS = {
    "add": "+", "addw": "+", "sub": "-", "subw": "-", "and": "&", "orr": "|", "eor": "^",
    "mul": "*", "lsl": "<<", "lsr": ">>", "asr": ">>>",
}  # fmt: skip
_EXTENSIONS = {"uxtb": (8, False), "uxth": (16, False), "sxtb": (8, True), "sxth": (16, True)}
_FLAGS = frozenset({"APSR", "XPSR", "EAPSR", "IAPSR"})
_NOTHING = frozenset({"nop", "dsb", "isb", "dmb", "clrex"})


def execute(path: Path, instruction: Instruction, predicated: bool) -> None:
    """Apply an instruction that isn't a direct branch. `path.pc` is behind it already; a write of
    the PC sets `path.exit`. Raises NotProved for an instruction that isn't known here."""
    action = _ACTIONS.get(instruction.name)
    if action is None:
        raise NotProved(f"the proof doesn't know the instruction '{instruction.text}'")
    if instruction.is_float and path.native:
        _use_fpu(path)
    action(path, instruction, predicated)


def _use_fpu(path: Path) -> None:
    """FPU state begins anew while FPCA is clear, with the modes of reset (ExecuteFPCheck())."""
    anew = binary("&", path.read("FPSCR"), ~MODES & WORD)
    path.write("FPSCR", choose(equal(path.read("FPCA"), 0), anew, path.read("FPSCR")))
    path.write("FPCA", 1)
    path.uses_fpu = True


def _move(path: Path, instruction: Instruction, predicated: bool) -> None:
    value = word_of(path, instruction, 1)
    if instruction.name == "mvn":
        value = binary("^", value, WORD)
    assign(path, target(instruction), value)
    if instruction.sets_flags(predicated):
        path.flags = Flags("=", value)


def _move_top(path: Path, instruction: Instruction, predicated: bool) -> None:
    register = target(instruction)
    path.write(register, insert(path.read(register), word_of(path, instruction, 1), 16, 16))


def _arithmetic(path: Path, instruction: Instruction, predicated: bool) -> None:
    name, operands = instruction.name, instruction.raw.operands
    left = word_of(path, instruction, 0 if len(operands) == 2 else 1)
    right = word_of(path, instruction, len(operands) - 1)
    if name == "add" and len(operands) == 3 and instruction.register(operands[1].reg) == "pc":
        left = binary("&", left, ~3 & WORD)
    if name == "rsb":
        left, right, name = right, left, "sub"
    elif name in ("bic", "orn"):
        right, name = binary("^", right, WORD), {"bic": "and", "orn": "orr"}[name]
    operator = _OPERATORS[name]
    value = binary(operator, left, right)
    assign(path, target(instruction), value)
    if instruction.sets_flags(predicated):
        if operator in ("+", "-"):
            path.flags = Flags(operator, left, right)
        else:
            path.flags = Flags("=", value, carry=_carry(operator, left, right))


def _with_carry(path: Path, instruction: Instruction, predicated: bool) -> None:
    """adc and sbc."""
    left = word_of(path, instruction, 0 if len(instruction.raw.operands) == 2 else 1)
    right = word_of(path, instruction, len(instruction.raw.operands) - 1)
    carry = as_word(holds(path.flags, "hs"))
    if instruction.name == "sbc":
        right = binary("^", right, WORD)  # left - right - 1 + carry
    path.write(target(instruction), add(add(left, right), carry))
    if instruction.sets_flags(predicated):
        path.flags = Flags("=", add(add(left, right), carry), carry=overflows(left, right, carry))


def _multiply_and_add(path: Path, instruction: Instruction, predicated: bool) -> None:
    """mla and mls."""
    product = binary("*", word_of(path, instruction, 1), word_of(path, instruction, 2))
    operator = {"mla": "+", "mls": "-"}[instruction.name]
    path.write(target(instruction), binary(operator, word_of(path, instruction, 3), product))


def _carry(operator: str, value: Term, amount: Term) -> Truth | None:
    """The bit that a shift by a constant pushes out last."""
    if not isinstance(amount, int) or not 0 < amount < 32:
        return None
    if operator == "<<":
        return equal(field(value, 32 - amount, 1), 1)
    return equal(field(value, amount - 1, 1), 1) if operator in (">>", ">>>") else None


def _compare(path: Path, instruction: Instruction, predicated: bool) -> None:
    left, right = word_of(path, instruction, 0), word_of(path, instruction, 1)
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
    path.write(target(instruction), field(word_of(path, instruction, 1), 0, width, signed))


def _bit_field(path: Path, instruction: Instruction, predicated: bool) -> None:
    operands = instruction.raw.operands
    low, width = operands[-2].imm, operands[-1].imm
    register = target(instruction)
    match instruction.name:
        case "ubfx" | "sbfx":
            value = word_of(path, instruction, 1)
            path.write(register, field(value, low, width, instruction.name == "sbfx"))
        case "bfi":
            value = word_of(path, instruction, 1)
            path.write(register, insert(path.read(register), value, low, width))
        case "bfc":
            path.write(register, insert(path.read(register), 0, low, width))


def _count_zeros(path: Path, instruction: Instruction, predicated: bool) -> None:
    word = word_of(path, instruction, 1)
    zeros: Term = 32
    for bit in range(32):
        zeros = choose(equal(field(word, bit, 1), 1), 31 - bit, zeros)
    path.write(target(instruction), zeros)


def _special_read(path: Path, instruction: Instruction, predicated: bool) -> None:
    special = str(instruction.raw.op_str).split(",")[-1].strip().upper()
    if special == "CONTROL" and path.native:
        path.write(target(instruction), symbol("CONTROL"))
        return
    if special == "MSP" and path.model.may_be_called_on_msp and path.native:
        path.write(target(instruction), path.read_msp())
        return
    plain = {"IPSR"} if path.model.is_plain else set()
    if special not in {"PSP", "PRIMASK", "BASEPRI"} | plain or not path.native:
        raise NotProved(f"the proof doesn't know '{instruction.text}'")
    place = "sp" if special == "PSP" and path.on_psp else special
    path.write(target(instruction), path.registers[place])


def _special_write(path: Path, instruction: Instruction, predicated: bool) -> None:
    special = str(instruction.raw.op_str).split(",")[0].strip().upper()
    value = word_of(path, instruction, 1)
    start = path.model.role == ROLE_START
    match special:
        case "PSP" if path.native:
            path.write("sp" if path.on_psp else "PSP", value)
        case "CONTROL" if path.native and path.model.goes_to_task:
            _select_stack(path, field(value, 1, 1), instruction)
            path.write("FPCA", field(value, 2, 1))
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
        case name if name.partition("_")[0] in _FLAGS and path.native:
            path.flags = Flags("=", path.fresh("flags"))  # equal to nothing
        case _:
            raise NotProved(f"the proof doesn't know '{instruction.text}'")


def _select_stack(path: Path, selects: Term, instruction: Instruction) -> None:
    """What a task starts on. A guest's tasks are unprivileged in any case."""
    if not isinstance(selects, int) or path.on_psp > selects:
        raise NotProved(f"the proof doesn't know which stack '{instruction.text}' selects")
    if selects and not path.on_psp:
        path.on_psp = True
        path.write("sp", path.read("PSP"))


def _change_state(path: Path, instruction: Instruction, predicated: bool) -> None:
    masks, which = instruction.name == "cpsid", str(instruction.raw.op_str)
    if not path.native or (masks and "f" in which):
        raise NotProved(f"the proof doesn't know '{instruction.text}'")
    if "i" in which:
        path.write("PRIMASK", int(masks))


def _supervisor_call(path: Path, instruction: Instruction, predicated: bool) -> None:
    if not path.native or path.model.role != ROLE_START:
        raise NotProved(f"the proof doesn't know '{instruction.text}' here")
    path.event(TRIGGER, (SVC, instruction.raw.operands[0].imm))


def _wait(path: Path, instruction: Instruction, predicated: bool) -> None:
    """Interrupts come meanwhile: memory is another afterwards, and no register is. Of a handler's
    loop that is so behind it."""
    if path.native and path.model.waits and not predicated:
        return
    if not path.native or not path.model.is_plain or predicated:
        raise NotProved(f"the proof doesn't know '{instruction.text}' here")
    path.wait()


def _jump(path: Path, instruction: Instruction, predicated: bool) -> None:
    path.exit = word_of(path, instruction, 0)


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
    **dict.fromkeys(("mla", "mls"), _multiply_and_add),
    **dict.fromkeys(("cmp", "cmn", "tst", "teq"), _compare),
    **dict.fromkeys(_EXTENSIONS, _extend),
    **dict.fromkeys(("ubfx", "sbfx", "bfi", "bfc"), _bit_field),
    "clz": _count_zeros,
    **dict.fromkeys(transfers.LOADS, transfers.load),
    **dict.fromkeys(transfers.STORES, transfers.store),
    **dict.fromkeys(("ldrd", "strd"), transfers.double),
    **dict.fromkeys(("ldm", "ldmdb", "stm", "stmdb"), transfers.multiple),
    **dict.fromkeys(("vldmia", "vldmdb", "vstmia", "vstmdb"), transfers.multiple),
    **dict.fromkeys(("vldr", "vstr"), transfers.floats),
    **dict.fromkeys(("push", "vpush"), transfers.push),
    **dict.fromkeys(("pop", "vpop"), transfers.pop),
    "vmov": _move_float,
    "mrs": _special_read,
    "msr": _special_write,
    **dict.fromkeys(("cpsid", "cpsie"), _change_state),
    "svc": _supervisor_call,
    **dict.fromkeys(("wfi", "wfe"), _wait),
    "bx": _jump,
    **dict.fromkeys(_NOTHING, _nothing),
}
