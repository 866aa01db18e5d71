"""FPU state that a start gives the first task.

Who uses the FPU while CONTROL.FPCA is clear gets FPU state, with the modes of FPSCR as FPDSCR says,
which a guest has as it was at reset (Armv7-M ARM, ExecuteFPCheck()). A start does so where its
switch handler resumes each task by the EXC_RETURN of another: it pushes a register of the FPU onto
the task's stack and pops it again. Then the task's exception frame has room for S0-S15 and FPSCR.
"""

from __future__ import annotations

from porter.context_switch.ir import FPU as SAVED_FPU
from porter.context_switch.ir import (
    SCRATCH_FPU,
    Assign,
    Binary,
    Block,
    BlockLoad,
    BlockStore,
    Const,
    Expr,
    Note,
    Program,
    Statement,
    Undefined,
    Var,
)
from porter.context_switch.result import NotTranscribable
from porter.context_switch.walk import defined, used

IN_USE = "FPCA"  # a variable of starts alone
_BIT = 4  # of CONTROL
_REGISTERS = frozenset((*SCRATCH_FPU, *SAVED_FPU))
_WHY = "the task begins with FPU state: its frame has room for it"


def note_fpu_state(program: Program) -> None:
    """What becomes of FPCA, and no more of what only sets it."""
    for block in program.blocks.values():
        _forget_pairs(block)
        noted: list[Statement] = []
        for statement in block.statements:
            noted.append(statement)
            if isinstance(statement, Assign) and statement.target == "CONTROL":
                noted.append(Assign((), IN_USE, _written(statement.value)))
            elif _uses_fpu(statement):
                noted.append(_used())
        block.statements = noted


def has_fpu_state(known: dict[str, Expr]) -> bool:
    """Whether a task begins so, by what is known of variables then."""
    in_use = known.get(IN_USE, Var(IN_USE))
    if in_use not in (Var(IN_USE), Const(0), Const(1)):
        raise NotTranscribable(
            "uses the FPU in another way than to clear CONTROL.FPCA, push registers of it onto the "
            "task's stack and pop the same: what FPSCR would the first task begin with? Let it do "
            "just that, or request the first switch"
        )
    return in_use == Const(1)


def _forget_pairs(block: Block) -> None:
    """A push of FPU registers and the pop of the same: below the task's stack pointer nobody has
    anything."""
    statements = block.statements
    index = 0
    while index + 1 < len(statements):
        match statements[index : index + 2]:
            case [
                BlockStore(first, "sp", values, True, True),
                BlockLoad(second, "sp", names, False, True),
            ] if values == tuple(map(Var, names)) and {*names} <= _REGISTERS:
                note = Note((*first, *second), _WHY)
                statements[index : index + 2] = [note, _used()]
        index += 1


def _uses_fpu(statement: Statement) -> bool:
    """Not what a call destroys: what a callee does to FPCA nobody knows behind it."""
    if isinstance(statement, Assign) and isinstance(statement.value, Undefined):
        return False
    return bool(_REGISTERS & (used(statement) | {*defined(statement)}))


def _used() -> Assign:
    return Assign((), IN_USE, Binary("|", Var(IN_USE), Const(1)))


def _written(control: Expr) -> Expr:
    """FPCA as a write of CONTROL leaves it."""
    match control:
        case Const(bits):
            return Const(0) if not bits & _BIT else Undefined("what sets CONTROL.FPCA")
        case Binary("&", left, Const(bits)):
            return Const(0) if not bits & _BIT else _written(left)
        case Binary("|", left, Const(bits)) if not bits & _BIT:
            return _written(left)
        case Var("CONTROL"):
            return Var(IN_USE)
    return Undefined("what may set CONTROL.FPCA")
