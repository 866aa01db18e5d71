"""What each instruction of an assembler function does with registers, alike for both machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import capstone

from porter.context_switch import decode
from porter.context_switch.assemble import Assembly
from porter.context_switch.call_registers import FLAGS
from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.riscv import decode as riscv_decode
from porter.context_switch.riscv.decode import (
    BRANCHES,
    CSR_ACCESSES,
    LOADS,
    RA,
    SP,
    STORES,
    X_NAMES,
)
from porter.context_switch.riscv.machine import RV32

_THUMB = frozenset({f"r{number}" for number in range(13)} | {"lr"})
_X = X_NAMES.split()
_TWO_SOURCES = frozenset(
    {*BRANCHES, *STORES, "add", "sub", "xor", "or", "and", "sll", "srl", "sra", "slt", "sltu",
     "mul", "mulh", "mulhu", "mulhsu", "div", "divu", "rem", "remu"}
)  # fmt: skip
_NO_SOURCE = frozenset({"lui", "auipc", "jal", "fence", "fence.i", "ecall", "ebreak", "mret"})
_NO_TARGET = frozenset({*BRANCHES, *STORES, "fence", "fence.i", "ecall", "ebreak", "mret"})
_FROM_WORD = ("flw", "fsw", "fld", "fsd", "fmv.w", "fcvt.s.w", "fcvt.d.w")  # of the F extension
_TO_WORD = ("fmv.x", "fcvt.w", "feq", "flt", "fle", "fclass")


@dataclass(frozen=True)
class Step:
    """`reads` and `writes` leave out sp, what is copied (`move`: to, from), and what goes to the
    stack or comes from it (`saves`, `loads`: bytes from sp in front of it, register). `moves_sp`:
    by bytes, None for an unknown number. `target`: of a call or of a jump that leaves, "" where
    nobody knows. `maybe`: under a condition."""

    reads: frozenset[str]
    writes: frozenset[str]
    following: tuple[int, ...]
    maybe: bool = False
    move: tuple[str, str] | None = None
    saves: tuple[tuple[int, str], ...] = ()
    loads: tuple[tuple[int, str], ...] = ()
    moves_sp: int | None = 0
    calls: bool = False
    leaves: bool = False
    returns: bool = False
    target: str = ""


def steps_of(assembly: Assembly, function: Function) -> dict[int, Step]:
    """Those of a function by address, as far as it runs in its own text: a jump to another
    function's beginning leaves. NotTranscribable for bytes that are no instruction."""
    unit = assembly.object
    if unit.machine is RV32:
        found = riscv_decode.decode_all(unit, function, assembly.text)
        return {address: _riscv(unit, function, it) for address, it in found.items()}
    machine = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)
    machine.detail = True
    thumb = decode.decode_all(unit, function, assembly.text)
    return {address: _thumb(unit, function, it, machine) for address, it in thumb.items()}


def _elsewhere(unit: ObjectFile, function: Function, target: int | None) -> str:
    """The name of another function that begins at a place of this section."""
    for other in unit.functions:
        if other.section == function.section and other.start == target != function.start:
            return other.name
    return ""


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
    name = relocation.symbol if relocation is not None else _elsewhere(unit, function, inside)
    calls = it.name in ("bl", "blx")
    if it.name == "bl" and not name:
        place = getattr(it.operands[0], "value", None) if it.operands else None
        name = _elsewhere(unit, function, place) or (function.name if place is not None else "")
    branches = it.name in ("b", "cbz", "cbnz")
    away = (branches and (inside is None or bool(_elsewhere(unit, function, inside)))) or (
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


def _riscv(unit: ObjectFile, function: Function, it: riscv_decode.Instruction) -> Step:
    section = function.section
    floats = it.name.startswith("f") and it.name not in _NO_SOURCE
    read = set()
    if it.name not in _NO_SOURCE and not (it.name in CSR_ACCESSES and it.name.endswith("i")):
        read = {it.rs1} if not floats or it.name.startswith(_FROM_WORD) else set()
    if it.name in _TWO_SOURCES or it.name.startswith(("amo", "sc.")):
        read |= {it.rs2}
    written = {it.rd} if it.name not in _NO_TARGET else set()
    if floats and not it.name.startswith(_TO_WORD):
        written = set()
    jumps = it.name in ("jal", "jalr")
    calls = jumps and it.rd == RA
    inside = riscv_decode.branch_target(unit, section, it)
    relocation = unit.relocation(section, it.address)
    if it.name == "jalr" and relocation is None:
        relocation = unit.relocation(section, it.address - 4)  # auipc and jalr are one call
    name = relocation.symbol if jumps and relocation is not None else ""
    back = it.name == "jalr" and it.rd == 0 and it.rs1 == RA
    other = _elsewhere(unit, function, inside)
    away = jumps and it.rd == 0 and not back and (inside is None or bool(other))
    following = [inside] if inside is not None and not away else []
    following += [it.next] if not it.ends_flow() else []
    words = [frozenset(_X[number] for number in some if number > 4) for some in (read, written)]
    step = Step(
        words[0], words[1], tuple(following),
        calls=calls, leaves=away, returns=back, target=(name or other) if calls or away else "",
    )  # fmt: skip
    changed = dict(step.__dict__)
    if (it.name == "add" and 0 in (it.rs1, it.rs2)) or (it.name == "addi" and not it.immediate):
        source, target = _X[it.rs1 or (it.rs2 if it.name == "add" else 0)], _X[it.rd]
        if source != "zero" and target != "sp":
            empty: frozenset[str] = frozenset()
            return Step(**changed | {"reads": empty, "writes": empty, "move": (target, source)})
    if it.rs1 == SP and it.name == "sw":
        return Step(**changed | {"reads": frozenset(), "saves": ((it.immediate, _X[it.rs2]),)})
    if it.rs1 == SP and it.name in LOADS and it.name == "lw":
        return Step(**changed | {"writes": frozenset(), "loads": ((it.immediate, _X[it.rd]),)})
    if it.rd == SP and it.name not in _NO_TARGET and not floats:
        by = it.immediate if it.name == "addi" and it.rs1 == SP else None
        return Step(**changed | {"moves_sp": by})
    return step
