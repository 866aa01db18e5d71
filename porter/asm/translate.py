"""From the effects of an assembler sequence to C statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from porter.asm.csr import entry_statement, scratch_statement, status_statements
from porter.asm.symbols import (
    Constant,
    Effect,
    Expression,
    Loaded,
    NotUnderstood,
    Saved,
    Symbol,
)

_W = {"primask": "VIRT_PRIMASK", "basepri": "VIRT_BASEPRI", "basepri_max": "VIRT_BASEPRI"}
_QUERIES = {"ipsr": "virt_in_vct()", "mstatus": "virt_mstatus()"}
_PENDSVSET = 1 << 28
_RESETS = 1 << 2 | 1
FPU_ACCESS = 0xF << 20
"""The bits of CPACR that give the FPU to everybody."""

CLOSES_FPU = (
    "that may close the FPU, which a machine has or hasn't, and the fault of the next use never "
    "comes to it. Switch S16-S31 in the handler (if bit 4 of EXC_RETURN is 0) and take this out"
)

Known = Callable[[str], int | None]
"""The value of a C expression, if it is a constant."""
Threshold = Callable[[int], int | None]
"""What BASEPRI keeps of a number; None if that isn't known."""
Removable = Callable[[str], bool]
"""Whether writes to a register (`SCB->CPACR`) are simply taken out."""


def translate(
    effects: Sequence[Effect],
    saved_in: dict[str, str],
    known: Known,
    threshold: Threshold,
    removable: Removable,
) -> tuple[str, ...]:
    """C statements for effects. `saved_in`: the lvalue that takes a mask register read here.

    Raises NotUnderstood.
    """
    remaining = _without_bracket(list(effects))
    lines: list[str] = []
    waiting: dict[str, str] = {}  # read, but not yet written: becomes save or query
    changed: set[str] = set()
    for effect in remaining:
        name = effect.register.removesuffix("_max")
        if effect.kind == "read":
            if name in saved_in:
                waiting[name] = saved_in[name]
        elif effect.kind == "mask":
            if effect.value == Saved(name):
                if name in changed:
                    raise NotUnderstood(f"{name} saved, changed and restored in one statement")
                continue  # written back unchanged
            changed.add(name)
            lines += _mask(effect, waiting.pop(name, None), known, threshold)
        elif effect.kind == "status":
            number = _number(effect.value, known)
            lines += status_statements(effect.register, effect.value, number)
        elif effect.kind == "entry":
            lines.append(entry_statement(effect.value))
        elif effect.kind == "scratch":
            lines.append(scratch_statement(effect.value))
        elif effect.kind == "code":
            lines.append('__asm volatile("fence.i" ::: "memory")')
        elif effect.kind == "call":
            lines.append("virt_vct_trig(FVM_VIRT_SVC)")
        elif effect.kind == "supervisor":
            lines.append(f"virt_svc({_svc_number(effect.value)})")
        elif effect.kind == "wait":
            lines.append("hyp_vct_wait()")
        elif effect.kind == "store":
            lines += _store(effect, removable)
        elif effect.kind != "return":
            raise NotUnderstood("sev")
    for name, lvalue in waiting.items():
        query = _QUERIES.get(name) or f"virt_int_query({_W[name]})"
        lines.insert(0, f"{lvalue} = {query}")
    return tuple(lines)


def _without_bracket(effects: list[Effect]) -> list[Effect]:
    """Drop a PRIMASK bracket around a BASEPRI write: a core erratum's work-around, one operation.

    Rewriting it instruction by instruction would leave the machine unmasked.
    """
    if not any(effect.register.startswith("basepri") for effect in effects):
        return effects
    masks = [effect for effect in effects if effect.kind == "mask"]
    primask = [effect for effect in masks if effect.register == "primask"]
    if len(primask) < 2 or primask[0] is not masks[0] or primask[-1] is not masks[-1]:
        return effects
    closes = isinstance(primask[0].value, Constant) and primask[0].value.value == 1
    opens = primask[-1].value in (Constant(0), Saved("primask"))
    if not closes or not opens:
        return effects
    return [effect for effect in effects if effect.register != "primask"]


def which_bits(number: int) -> str:
    """Why nobody knows whether a number masks."""
    return (
        f"whether BASEPRI = 0x{number & 0xFF:X} masks depends on how many bits the chip's "
        "priorities have: describe it, define __NVIC_PRIO_BITS, or write 0 or one of the upper "
        "three bits"
    )


def _mask(effect: Effect, save_to: str | None, known: Known, threshold: Threshold) -> list[str]:
    if effect.register == "faultmask":
        raise NotUnderstood("cpsid f")
    w = _W[effect.register]
    value = _number(effect.value, known)
    raised = value is not None and _raises(w, value, threshold)
    if save_to is not None:
        if raised:
            return [f"{save_to} = virt_int_save({w})"]
        query = f"{save_to} = virt_int_query({w})"
        return [query, *_mask(effect, None, known, threshold)]
    if value is not None:
        if effect.register == "basepri_max" and not raised:
            return []
        return [f"virt_int_{'mask' if raised else 'unmask'}({w})"]
    if not isinstance(effect.value, Expression):
        raise NotUnderstood(f"msr {effect.register}")
    if effect.register == "basepri_max":
        return [f"if (({effect.value.text}) != 0) {{ virt_int_mask({w}); }}"]
    return [f"virt_int_restore({w}, {effect.value.text})"]


def _raises(w: str, value: int, threshold: Threshold) -> bool:
    kept = value & 1 if w == "VIRT_PRIMASK" else threshold(value)
    if kept is None:
        raise NotUnderstood(which_bits(value))
    return kept != 0


def _svc_number(value: Symbol) -> str:
    match value:
        case Constant(number):
            return str(number)
        case Expression(text):
            return text
    raise NotUnderstood("svc with an unknown number")


def _number(value: Symbol, known: Known) -> int | None:
    if isinstance(value, Constant):
        return value.value
    return known(value.text) if isinstance(value, Expression) else None


def _store(effect: Effect, removable: Removable) -> list[str]:
    name = str(effect.target)
    if name == "SCB->ICSR" and effect.value == Constant(_PENDSVSET):
        return ["virt_yield()"]
    ones = 0
    if isinstance(effect.value, Constant):
        ones = effect.value.value
    elif isinstance(effect.value, Loaded):
        ones = effect.value.ones
    if name == "SCB->AIRCR" and ones & _RESETS:
        return ["hyp_reboot()"]
    if name == "SCB->CPACR" and not _only_opens(effect.value):
        raise NotUnderstood(f"a store to {name}: {CLOSES_FPU}")
    if removable(name):
        return []
    raise NotUnderstood(f"a store to {name}")


def _only_opens(value: Symbol) -> bool:
    """Whether a word in CPACR certainly gives the FPU."""
    ones = value.value if isinstance(value, Constant) else getattr(value, "ones", 0)
    return bool(ones & FPU_ACCESS == FPU_ACCESS)
