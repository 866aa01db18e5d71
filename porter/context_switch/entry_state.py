"""Whether a handler of Cortex-M uses what the processor leaves at an exception's entry: EXC_RETURN
in lr, and the frame that it pushed on the main stack.

None of that needs a privileged instruction, and none of it is there in VCT: a virtual handler is
called by the guest's library, on a stack of its own. `push {r4, lr} ... pop {r4, pc}` is right in
both.
"""

from __future__ import annotations

from porter.context_switch.decode import Immediate, Instruction, Memory
from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.roles import constant_of

_EXC_RETURN = frozenset({0xFFFF_FFE1, 0xFFFF_FFE9, 0xFFFF_FFED,
                         0xFFFF_FFF1, 0xFFFF_FFF9, 0xFFFF_FFFD})  # fmt: skip
_PASSED = frozenset({"r0", "r1", "r2", "r3"})
_SCRATCH = _PASSED | {"r12", "lr"}
_COMPARES = frozenset({"tst", "cmp", "teq", "cmn"})
_STORES = frozenset({"str", "strb", "strh", "strd", "stm", "stmdb", "vstr", "vstmia", "vstmdb"})
_FIRST_READ = _COMPARES | _STORES | {"push", "vpush", "bx", "blx", "cbz", "cbnz"}


def entry_state(instructions: list[Instruction], unit: ObjectFile, function: Function) -> str:
    """The text of the first instruction that uses it, "" for none."""
    look = _Look(unit, function)
    own = (it for it in instructions if function.start <= it.address < function.end)
    return next((it.text for it in own if look.uses(it)), "")


class _Look:
    """Goes through instructions as they stand in memory; `_own` counts bytes that they pushed."""

    def __init__(self, unit: ObjectFile, function: Function) -> None:
        self._unit, self._function = unit, function
        self._own, self._has_room = 0, False
        self._from_lr = {"lr"}  # registers with EXC_RETURN
        self._from_sp: set[str] = set()  # that point to what was pushed
        self._numbers: set[str] = set()  # with an EXC_RETURN that the code has as a number

    def uses(self, it: Instruction) -> bool:
        """Whether it does; and remember what it leaves."""
        registers = it.registers()
        if it.name in ("bl", "blx") or (it.name == "b" and self._leaves(it)):
            handed = _PASSED & (self._from_lr | self._from_sp)
            self._forget(_SCRATCH)
            return bool(handed)
        if it.name == "bx":
            return registers[0] in self._numbers
        if self._transfers(it, registers):
            return self._own < 0
        if any(isinstance(op, Memory) and op.base == "sp" for op in it.operands):
            return self._beside_sp(it, registers)
        if registers[1:2] == ("sp",) and registers[0] != "sp":
            return self._points(it, registers[0])
        read = set(registers if it.name in _FIRST_READ else registers[1:])
        if it.name == "mov" and read & self._from_lr:
            self._from_lr.add(registers[0])
            return False
        if read & self._from_lr:
            return True
        if it.name not in _FIRST_READ and registers:
            self._forget(frozenset(registers[:1]))
            last = it.operands[-1]
            number = constant_of(it, self._unit, self._function.section)
            if it.name == "mvn" and isinstance(last, Immediate):
                number = last.value ^ 0xFFFF_FFFF
            if number in _EXC_RETURN:
                self._numbers.add(registers[0])
        return False

    def _leaves(self, it: Instruction) -> bool:
        """Whether a branch goes on in another function."""
        target = it.operands[0].value if isinstance(it.operands[0], Immediate) else None
        inside = target is not None and self._function.start <= target < self._function.end
        return not inside or self._unit.relocation(self._function.section, it.address) is not None

    def _transfers(self, it: Instruction, registers: tuple[str, ...]) -> bool:
        """Whether it moves sp, by words or by a number."""
        last = it.operands[-1] if it.operands else None
        if it.name in ("push", "vpush"):
            self._own += 4 * len(registers)
        elif it.name in ("pop", "vpop"):
            self._own -= 4 * len(registers)
            self._forget(frozenset(registers))
            self._from_lr |= {"lr"} & set(registers)
        elif it.writeback and registers[:1] == ("sp",):
            self._own += (4 if it.name.startswith(("st", "vst")) else -4) * len(registers[1:])
        elif registers[:1] == ("sp",) and it.name in ("add", "sub") and isinstance(last, Immediate):
            self._own += last.value if it.name == "sub" else -last.value
            self._has_room |= it.name == "sub"
        else:
            return False
        return True

    def _beside_sp(self, it: Instruction, registers: tuple[str, ...]) -> bool:
        place = next(op for op in it.operands if isinstance(op, Memory))
        if it.writeback or it.post_index:
            self._own -= place.displacement
            return self._own < 0
        if it.name not in _FIRST_READ:
            self._forget(frozenset(registers[:1]))
        return place.index is None and place.displacement >= self._own

    def _points(self, it: Instruction, target: str) -> bool:
        """`mov rX, sp` and `add rX, sp, #n`: to the frame, to what was pushed, or to locals."""
        last = it.operands[-1]
        offset = last.value if isinstance(last, Immediate) else 0
        self._forget(frozenset({target}))
        if not self._has_room:
            self._from_sp.add(target)
        return offset >= self._own

    def _forget(self, registers: frozenset[str]) -> None:
        self._from_lr -= registers
        self._from_sp -= registers
        self._numbers -= registers
