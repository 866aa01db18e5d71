"""Control and status registers: which of them are the task's, the masks, or nothing in a guest."""

from __future__ import annotations

from porter.asm.csr import WHY_CLOSED, refuse_mode
from porter.asm.symbols import NotUnderstood
from porter.context_switch.ir import (
    Binary,
    Const,
    Expr,
    Guest,
    Load,
    Note,
    Store,
    Symbol,
    Undefined,
    Var,
)
from porter.context_switch.lift_state import LiftState
from porter.context_switch.result import ROLE_OTHER, ROLE_START, NotTranscribable
from porter.context_switch.riscv.decode import Instruction
from porter.context_switch.riscv.registers import (
    CYCLE_COUNTERS,
    FCSR,
    MCAUSE,
    MEPC,
    MIE,
    MSCRATCH,
    MSTATUS,
    MTVAL,
    MTVEC,
    STATUS_MIE,
    why_not,
)
from porter.context_switch.walk import fold

_WORD = 0xFFFF_FFFF
_CONTEXT = {MEPC: "PC", MSTATUS: "MSTATUS", FCSR: "FCSR"}
_MIE_BIT = STATUS_MIE.bit_length() - 1
_NOW = "mstatus_now"  # a variable of the C
_SCRATCH = Symbol("virt_mscratch")
_WHY_LINES = "interrupt lines are opened one by one, by hyp_irq_ena"


def access(state: LiftState, it: Instruction) -> None:
    """csrrw, csrrs, csrrc and their immediate forms. NotTranscribable for what no guest has."""
    operand, reads, writes = _operand(state, it), it.rd != 0, _writes(it)
    if it.csr == MIE and not reads:
        if state.role != ROLE_START and not it.name.startswith("csrrs"):
            raise NotTranscribable(f"'{it.text}': {WHY_CLOSED}")
        state.emit(Note(state.current, _WHY_LINES))
    elif it.csr == MSCRATCH:
        _scratch(state, it, operand)
    elif it.csr == MCAUSE and not writes:
        _write(state, it.rd, Var("MCAUSE"))
    elif it.csr in CYCLE_COUNTERS and not writes:
        _cycles(state, it.rd)
    elif state.role == ROLE_OTHER:
        _plain(state, it, operand)
    elif it.csr == MTVEC and state.role == ROLE_START and it.name == "csrrw" and it.rd == 0:
        _entry(state, it, operand)
    elif it.csr in _CONTEXT:
        _context(state, it, _CONTEXT[it.csr], operand)
    else:
        raise NotTranscribable(f"'{it.text}': {why_not(it.csr)}")


def _operand(state: LiftState, it: Instruction) -> Expr:
    if it.name.endswith("i"):
        return Const(it.immediate)
    return _read(state, it.rs1)


def _writes(it: Instruction) -> bool:
    """csrrs and csrrc by x0 or 0 only read."""
    if it.name.startswith("csrrw"):
        return True
    return bool(it.immediate if it.name.endswith("i") else it.rs1)


def _read(state: LiftState, register: int) -> Expr:
    variable = f"x{register}" if state.role == ROLE_OTHER else f"X{register}"
    return state.known.get(variable, Var(variable)) if register else Const(0)


def _write(state: LiftState, register: int, value: Expr) -> None:
    if register:
        state.assign(f"x{register}" if state.role == ROLE_OTHER else f"X{register}", value)
    else:
        state.emit(Note(state.current, ""))


def _cycles(state: LiftState, register: int) -> None:
    if register:
        result = f"x{register}" if state.role == ROLE_OTHER else f"X{register}"
        state.known.pop(result, None)
        state.emit(Guest(state.current, "virt_cycles", (), result))


