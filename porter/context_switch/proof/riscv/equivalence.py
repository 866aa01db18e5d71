"""Second oracle on RV32: what original and port leave behind, for all states at once."""

from __future__ import annotations

from porter.context_switch.proof.effort import Effort
from porter.context_switch.proof.equivalence import (
    OTHER_CALLS,
    Difference,
    compare_all,
    memory_differences,
)
from porter.context_switch.proof.image import RETURN, TOP, Image
from porter.context_switch.proof.model import USR_REG, Model
from porter.context_switch.proof.riscv.layout import (
    BLOCK_WORDS,
    CALLEE_SAVED,
    CONTEXT,
    STATUS_MIE,
    STATUS_MPIE,
    kept,
)
from porter.context_switch.proof.riscv.machine import WORD, RiscvPath
from porter.context_switch.proof.riscv.paths import RiscvExplorer
from porter.context_switch.proof.task_terms import unequal
from porter.context_switch.proof.terms import Term, binary, symbol

_SHOWN = ("x2", "x1", "x10", "mcause", "mstatus", "mepc")


def explore(original: Image, model: Model) -> tuple[list[RiscvPath], dict[int, set[bool]]]:
    """The paths of an original, and what they pass: by address, of a condition the ways it goes."""
    explorer = RiscvExplorer(original, model, True, Effort())
    return [path for path in explorer.paths() if isinstance(path, RiscvPath)], explorer.ways


def equivalent(natives: list[RiscvPath], ported: Image, model: Model) -> int:
    """How many paths the original has; on each the port does the same in every state. Raises
    NotProved with a counterexample, or where the solver or this interpreter gives up."""
    effort = Effort()
    ports = RiscvExplorer(ported, model, False, effort).paths()
    compare_all(natives, ports, _differences, effort, _SHOWN)
    return len(natives)


def _differences(native: RiscvPath, port: RiscvPath) -> list[Difference]:
    """All that could differ between two paths."""
    found = memory_differences(native, port)
    if found == OTHER_CALLS or native.ended or port.ended:
        return found
    if native.model.returns and not native.resumes:
        found.append(("the result", unequal(native.word(10), port.word(10))))
    found += _context(native, port) if native.resumes else _returned(native)
    return [*found, *_returned(port), *_block(port)]


def _context(native: RiscvPath, port: RiscvPath) -> list[Difference]:
    """Registers of the task that is resumed. What a call left in a floating-point register that
    nobody restores is of no task."""
    found: list[Difference] = []
    for index, name in enumerate(CONTEXT):
        word, end = port.block[USR_REG + 4 * index], native.read(name)
        if name[0] == "f" and str(end).startswith("original.destroyed"):
            continue
        if name == "mepc":
            end, word = binary("&", _pc(native), ~1 & WORD), binary("&", word, ~1 & WORD)
        elif name == "mstatus" and not isinstance(native.exit, str):
            opened = binary("<<", binary("&", end, STATUS_MIE), 4)
            end = binary("|", binary("&", end, ~STATUS_MPIE & WORD), opened)
        found.append((name, unequal(end, word)))
    return found


def _pc(native: RiscvPath) -> Term:
    """Where it goes on."""
    ends_with_mret = isinstance(native.exit, str)
    return native.read("mepc") if ends_with_mret else native.exit


def _returned(path: RiscvPath) -> list[Difference]:
    """What a C function owes its caller."""
    caller = "caller's " if path.resumes else ""
    owed = (3, 4, *CALLEE_SAVED)
    found = [
        (f"x{number} of the caller", unequal(path.word(number), symbol(f"{caller}x{number}")))
        for number in owed
    ]
    found.append(("the return address", unequal(path.exit, RETURN)))
    return [*found, ("the stack", unequal(path.word(2), TOP))]


def _block(port: RiscvPath) -> list[Difference]:
    """fvm_state outside the masks; outside USR_REG too where no task is resumed."""
    words = [port.block[4 * index] for index in range(BLOCK_WORDS)]
    before = [symbol(f"fvm_state[{index}]") for index in range(BLOCK_WORDS)]
    pairs = zip(kept(words), kept(before), strict=True)
    found = [("fvm_state", unequal(word, old)) for word, old in pairs]
    if not port.resumes:
        for index, name in enumerate(CONTEXT):
            found.append(("USR_REG", unequal(words[USR_REG // 4 + index], symbol(name))))
    return found
