"""What each instruction of a Cortex-M's assembler function does with registers."""

from __future__ import annotations

from typing import Any

import capstone

from porter.context_switch import decode
from porter.context_switch.call_registers import FLAGS
from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.register_steps import Step, elsewhere

_THUMB = frozenset({f"r{number}" for number in range(13)} | {"lr"})


def thumb_steps(
    unit: ObjectFile, function: Function, found: dict[int, decode.Instruction]
) -> dict[int, Step]:
    """By address."""
    machine = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)
    machine.detail = True
    return {address: _thumb(unit, function, it, machine) for address, it in found.items()}


def _thumb(unit: ObjectFile, function: Function, it: decode.Instruction, machine: Any) -> Step:
    code = unit.data[function.section][it.address : it.next]
    raw = next(machine.disasm(code, it.address), None)
    accessed: Any = raw.regs_access() if raw is not None else ((), ())
    read, written = (
        {decode.canonical(str(machine.reg_name(it))) for it in some} for some in accessed
    )
    read |= {FLAGS} if it.condition or it.name in ("adc", "sbc", "rrx") else set()
    written |= (
        {FLAGS} if it.sets_flags or it.name in ("cmp", "cmn", "tst", "teq", "vmrs") else set()
    )
    inside = decode.branch_target(unit, function, it)
    relocation = unit.relocation(function.section, it.address)
    name = relocation.symbol if relocation is not None else elsewhere(unit, function, inside)
    calls = it.name in ("bl", "blx")
    if it.name == "bl" and not name:
        place = getattr(it.operands[0], "value", None) if it.operands else None
        name = elsewhere(unit, function, place) or (function.name if place is not None else "")
    branches = it.name in ("b", "cbz", "cbnz")
    away = (branches and (inside is None or bool(elsewhere(unit, function, inside)))) or (
        it.name == "bx" and "lr" not in it.registers()
    )
    following = [inside] if branches and inside is not None and not away else []
    following += [it.next] if not it.ends_flow() else []
    returns = (it.name == "bx" and "lr" in it.registers()) or ("pc" in written and not branches)
    plain = Step(
        frozenset(read) & (_THUMB | {FLAGS}),
        frozenset(written) & (_THUMB | {FLAGS}),
        tuple(following),
        bool(it.condition) and not branches,
        calls=calls,
        leaves=away,
        returns=returns and not calls and not away,
        target=name if calls or away else "",
    )
    return _with_stack(it, plain, "sp" in written)


def _with_stack(it: decode.Instruction, step: Step, moves: bool) -> Step:
    """Moves, saves and loads aren't reads and writes of their own."""
    registers = it.registers()
    changed = dict(step.__dict__)
    if it.name == "mov" and len(registers) == 2 and not getattr(it.operands[1], "shift", ""):
        changed |= {"reads": step.reads - {registers[1]}, "writes": step.writes - {registers[0]}}
        changed["move"] = registers[0], registers[1]
        return Step(**changed | {"moves_sp": None if registers[0] == "sp" else 0})
    if it.name in ("push", "pop") or (
        it.name in ("stmdb", "ldm") and registers[:1] == ("sp",) and it.writeback
    ):
        listed = registers if it.name in ("push", "pop") else registers[1:]
        saves = it.name in ("push", "stmdb")
        down = -4 * len(listed) if saves else 0
        places = tuple((down + 4 * index, name) for index, name in enumerate(listed))
        changed |= {"reads": step.reads - set(listed), "writes": step.writes - set(listed)}
        changed |= {"saves" if saves else "loads": places, "moves_sp": down or 4 * len(listed)}
        return Step(**changed)
    memory = next((part for part in it.operands if isinstance(part, decode.Memory)), None)
    if it.name in ("str", "ldr") and memory is not None and memory.base == "sp":
        name = registers[0]
        post = it.operands[-1].value if isinstance(it.operands[-1], decode.Immediate) else 0
        step_by = (post if it.post_index else memory.displacement) if it.writeback else 0
        place = ((0 if it.post_index else memory.displacement, name),)
        if memory.index is None and name != "pc":
            changed |= {"reads": step.reads - {name}, "writes": step.writes - {name}}
            changed["saves" if it.name == "str" else "loads"] = place
        return Step(**changed | {"moves_sp": step_by})
    if it.name in ("vpush", "vpop"):
        size = sum(8 if name.startswith("d") else 4 for name in registers)
        return Step(**changed | {"moves_sp": -size if it.name == "vpush" else size})
    if moves:
        last = it.operands[-1] if it.operands else None
        known = isinstance(last, decode.Immediate) and set(registers) == {"sp"}
        by = last.value if known and isinstance(last, decode.Immediate) else None
        sign = {"add": 1, "sub": -1}.get(it.name)
        changed["moves_sp"] = sign * by if sign and by is not None else None
    return Step(**changed)
