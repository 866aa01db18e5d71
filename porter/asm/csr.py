"""RISC-V instructions on machine CSRs, as the effects that a virtual machine has for them.

mstatus is its mask: MIE (bit 3) is 1 where VIRT_PRIMASK is open. WCH's cores show the same bit in
their own register 0x800, gintenr (QingKe V4 manual, 8.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from porter.asm.symbols import Constant, Effect, Expression, NotUnderstood, Saved, Symbol
from porter.context_switch.riscv.registers import NAMES, why_not
from porter.source.arithmetic import literal
from porter.source.c_tree import parse_expression, strip_parentheses, text_of, walk
from porter.source.truth import binary

STATUS_MIE = 1 << 3
WHY_CLOSED = (
    "a guest has no mie, and what closes its bits may be a lock; as a lock, clear mstatus.MIE "
    "(virt_int_mask), and for one line call hyp_irq_dis()"
)
_STATUS = frozenset({"mstatus", "0x300", "gintenr", "0x800"})
_LINES = frozenset({"mie", "0x304"})
_ENTRY = frozenset({"mtvec", "0x305"})
_HART = frozenset({"mhartid", "0xf14"})
_CYCLES = frozenset({"mcycle", "0xb00", "cycle", "0xc00"})
_SCRATCH = frozenset({"mscratch", "0x340"})
_NUMBERS = {name: number for number, name in NAMES.items()}
_HELD = {"entry": "virt_trap_get()", "scratch": "virt_mscratch"}  # what C reads of these effects


def access(
    name: str, operands: Sequence[str], values: Sequence[Symbol]
) -> tuple[list[Effect], Symbol | None]:
    """The effects of a CSR instruction, and what its destination holds. `values` are those of the
    operands. Raises NotUnderstood."""
    text = f"{name} {', '.join(operands)}"
    operation, reads, csr, value = _parts(name.removesuffix("i"), operands, values)
    if csr in _STATUS:
        effects = [Effect("read", "mstatus")] if reads else []
        if operation != "r":
            effects.append(Effect("status", operation, value))
        return effects, Saved("mstatus") if reads else None
    if csr in _HART and operation == "r":
        return [], Constant(0)
    if csr in _CYCLES and operation == "r":
        return [], Expression("virt_cycles()")
    if csr in _LINES and not reads:
        if operation != "s":
            raise NotUnderstood(f"{text}: {WHY_CLOSED}")
        return [], None  # lines are opened one by one, by hyp_irq_ena
    if csr in _ENTRY and operation == "w" and not reads and isinstance(value, Expression):
        return [Effect("entry", value=value)], None
    if csr in _ENTRY and operation == "r":
        return [], Expression(_HELD["entry"])
    if csr in _SCRATCH and operation == "r":
        return [], Expression(_HELD["scratch"])
    if csr in _SCRATCH:
        if operation != "w" or reads:
            raise NotUnderstood(f"{text}: the variable virt_mscratch is the machine's mscratch")
        value = Constant(0) if operands[-1] in ("x0", "zero") else value
        return [Effect("scratch", value=value)], None
    if csr.startswith("%"):
        raise NotUnderstood(f"{text}: which register that is, only an operand says: write its name")
    raise NotUnderstood(f"{text}: {why_not(_NUMBERS[csr])}" if csr in _NUMBERS else text)


def refuse_late_reads(effects: Sequence[Effect], values: Iterable[Symbol]) -> None:
    """C reads after all effects: not what a register held before one of them."""
    for effect in effects:
        if Expression(_HELD.get(effect.kind, "")) in values:
            raise NotUnderstood(f"{_HELD[effect.kind]} is read and then written")


def _parts(
    name: str, operands: Sequence[str], values: Sequence[Symbol]
) -> tuple[str, bool, str, Symbol]:
    """Operation (r, w, s or c), whether it reads, the register, and the operand's value."""
    count = {"csrr": 2, "csrw": 2, "csrs": 2, "csrc": 2, "csrrw": 3, "csrrs": 3, "csrrc": 3}
    if count.get(name) != len(operands):
        raise NotUnderstood(f"{name} {', '.join(operands)}")
    if name == "csrr":
        return "r", True, operands[1].lower(), Constant(0)
    if len(operands) == 2:
        return name[-1], False, operands[0].lower(), values[1]
    reads = operands[0] not in ("x0", "zero")
    nothing = operands[2] in ("x0", "zero", "0") and name != "csrrw"
    return "r" if nothing else name[-1], reads, operands[1].lower(), values[2]


def status_statements(operation: str, value: Symbol, number: int | None) -> list[str]:
    """A write of mstatus as C; `number` is the operand, if it is known."""
    if operation == "w":
        if number is None:
            if not isinstance(value, Expression):
                raise NotUnderstood("csrw mstatus of a value that isn't known")
            return [f"virt_int_restore(VIRT_PRIMASK, (({value.text}) & {STATUS_MIE}u) == 0)"]
        return [f"virt_int_{'unmask' if number & STATUS_MIE else 'mask'}(VIRT_PRIMASK)"]
    call = f"virt_int_{'unmask' if operation == 's' else 'mask'}(VIRT_PRIMASK)"
    if number is not None:
        return [call] if number & STATUS_MIE else []  # the rest of mstatus is the kernel's
    if not isinstance(value, Expression):
        raise NotUnderstood(f"csr{operation} mstatus of bits that aren't known")
    return [f"if ((({value.text}) & {STATUS_MIE}u) != 0) {{ {call}; }}"]


def refuse_mode(mode: int) -> None:
    """Of mtvec (privileged architecture, 3.1.7) 2 and 3 are a maker's own: a table of addresses on
    WCH's cores, the ECLIC's on Nuclei's and SiFive's."""
    if mode & 2:
        raise NotUnderstood(
            f"mtvec in mode {mode & 3}, a maker's own: a machine has one handler (mode 0) or a "
            "table of jumps (mode 1); name one of them"
        )


def entry_statement(value: Symbol) -> str:
    """mtvec as C."""
    tree = parse_expression(value.text.encode()) if isinstance(value, Expression) else None
    for node in walk(tree) if tree is not None else ():
        for side in binary(node, b"|") or binary(node, b"+") or ():
            number = literal(text_of(strip_parentheses(side)))
            refuse_mode(number.value if number is not None else 0)
    return f"virt_trap_set({_cast('uintptr_t', value, 'mtvec')})"


def scratch_statement(value: Symbol) -> str:
    """mscratch as C."""
    if isinstance(value, Constant):
        return f"virt_mscratch = 0x{value.value:X}u"
    return f"virt_mscratch = {_cast('uint32_t', value, 'mscratch')}"


def _cast(kind: str, value: Symbol, register: str) -> str:
    if not isinstance(value, Expression):
        raise NotUnderstood(f"{register} gets a value that isn't known")
    text = value.text.strip()
    return f"({kind}){text if text.isidentifier() else f'({text})'}"
