"""What each instruction of a Cortex-M's assembler function does with registers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import capstone
from capstone import arm_const

from porter.context_switch import decode
from porter.context_switch.call_registers import FLAGS
from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.register_steps import Step, elsewhere
from porter.context_switch.thumb_jumps import SIGNS, calculates, taken

_FLOATS = tuple(f"s{number}" for number in range(32))
_THUMB = frozenset({f"r{number}" for number in range(13)} | {"lr", *_FLOATS})
_MANY = {"vldmia": False, "vldmdb": False, "vstmia": True, "vstmdb": True, "vpush": True,
         "vpop": False}  # and whether they store  # fmt: skip
_WORDS = {"str": True, "strd": True, "vstr": True, "ldr": False, "ldrd": False, "vldr": False}


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
        set(_words(decode.canonical(str(machine.reg_name(it))) for it in some)) for some in accessed
    )
    if it.name in _MANY:  # Capstone doesn't say which
        listed = set(_listed(it))
        read, written = (listed, set()) if _MANY[it.name] else (set(), listed)
        read |= set(it.registers()[:1]) - listed
    elif raw is not None:
        unsaid = set(_unsaid(raw))
        read, written = read | unsaid, written | unsaid
    read |= {FLAGS} if it.condition or it.name in ("adc", "sbc", "rrx") else set()
    written |= (
        {FLAGS} if it.sets_flags or it.name in ("cmp", "cmn", "tst", "teq", "vmrs") else set()
    )
    inside = decode.branch_target(unit, function, it)
    relocation = unit.relocation(function.section, it.address)
    name = relocation.symbol if relocation is not None else elsewhere(unit, function, inside)
    calls = it.name in ("bl", "blx")
    place = None
    if it.name == "bl" and not name:
        place = getattr(it.operands[0], "value", None) if it.operands else None
        name = elsewhere(unit, function, place)
        place = None if name else place
        name = name or (function.name if place is not None else "")
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
        place=place,
        calculates=calculates(unit, function, it, "pc" in written),
        takes=taken(it),
    )
    step = _with_stack(it, plain, "sp" in written or it.detail.startswith("msp"))
    if "sp" not in read and not (it.name == "mrs" and "msp" in it.detail):
        return step
    return replace(step, shows=not (_follows_sp(it, step) or it.name in ("cmp", "cmn", "tst")))


def _unsaid(raw: Any) -> Iterable[str]:
    """Registers of operands of which Capstone says neither that they are read nor that they are
    written, as of PKHBT's last: both, then."""
    unsaid = (it for it in raw.operands if it.type == arm_const.ARM_OP_REG and not it.access)
    return _words(decode.canonical(str(raw.reg_name(it.reg))) for it in unsaid)


def _follows_sp(it: decode.Instruction, step: Step) -> bool:
    """Whether the step says all that an instruction does with sp."""
    return _transfer(it) is not None or bool(step.moves_sp)


def _with_stack(it: decode.Instruction, step: Step, moves: bool) -> Step:
    """Moves, saves and loads aren't reads and writes of their own."""
    registers = it.registers()
    changed = dict(step.__dict__)
    shifted = bool(it.operands) and bool(getattr(it.operands[-1], "shift", ""))
    is_pair = len(registers) == 2 == len(_words(registers))
    if it.name in ("mov", "vmov") and is_pair and not shifted:
        changed |= {"reads": step.reads - {registers[1]}, "writes": step.writes - {registers[0]}}
        changed["move"] = registers[0], registers[1]
        return Step(**changed | {"moves_sp": None if registers[0] == "sp" else 0})
    if (found := _transfer(it)) is not None:
        saves, first, names, moved = found
        places = tuple((first + 4 * index, name) for index, name in enumerate(names))
        changed |= {"reads": step.reads - set(names), "writes": step.writes - set(names)}
        return Step(**changed | {"saves" if saves else "loads": places, "moves_sp": moved})
    if moves:
        last = it.operands[-1] if it.operands else None
        known = isinstance(last, decode.Immediate) and set(registers) == {"sp"}
        by = last.value if known and isinstance(last, decode.Immediate) else None
        sign = SIGNS.get(it.name)
        changed["moves_sp"] = sign * by if sign and by is not None else None
    return Step(**changed)


def _transfer(it: decode.Instruction) -> tuple[bool, int, list[str], int] | None:
    """What is saved on the stack or fetched from it: whether it is saved, bytes from sp to the
    first word, the registers of the words, and by how much sp moves. None for what does neither."""
    names = _listed(it)
    size = 4 * len(names)
    if it.name in ("push", "vpush"):
        return True, -size, names, -size
    if it.name in ("pop", "vpop"):
        return False, 0, names, size
    if it.registers()[:1] == ("sp",):
        if it.name in ("stmdb", "vstmdb"):
            return True, -size, names, -size if it.writeback else 0
        if it.name in ("stm", "vstmia", "ldm", "vldmia"):
            return "st" in it.name, 0, names, size if it.writeback else 0
    memory = next((part for part in it.operands if isinstance(part, decode.Memory)), None)
    if it.name not in _WORDS or memory is None or memory.base != "sp" or memory.index is not None:
        return None
    last = it.operands[-1]
    behind = last.value if it.post_index and isinstance(last, decode.Immediate) else 0
    by = (behind if it.post_index else memory.displacement) if it.writeback else 0
    place = 0 if it.post_index else memory.displacement
    # A part of one word and a part of the next are words that nobody follows.
    return (_WORDS[it.name], place, names, by) if place % 4 == by % 4 == 0 else None


def _listed(it: decode.Instruction) -> list[str]:
    """Registers that an instruction transfers: without the address's."""
    registers = it.registers()
    with_base = it.name in ("stm", "stmdb", "ldm", "ldmdb") or it.name.startswith(("vldm", "vstm"))
    return _words(registers[1:] if with_base else registers)


def _words(registers: Iterable[str]) -> list[str]:
    """Registers of a word each: one of two words (d8) as both (s16, s17)."""
    found: list[str] = []
    for name in registers:
        double = name.startswith("d") and name[1:].isdecimal() and int(name[1:]) < 16
        first = 2 * int(name[1:]) if double else 0
        found += _FLOATS[first : first + 2] if double else [name]
    return found
