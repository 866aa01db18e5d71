"""Special registers, masks, barriers and supervisor calls."""

from __future__ import annotations

from porter.context_switch.decode import Immediate, Instruction
from porter.context_switch.ir import (
    FRAME_OF_CALLER,
    SUPERVISOR_CALL,
    WAIT,
    Assign,
    Binary,
    Const,
    Guest,
    Note,
    Var,
)
from porter.context_switch.lift_state import TASK_STACK, LiftState
from porter.context_switch.result import (
    DISPATCHES,
    ONE_ENTRY,
    ROLE_CALL,
    ROLE_OTHER,
    ROLE_START,
    ROLE_SWITCH,
    WAITS,
    NotTranscribable,
)
from porter.context_switch.services import serves

WHY_BARRIER = "no barrier needed"
WHY_EXCLUSIVE = "resuming a task clears the exclusive monitor"
WHY_FLAGS = "nobody asks for these flags: no function begins with any"
WHY_FAULTMASK = "a guest has no FAULTMASK"

# Special registers with a variable of their own. MSP and CONTROL are only accepted where the
# check after constant propagation knows the idiom.
_VARIABLES = {"psp": "SP", "primask": "PRIMASK", "basepri": "BASEPRI"}
_PLAIN = {"ipsr": "IPSR", "control": "CONTROL"}  # only plain functions may read these
_FLAGS = frozenset({"apsr", "xpsr", "eapsr", "iapsr"})  # of which msr writes the flags alone
_WRITE_ONLY = {"msp": "MSP", "control": "CONTROL"}


def read_special(state: LiftState, instruction: Instruction) -> None:
    """mrs."""
    register = instruction.registers()[0]
    special = instruction.detail.split(",")[-1].strip()
    if state.plain and special in _PLAIN:
        state.assign(state.variable(register), Var(_PLAIN[special]))
        return
    if state.role == ROLE_CALL and special in ("psp", "msp"):
        result = state.variable(register)
        state.known.pop(result, None)
        state.emit(Guest(state.current, FRAME_OF_CALLER, (), result))
        return
    if special == "msp" and serves(state.signatures):
        state.assign(state.variable(register), Var("SP"))  # in a guest all callers have one stack
        return
    if special == "msp" and state.role == ROLE_START:
        raise NotTranscribable(
            f"'{instruction.text}' reads MSP, which a guest can't see: the machine gives its code "
            "and its handlers stacks of their own; take out what sets stacks up"
        )
    if special not in _VARIABLES:
        raise NotTranscribable(
            f"'{instruction.text}' reads {special.upper()}, which a guest can't see",
            {"ipsr": ONE_ENTRY, "xpsr": ONE_ENTRY, "msp": DISPATCHES}.get(special, ""),
        )
    state.assign(state.variable(register), Var(_VARIABLES[special]))


def write_special(state: LiftState, instruction: Instruction) -> None:
    """msr. BASEPRI_MAX only raises, so it is BASEPRI where a mask is set."""
    register = instruction.registers()[0]
    special = instruction.detail.split(",")[0].strip()
    value = state.read(register)
    if special.partition("_")[0] in _FLAGS:
        state.emit(Note(state.current, WHY_FLAGS))
        state.forget_flags("flags that it wrote by number")
        return
    if special == "basepri_max":
        known = state.known.get(state.variable(register))
        if not isinstance(known, Const) or known.value == 0:
            raise NotTranscribable(f"'{instruction.text}' raises BASEPRI to an unknown level")
        special = "basepri"
    variable = _VARIABLES.get(special) or _WRITE_ONLY.get(special)
    if variable is None:
        raise NotTranscribable(
            f"'{instruction.text}' writes {special.upper()}, which a guest doesn't have"
        )
    state.assign(variable, value)
    if special == "psp" and state.on_task_stack and state.role == ROLE_START:
        state.assign("sp", value)
    if special == "control" and state.role == ROLE_START and _selects_psp(state, register):
        state.left, state.depth = state.depth, TASK_STACK
        state.assign("sp", Var("SP"))


def _selects_psp(state: LiftState, register: str) -> bool:
    """Whether what is written to CONTROL makes PSP the stack pointer of this code."""
    for statement in reversed(state.statements[:-1]):
        if isinstance(statement, Assign) and statement.target == register:
            match statement.value:
                case Const(bits) | Binary("|", _, Const(bits)):
                    return bits & 2 != 0
                case Binary("&", _, Const(bits)) if bits & 2:
                    continue
            return False
    return False


def change_state(state: LiftState, instruction: Instruction) -> None:
    """cpsid and cpsie."""
    masking = instruction.name == "cpsid"
    if "i" in instruction.detail:
        state.assign("PRIMASK", Const(1 if masking else 0))
    if "f" in instruction.detail:
        if masking:
            raise NotTranscribable(
                f"'{instruction.text}' sets FAULTMASK, which a guest doesn't have"
            )
        state.emit(Note(state.current, WHY_FAULTMASK))


def barrier(state: LiftState, instruction: Instruction) -> None:
    """dsb, isb, dmb."""
    state.emit(Note(state.current, WHY_BARRIER))


def clear_exclusive(state: LiftState, instruction: Instruction) -> None:
    """clrex: whoever resumes a task does that too (ARMv7-M ARM, A3.4.4; the guest's switch.S)."""
    if state.plain:
        raise NotTranscribable(
            f"'{instruction.text}' in a function that tasks call: C has no word for it but an asm "
            "statement of its own"
        )
    state.emit(Note(state.current, WHY_EXCLUSIVE))


def nothing(state: LiftState, instruction: Instruction) -> None:
    """nop, and waits where tasks call them (`event_waits`) or a switch handler has a loop for them
    (`idle`); other hints signal."""
    if instruction.name in ("wfi", "wfe") and (state.plain or state.role == ROLE_SWITCH):
        state.emit(Guest(state.current, WAIT, ()))
        return
    if instruction.name != "nop" and state.plain:
        raise NotTranscribable(
            f"'{instruction.text}' in a function that tasks call: an idle task waits by "
            "hyp_vct_wait(), with what masks around it as it is"
        )
    if instruction.name != "nop":
        raise NotTranscribable(
            f"'{instruction.text}' would wait inside a virtual handler and "
            "starve the tasks; the wait belongs into the idle task, as "
            "hyp_vct_wait()",
            WAITS,
        )
    state.emit(Note(state.current, ""))


def supervisor_call(state: LiftState, instruction: Instruction) -> None:
    """svc, in the first-task start: VCT serves it before this code would go on."""
    if state.role != ROLE_START:
        said = f"'{instruction.text}' calls a supervisor"
        if state.role == ROLE_OTHER:  # a task, most often
            raise NotTranscribable(
                f"{said} in a naked function that isn't known to be a handler: make it a function "
                "of C that has the call in an asm statement of its own"
            )
        raise NotTranscribable(f"{said} from a handler")
    (number,) = (it.value for it in instruction.operands if isinstance(it, Immediate))
    state.emit(Guest(state.current, SUPERVISOR_CALL, (str(number),)))
