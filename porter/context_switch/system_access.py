"""The system control space: what each access to it becomes in a guest."""

from __future__ import annotations

from porter.context_switch.held_masks import stored_where_held
from porter.context_switch.ir import (
    MASKS,
    WHY_NESTING,
    WORD,
    Assign,
    Binary,
    Const,
    Expr,
    Guest,
    Load,
    Note,
    Origin,
    Program,
    Statement,
    Store,
    Var,
)
from porter.context_switch.result import (
    ROLE_OTHER,
    ROLE_START,
    ROLE_SVC,
    ROLE_SWITCH,
    NotTranscribable,
    OneInstruction,
)
from porter.context_switch.walk import fold, reads, subexpressions
from porter.registers.system_space import identify

SYSTEM_SPACE = 0xE000_0000
ICSR = 0xE000_ED04
VTOR = 0xE000_ED08
CYCCNT = 0xE000_1004
CPACR = 0xE000_ED88
FPCCR = 0xE000_EF34
LSPACT = 1 << 0
PENDSVSET = 1 << 28
PENDSVCLR = 1 << 27
SHPR = (0xE000_ED18, 0xE000_ED1C, 0xE000_ED20)
_PRIORITIES = {  # bytes of SHPR1-3
    **{0xE000_ED18: "MemManage", 0xE000_ED19: "BusFault", 0xE000_ED1A: "UsageFault"},
    **{0xE000_ED1F: "SVCall", 0xE000_ED22: "PendSV", 0xE000_ED23: "SysTick"},
}
FPCA = 1 << 2
FPU_ACCESS = 0xF << 20

WHY_MSP = "handlers have their own stack in VCT"
WHY_CONTROL = "tasks always run unprivileged on their own stack"
WHY_FPCA = "a guest can't forget FPU state: from now on every frame has room for it"
WHY_PRIORITY = "vector 0 runs last; priorities of the others come with the description"
WHY_FPU = "the FPU comes with the domain's grant"
WHY_LAZY = "a guest's FPU state is always stacked at once, none is left to be stacked later"
# Nothing that ICSR reads as, written back, requests more than is pending already.
_SET_IN_ICSR = Binary("|", Load(Const(ICSR)), Const(PENDSVSET))
_WRITES_CONTROL = (
    "writes CONTROL: tasks of a guest are on PSP without privilege, and nobody chooses a stack for "
    "his caller"
)


def replace_system_registers(program: Program, role: str) -> None:
    """Turn masks, MSP, CONTROL and known system registers into guest calls or notes."""
    drop_masks = role == ROLE_SWITCH and _masks_end_open(program)
    for block in program.blocks.values():
        block.statements = stored_where_held(
            _replaced(statement, role, drop_masks) for statement in block.statements
        )


def read_cycles(program: Program) -> None:
    """Each read of the cycle counter becomes a call, before it could become part of something: the
    next read finds another number."""
    for block in program.blocks.values():
        block.statements = [
            Guest(it.origin, "virt_cycles", (), it.target)
            if isinstance(it, Assign) and it.value == Load(Const(CYCCNT))
            else it
            for it in block.statements
        ]


def check_memory(program: Program) -> None:
    """Refuse every access to the system control space that is left."""
    for block in program.blocks.values():
        for item in (*block.statements, block.end):
            addresses = [
                part.address
                for expr in reads(item)
                for part in subexpressions(expr)
                if isinstance(part, Load)
            ]
            if isinstance(item, Store):
                addresses.append(item.address)
            for address in addresses:
                if isinstance(address, Const) and address.value >= SYSTEM_SPACE:
                    register = identify(address.value) or "a system register"
                    raise NotTranscribable(f"accesses {register}, which is the kernel's")


def _masks_end_open(program: Program) -> bool:
    """Whether all that is left of the masks is that they are open at the end, as at the start."""
    return all(
        statement.value == Const(0)
        for block in program.blocks.values()
        for statement in block.statements
        if isinstance(statement, Assign) and statement.target in MASKS
    )


