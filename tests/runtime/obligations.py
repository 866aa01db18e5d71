"""What the architecture and its errata ask of a kernel, checked on its machine code.

Every path from every vector is followed, calls and returns matched (the tabulation of Reps, Horwitz
and Sagiv, POPL 1995). What travels along a path are debts: "this store still needs a DSB", "that
register was never written". A debt that meets the place where it is due is a finding.
Sources of the rules: docs/hardware-obligations.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from capstone.arm import ARM_REG_SP

from tests.runtime.machine_code import Code, Registers, Store, Value

RESET, PENDSV = 1, 14
_SCS = range(0xE000E000, 0xE000F000)
_ALL_ONES = 0xFFFFFFFF


class Rule(NamedTuple):
    """A register of the system control space: what may be written, what boot has to write."""

    allowed: frozenset[int] | None = None  # None: any value, e.g. one read from a table
    boot: int | None = None  # on every path from reset to the first interrupt
    isb: bool = False  # needs ISB after DSB
    own: bool = False  # the procedure that writes it also settles it


def _rules(vector_table: int) -> dict[str, Rule]:
    def only(*values: int, isb: bool = False, own: bool = True) -> Rule:
        return Rule(frozenset(values), values[0], isb, own)

    return {
        "ACTLR": only(0),
        "SYST_CSR": only(0, 7, own=False),
        "SYST_RVR": Rule(),
        "SYST_CVR": Rule(frozenset({0})),
        "NVIC_ISER": Rule(),
        "NVIC_ICER": Rule(boot=_ALL_ONES),
        "NVIC_ICPR": Rule(boot=_ALL_ONES),
        "NVIC_IPR": only(0x80808080),
        "ICSR": Rule(frozenset({0x0A000000, 0x10000000}), 0x0A000000),
        "VTOR": only(vector_table, isb=True),
        "AIRCR": Rule(frozenset({0x05FA0000, 0x05FA0004}), 0x05FA0000, own=True),
        "SCR": only(0),
        "CCR": only(0x210),
        "SHPR1": only(0),
        "SHPR2": only(0x80000000),
        "SHPR3": only(0x80800000),
        "SHCSR": Rule(boot=0x00070000),
        "CFSR": Rule(boot=_ALL_ONES),
        "HFSR": Rule(boot=_ALL_ONES),
        "CPACR": Rule(None, 0, isb=True, own=True),
        "MPU_CTRL": only(0, 5, isb=True),
        "MPU_RNR": Rule(),
        "MPU_REGION": Rule(isb=True),
        "DEMCR": Rule(),
        "FPCCR": only(0x80000000),
        "FPDSCR": only(0),
    }


_REGISTERS = {
    0xE000E008: "ACTLR", 0xE000E010: "SYST_CSR", 0xE000E014: "SYST_RVR", 0xE000E018: "SYST_CVR",
    0xE000ED04: "ICSR", 0xE000ED08: "VTOR", 0xE000ED0C: "AIRCR", 0xE000ED10: "SCR",
    0xE000ED14: "CCR", 0xE000ED18: "SHPR1", 0xE000ED1C: "SHPR2", 0xE000ED20: "SHPR3",
    0xE000ED24: "SHCSR", 0xE000ED28: "CFSR", 0xE000ED2C: "HFSR", 0xE000ED88: "CPACR",
    0xE000ED94: "MPU_CTRL", 0xE000ED98: "MPU_RNR", 0xE000EDFC: "DEMCR", 0xE000EF34: "FPCCR",
    0xE000EF3C: "FPDSCR", **dict.fromkeys(range(0xE000ED9C, 0xE000EDBC, 4), "MPU_REGION"),
}  # fmt: skip
_BANKS = {
    "NVIC_ISER": range(0xE000E100, 0xE000E140),
    "NVIC_ICER": range(0xE000E180, 0xE000E1C0),
    "NVIC_ICPR": range(0xE000E280, 0xE000E2C0),
    "NVIC_IPR": range(0xE000E400, 0xE000E4F0),
}


class Debt(NamedTuple):
    """`due` is what still has to come: dsb, isb, a write. `site` made the debt."""

    register: str
    site: int
    due: str


_NONE = Debt("", 0, "")
_MEMORY = Debt("memory", 0, "dsb")
_UNPRIVILEGED = Debt("nPRIV", 0, "write")
_SPECIAL = ("CONTROL", "MSP", "BASEPRI", "FAULTMASK", "DEMCR")  # that boot writes, besides _rules


class Finding(NamedTuple):
    """A rule that is broken, and where."""

    rule: str
    place: str


def check(code: Code) -> set[Finding]:
    """Everything that is wrong with a kernel."""
    return _Check(code).findings


class _Check:
    def __init__(self, code: Code) -> None:
        self.code = code
        self.rules = _rules(code.vector_table)
        self.findings: set[Finding] = set()
        self.reset = code.handlers[RESET]
        self.roots = set(code.handlers.values())
        self._seen: set[int] = set()
        if code.vector_table % 512:
            self.findings.add(Finding("VTOR needs a table aligned to its size", "vector_table"))
        self._follow()
        for name, entry in code.functions.items():
            if entry not in self._seen:
                self.findings.add(Finding("code that no path reaches", name))

    def _find(self, rule: str, address: int) -> None:
        self.findings.add(Finding(rule, self.code.place(address)))

    def _follow(self) -> None:
        edges: set[tuple[int, Debt, int, Debt]] = set()
        callers = defaultdict(set)
        results = defaultdict(set)
        work: list[tuple[int, Debt, int, Debt]] = []

        def reach(entry: int, start: Debt, address: int, debt: Debt) -> None:
            edge = (entry, start, address, debt)
            if edge not in edges:
                edges.add(edge)
                work.append(edge)

        for root in self.roots:
            reach(root, _NONE, root, _NONE)
        while work:
            entry, start, address, debt = work.pop()
            self._seen.add(address)
            flow = self.code.flow(address)
            self._due(entry, address, debt)
            if flow.call is not None:
                callers[flow.call, debt].add((entry, start, flow.following))
                reach(flow.call, debt, flow.call, debt)
                for result in results[flow.call, debt]:
                    for following in flow.following:
                        reach(entry, start, following, result)
                continue
            after = list(self._after(entry, address, debt))
            for following in flow.following:
                for result in after:
                    reach(entry, start, following, result)
            if flow.returns and entry not in self.roots:
                for result in after:
                    self._settled(address, start, result)
                    if result not in results[entry, start]:
                        results[entry, start].add(result)
                        for caller, origin, points in callers[entry, start]:
                            for point in points:
                                reach(caller, origin, point, result)
            if flow.returns and entry in self.roots and debt != _NONE:
                self._find(f"exception return with {debt.register}: {debt.due} due", address)

    # --- what an instruction adds and settles ---------------------------------------------

    def _after(self, entry: int, address: int, debt: Debt) -> Iterator[Debt]:
        """The debts behind an instruction, given one before it."""
        name, registers = self.code.name(address), self.code.values(entry)[address]
        if debt == _NONE:
            yield _NONE
            yield from self._made(entry, address, name, registers)
        elif name == "dsb" and debt.due == "dsb":
            rule = self.rules.get(debt.register, Rule())
            if rule.isb:
                yield debt._replace(due="isb")
        elif not (name == "isb" and debt.due == "isb") and not self._pays(address, registers, debt):
            yield debt

    def _made(self, entry: int, address: int, name: str, registers: Registers) -> Iterator[Debt]:
        if address == self.reset:
            for register, rule in self.rules.items():
                if rule.boot is not None:
                    yield Debt(register, 0, "write")
            for register in _SPECIAL:
                yield Debt(register, 0, "write")
        if address == self.code.handlers[PENDSV]:
            yield _UNPRIVILEGED
        if address == self.code.functions["cpu_arch_settle"] and name != "dsb":
            yield Debt("settle", address, "dsb")
        self._special(address, registers)
        if name == "msr" and "control" in self.code.text(address):
            yield Debt("CONTROL", address, "isb")
        if self.code.text(address) == "cpsie i":
            yield Debt("PRIMASK", address, "isb")
        if name.startswith(("str", "stm", "push", "vst", "vpush")):
            yield _MEMORY
        for store in self.code.stores(address, registers):
            register = self._register(address, store)
            if register is not None:
                self._allowed(address, register, store)
                yield Debt(register, address, "dsb")
                if register == "MPU_CTRL" and _is(store.stored, 0) and entry != self.reset:
                    yield Debt("MPU off", address, "write")

    def _pays(self, address: int, registers: Registers, debt: Debt) -> bool:
        """Whether the instruction is the write that was due."""
        if debt.due != "write":
            return False
        text = self.code.text(address)
        if debt.register == "FAULTMASK":
            return text == "cpsie f"
        if debt.register in ("CONTROL", "MSP", "BASEPRI"):
            return text.startswith(f"msr {debt.register.lower()},")
        if debt == _UNPRIVILEGED:
            return text.startswith("msr control,")  # _special looks at the value
        for store in self.code.stores(address, registers):
            register = self._register(address, store)
            if debt.register == "MPU off":
                if register == "MPU_CTRL" and store.stored and 5 in store.stored.numbers:
                    return True
            elif register == debt.register:
                boot = self.rules[register].boot
                if boot is None or _is(store.stored, boot):
                    return True
        return False

    # --- where debts are due --------------------------------------------------------------

    def _due(self, entry: int, address: int, debt: Debt) -> None:
        if debt == _NONE:
            return
        name, text = self.code.name(address), self.code.text(address)
        what = f"{debt.register}: {debt.due} due"
        if debt.register in ("CONTROL", "PRIMASK") and debt.due == "isb" and name != "isb":
            self._find(f"no ISB directly after {debt.register}", debt.site)
        if text == "cpsie i" and debt != _MEMORY:
            self._find(f"interrupts on with {what}", address)
        if name.startswith("v") and debt.register == "CPACR" and debt.due != "write":
            self._find(f"floating point with {what}", address)
        memory = name.startswith(("ldr", "ldm", "str", "stm", "push", "pop"))
        if entry == self.reset and memory and debt.register == "MPU_CTRL" and debt.due != "write":
            self._find(f"memory used with {what}", address)
        if (
            debt.register == "AIRCR"
            and debt.due == "dsb"
            and address in self.code.flow(address).following
        ):
            self._find("waits for the reset before its request is out", address)
        if debt == _MEMORY and any(
            _is(s.stored, 0x05FA0004)
            for s in self.code.stores(address, self.code.values(entry)[address])
        ):
            self._find("reset requested before memory is written", address)

    def _settled(self, address: int, start: Debt, debt: Debt) -> None:
        """A procedure returns: what it made itself and has to settle itself."""
        own = debt.register in ("MPU off", "settle") or (
            debt.due in ("dsb", "isb") and self.rules.get(debt.register, Rule()).own
        )
        if own and debt != start:
            self._find(f"returns with {debt.register}: {debt.due} due", address)

    # --- what may be written at all -------------------------------------------------------

    def _register(self, address: int, store: Store) -> str | None:
        if store.address not in _SCS:
            return None
        if store.exact and store.address in _REGISTERS:
            return _REGISTERS[store.address]
        for bank, addresses in _BANKS.items():
            if store.address in addresses:
                return bank
        self._find(f"store to 0x{store.address:08x}, which nobody asked for", address)
        return None

    def _allowed(self, address: int, register: str, store: Store) -> None:
        allowed = self.rules[register].allowed
        if allowed is not None and not (
            store.stored and store.stored.exact and store.stored.numbers <= allowed
        ):
            self._find(f"{register} gets another value than documented", address)

    def _special(self, address: int, registers: Registers) -> None:
        instruction = self.code.instructions[address]
        name, _, operands = self.code.text(address).partition(" ")
        target, _, source = operands.partition(", ")
        if name == "msr":
            value = registers.get(source)
            if target == "control" and not _is(value, 0):
                before = self.code.text(address - 4)
                if before not in (f"orr {source}, {source}, #1", f"orr.w {source}, {source}, #1"):
                    self._find("CONTROL gets another value than 0 or nPRIV", address)
            elif target == "basepri" and not _is(value, 0):
                self._find("BASEPRI is raised (erratum 837070)", address)
            elif target not in ("control", "basepri", "msp", "psp"):
                self._find(f"write of {target}", address)
        if name == "cpsid" and operands != "i":
            self._find("FAULTMASK is set", address)
        if name.startswith("ldr") and instruction.operands[0].reg == ARM_REG_SP:
            self._find("SP is loaded from memory (errata 752770, 752419)", address)


def _is(value: Value | None, number: int) -> bool:
    return value is not None and value.exact and value.numbers == {number}