def _changed(it: Instruction, old: Expr, operand: Expr) -> Expr:
    """What a write leaves in a register."""
    if it.name.startswith("csrrw"):
        return operand
    if it.name.startswith("csrrs"):
        return fold(Binary("|", old, operand))
    inverse = Const(~operand.value & _WORD) if isinstance(operand, Const) else None
    return fold(Binary("&", old, inverse or Binary("^", operand, Const(_WORD))))


def _context(state: LiftState, it: Instruction, name: str, operand: Expr) -> None:
    """The task's: in a handler the trap has saved it there."""
    if not _writes(it):
        _write(state, it.rd, Var(name))
        return
    if it.rd:
        state.assign("swap", Var(name))
    state.assign(name, _changed(it, Var(name), operand))
    if it.rd:
        _write(state, it.rd, Var("swap"))


def _scratch(state: LiftState, it: Instruction, operand: Expr) -> None:
    """A word that belongs to software; `csrrw sp, mscratch, sp` exchanges."""
    if not _writes(it):
        _write(state, it.rd, Load(_SCRATCH))
        return
    if it.rd:
        state.assign("swap", Load(_SCRATCH))
    old = Var("swap") if it.rd else Load(_SCRATCH)
    state.emit(Store(state.current, _SCRATCH, _changed(it, old, operand)))
    if it.rd:
        _write(state, it.rd, Var("swap"))


def _entry(state: LiftState, it: Instruction, operand: Expr) -> None:
    """mtvec, with a mode in its two lowest bits."""
    mode = operand.right if isinstance(operand, Binary) and operand.operator in "|+" else operand
    if isinstance(mode, Const):
        try:
            refuse_mode(mode.value)
        except NotUnderstood as reason:
            raise NotTranscribable(f"'{it.text}': {reason}") from reason
    state.emit(Guest(state.current, "virt_trap_set", (operand,)))


def _plain(state: LiftState, it: Instruction, operand: Expr) -> None:
    """In a function that C calls: mostly masks, in mstatus."""
    if it.csr in (MEPC, MTVAL) and not _writes(it):
        _write(state, it.rd, Undefined("reading a trap's registers outside of its handler"))
        return
    if it.csr == MTVEC and it.name == "csrrw" and it.rd == 0:
        _entry(state, it, operand)
        return
    if it.csr != MSTATUS:
        raise NotTranscribable(f"'{it.text}': {why_not(it.csr)}")
    if it.rd:
        if it.rd in (it.rs1, 2) and _writes(it):
            raise NotTranscribable(f"'{it.text}' exchanges mstatus")
        state.known.pop(f"x{it.rd}", None)
        state.emit(Guest(state.current, "virt_mstatus", (), f"x{it.rd}"))
    if not _writes(it):
        return
    if it.name.startswith("csrrw"):
        state.emit(Guest(state.current, "virt_int_restore", ("VIRT_PRIMASK", _closed(operand))))
    elif not isinstance(operand, Const):
        _some_bits(state, it, operand)
    elif operand.value & STATUS_MIE:
        call = "virt_int_unmask" if it.name.startswith("csrrs") else "virt_int_mask"
        state.emit(Guest(state.current, call, ("VIRT_PRIMASK",)))
    else:
        state.emit(Note(state.current, "the rest of mstatus is the kernel's"))


def _some_bits(state: LiftState, it: Instruction, operand: Expr) -> None:
    """csrs or csrc by bits that C has: what comes out is what a write of all of it leaves."""
    state.known.pop(_NOW, None)
    state.emit(Guest(state.current, "virt_mstatus", (), _NOW))
    masked = _closed(_changed(it, Var(_NOW), operand))
    state.emit(Guest(state.current, "virt_int_restore", ("VIRT_PRIMASK", masked)))


def _closed(status: Expr) -> Expr:
    """Whether mstatus holds interrupts off, as PRIMASK has it: in bit 0."""
    shifted = Binary(">>", Binary("^", status, Const(_WORD)), Const(_MIE_BIT))
    return fold(Binary("&", shifted, Const(1)))