def _replaced(statement: Statement, role: str, drop_masks: bool) -> Statement:
    match statement:
        case Assign(origin, "CONTROL", Binary("&" | "|", left, Const(bits))) if _is_control(left):
            if role not in (ROLE_START, ROLE_OTHER):
                raise NotTranscribable(_WRITES_CONTROL)
            return Note(origin, WHY_FPCA if bits == WORD - FPCA else WHY_CONTROL)
        case Assign(origin=origin, target="PRIMASK" | "BASEPRI" as mask, value=value):
            return Note(origin, WHY_NESTING) if drop_masks else _mask(origin, mask, value)
        case Assign(target="MSP"):
            if role != ROLE_START:
                raise NotTranscribable("writes MSP, and a handler's stack is VCT's")
            return Note(statement.origin, WHY_MSP)
        case Assign(target="CONTROL", value=value):
            allowed = {ROLE_START: (0, 2, 3), ROLE_SVC: (2,), ROLE_SWITCH: (2,)}.get(role, ())
            if not isinstance(value, Const) or value.value not in allowed:
                raise NotTranscribable(_WRITES_CONTROL)
            return Note(statement.origin, WHY_CONTROL)
        case Store(address=Const(value=address), value=value):
            return _system_store(statement, address, value, role)
    return statement


def _is_control(value: Expr) -> bool:
    """CONTROL with some bits set or cleared."""
    while isinstance(value, Binary) and value.operator in "&|" and isinstance(value.right, Const):
        value = value.left
    return value == Var("CONTROL")


def _mask(origin: Origin, mask: str, value: Expr) -> Guest:
    """The register's own width decides what masks: an even word leaves PRIMASK clear. The guest
    library takes of a word what BASEPRI would."""
    bits = Const(1 if mask == "PRIMASK" else 0xFF)
    if mask == "PRIMASK" or isinstance(value, Const):
        value = fold(Binary("&", value, bits))
    which = f"VIRT_{mask}"
    if isinstance(value, Const):
        return Guest(origin, "virt_int_mask" if value.value else "virt_int_unmask", (which,))
    return Guest(origin, "virt_int_restore", (which, value))


def _refuse_unaligned(statement: Store, address: int) -> None:
    place, text = statement.origin[-1]
    meant = _PRIORITIES.get(address)
    what = (
        f"if {meant}'s priority is meant, which is the byte there, write it with strb"
        if meant is not None
        else "write whole registers"
    )
    raise OneInstruction(
        f"'{text}' writes {statement.size} bytes at {address:#x}, across registers of the system, "
        f"and what a processor does then its manual leaves open (Armv7-M ARM, A3.2.1): {what}",
        place,
    )


def _system_store(statement: Store, address: int, value: Expr, role: str) -> Statement:
    if address >= SYSTEM_SPACE and address % statement.size:
        _refuse_unaligned(statement, address)
    if address == ICSR and value in (Const(PENDSVSET), _SET_IN_ICSR):
        if role == ROLE_OTHER:
            return Guest(statement.origin, "virt_yield", ())
        return Guest(statement.origin, "virt_vct_trig", ("FVM_VIRT_SWITCH",))
    if address == ICSR and value == Const(PENDSVCLR):
        return Guest(statement.origin, "virt_vct_clear", ("FVM_VIRT_SWITCH",))
    if address & ~3 in SHPR:
        return Note(statement.origin, WHY_PRIORITY)
    if (
        address == CPACR
        and isinstance(value, Binary)
        and value.operator == "|"
        and value.left == Var("CPACR")
        and isinstance(value.right, Const)
        and value.right.value & ~FPU_ACCESS == 0
    ):
        return Note(statement.origin, WHY_FPU)
    if address == FPCCR and value == Binary("&", Load(Const(FPCCR)), Const(WORD - LSPACT)):
        return Note(statement.origin, WHY_LAZY)
    return statement
