"""What an instruction does to the notes: special registers, comparisons, and which does what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from composer.verify.code.decode import Immediate, Instruction, Register
from composer.verify.code.state import State
from composer.verify.ownership.ledger import FPSCR, Ledger
from composer.verify.ownership.moves import combine, copy, multiple, total, transfer
from composer.verify.ownership.terms import (
    CURRENT,
    DOMAIN,
    FRAME_BIT,
    PSP_BIT,
    STACK,
    Field,
    Term,
)
from composer.verify.ownership.words import Setting, Words

_NOT_PRIVILEGED = 1  # CONTROL of threads


def _special(instruction: Instruction) -> str:
    operands = instruction.text.split(" ", 1)[1].split(",")
    return operands[0 if instruction.name == "msr" else -1].strip().lower()


def _read_special(move: Words) -> None:
    """mrs."""
    psp = move.ledger.psp if _special(move.instruction) == "psp" else None
    target = move.instruction.operands[0]
    assert isinstance(target, Register)
    move.put(target.number, psp)


def _write_special(move: Words) -> None:
    """msr."""
    source, name = move.instruction.operands[-1], _special(move.instruction)
    assert isinstance(source, Register)
    if name == "psp":
        move.ledger = replace(move.ledger, psp=move.term(source.number))
    elif name == "msp":
        move.ledger = move.ledger.remembering(lambda place: place[0] != STACK)
    elif name != "control":
        move.report(f"{name} is written")
    elif move.before.get(source.number) != _NOT_PRIVILEGED:
        move.report(f"CONTROL gets another value than {_NOT_PRIVILEGED}")


def _change_state(move: Words) -> None:
    """cpsid, cpsie."""
    text = move.instruction.text
    if text not in ("cpsid i", "cpsie i"):
        move.report(text)
    move.ledger = replace(move.ledger, masked=text == "cpsid i")


def _float_state(move: Words) -> None:
    """vmsr, vmrs, and what else works on floating-point registers."""
    floats: list[Term] = list(move.ledger.floats)
    if move.instruction.name == "vmsr":
        source = move.instruction.operands[-1]
        floats[FPSCR] = move.term(source.number) if isinstance(source, Register) else None
    elif move.instruction.name != "vmrs":
        floats = [None] * len(floats)
    move.ledger = replace(move.ledger, floats=tuple(floats))
    move.forget()


def _compare(move: Words) -> None:
    """tst, cmp: what a branch behind them will tell."""
    first, second = move.instruction.operands[:2]
    tested = None
    if isinstance(first, Register) and not first.shift:
        one, other = move.term(first.number), _other(move, second)
        if _tells(move.instruction.name, one, other):
            tested = one, other
    move.ledger = replace(move.ledger, tested=tested)


def _untold(move: Words) -> None:
    """A comparison that tells nothing that matters."""
    move.ledger = replace(move.ledger, tested=None)


def _other(move: Words, operand: object) -> Term:
    if isinstance(operand, Register) and not operand.shift:
        return move.term(operand.number)
    return operand.value if isinstance(operand, Immediate) else None


def _tells(name: str, one: Term, other: Term) -> bool:
    """Whether it matters how a comparison comes out."""
    if one is None or other is None or isinstance(one, int):
        return False
    if name == "tst":
        return other in (FRAME_BIT, PSP_BIT)
    domains = all(isinstance(t, Field) and t.offset == DOMAIN for t in (one, other))
    return domains or CURRENT in (one, other)


_MOVES: dict[str, Callable[[Words], None]] = {
    **dict.fromkeys(("ldr", "ldrb", "ldrh", "ldrsb", "ldrsh", "ldrd", "ldrex", "str", "strb",
                     "strh", "strd", "strex"), transfer),
    **dict.fromkeys(("push", "pop", "ldm", "ldmdb", "stm", "stmdb", "vpush", "vpop", "vldmia",
                     "vldmdb", "vstmia", "vstmdb"), multiple),
    "mov": copy, "add": total, "addw": total, "sub": total, "subw": total,
    "and": combine, "orr": combine, "mrs": _read_special, "msr": _write_special,
    "cps": _change_state, "tst": _compare, "cmp": _compare, "teq": _untold, "cmn": _untold,
}  # fmt: skip


def noted(setting: Setting, before: State, instruction: Instruction, ledger: Ledger) -> Ledger:
    """The ledger behind an instruction that was executed."""
    if instruction.sets_flags:
        ledger = replace(ledger, tested=None)
    move = Words(setting, before, instruction, ledger)
    kind = _float_state if instruction.name.startswith("v") else Words.forget
    _MOVES.get(instruction.name, kind)(move)
    return move.ledger
