"""What each instruction of an RV32 assembler function does with registers."""

from __future__ import annotations

from dataclasses import replace

from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.register_steps import Step, elsewhere
from porter.context_switch.riscv.decode import (
    BRANCHES,
    CSR_ACCESSES,
    LOADS,
    RA,
    SP,
    STORES,
    X_NAMES,
    Instruction,
    branch_target,
)

_X = X_NAMES.split()
_TWO_SOURCES = frozenset(
    {*BRANCHES, *STORES, "add", "sub", "xor", "or", "and", "sll", "srl", "sra", "slt", "sltu",
     "mul", "mulh", "mulhu", "mulhsu", "div", "divu", "rem", "remu"}
)  # fmt: skip
_NO_SOURCE = frozenset({"lui", "auipc", "jal", "fence", "fence.i", "ecall", "ebreak", "mret"})
_NO_TARGET = frozenset({*BRANCHES, *STORES, "fence", "fence.i", "ecall", "ebreak", "mret"})
_FROM_WORD = ("flw", "fsw", "fld", "fsd", "fmv.w", "fcvt.s.w", "fcvt.d.w")  # of the F extension
_TO_WORD = ("fmv.x", "fcvt.w", "feq", "flt", "fle", "fclass")


def steps(unit: ObjectFile, function: Function, found: dict[int, Instruction]) -> dict[int, Step]:
    """By address."""
    made = {address: _step(unit, function, it) for address, it in found.items()}
    return {place: replace(it, shows=_shows(found[place], it)) for place, it in made.items()}


def _shows(it: Instruction, step: Step) -> bool:
    """Whether sp goes where nobody follows it. What floats do there is no word of a register."""
    sources = {it.rs1} if it.name not in _NO_SOURCE else set()
    sources |= {it.rs2} if it.name in _TWO_SOURCES else set()
    followed = step.saves or step.loads or step.moves_sp or it.name in BRANCHES
    return SP in sources and not followed and not it.name.startswith("f")


def _step(unit: ObjectFile, function: Function, it: Instruction) -> Step:
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
    inside = branch_target(unit, section, it)
    relocation = unit.relocation(section, it.address)
    if it.name == "jalr" and relocation is None:
        relocation = unit.relocation(section, it.address - 4)  # auipc and jalr are one call
    name = relocation.symbol if jumps and relocation is not None else ""
    back = it.name == "jalr" and it.rd == 0 and it.rs1 == RA
    other = elsewhere(unit, function, inside)
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
