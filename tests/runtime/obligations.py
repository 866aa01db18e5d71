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

from tests.runtime.machine_code import Code
from tests.runtime.register_values import Registers, Store, Value
from tests.runtime.scs_rules import BANKS, REGISTERS, SCS, Rule, rules

RESET, PENDSV = 1, 14


class Debt(NamedTuple):
    """`due` is what still has to come: dsb, isb, a write. `site` made the debt."""

    register: str
    site: int
    due: str


_NONE = Debt("", 0, "")
_MEMORY = Debt("memory", 0, "dsb")
_UNPRIVILEGED = Debt("nPRIV", 0, "write")
_MPU_ON = Debt("MPU_CTRL", 0, "off")  # regions change only while the unit is off
_SPECIAL = ("CONTROL", "MSP", "BASEPRI", "FAULTMASK", "DEMCR")  # that boot writes, besides rules()


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
        self.rules = rules(code.vector_table)
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
        results: defaultdict[tuple[int, Debt], set[Debt]] = defaultdict(set)
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
            yield from (
                Debt(r, 0, "write") for r, rule in self.rules.items() if rule.boot is not None
            )
            yield from (Debt(special, 0, "write") for special in _SPECIAL)
        if address == self.code.handlers[PENDSV]:
            yield _UNPRIVILEGED
        if address == self.code.functions["protection_arch_load"]:
            yield _MPU_ON
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
        if debt == _MPU_ON:
            return self._writes(address, registers, "MPU_CTRL", 0)
        if debt.due != "write":
            return False
        text = self.code.text(address)
        if debt.register == "FAULTMASK":
            return text == "cpsie f"
        if debt.register in ("CONTROL", "MSP", "BASEPRI"):
            return text.startswith(f"msr {debt.register.lower()},")
        if debt == _UNPRIVILEGED:
            return text.startswith("msr control,")  # _special looks at the value
        if debt.register == "MPU off":
            return any(
                self._register(address, store) == "MPU_CTRL"
                and store.stored is not None
                and 5 in store.stored.numbers
                for store in self.code.stores(address, registers)
            )
        rule = self.rules[debt.register]
        return self._writes(address, registers, debt.register, rule.boot)

    def _writes(self, address: int, registers: Registers, register: str, value: int | None) -> bool:
        return any(
            self._register(address, store) == register
            and (value is None or _is(store.stored, value))
            for store in self.code.stores(address, registers)
        )

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
        if debt == _MPU_ON and self._writes(
            address, self.code.values(entry)[address], "MPU_REGION", None
        ):
            self._find("regions change while the MPU is on", address)
        if debt == _MEMORY and self._writes(
            address, self.code.values(entry)[address], "AIRCR", 0x05FA0004
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
        if store.address not in SCS:
            return None
        if store.exact and store.address in REGISTERS:
            return REGISTERS[store.address]
        for bank, addresses in BANKS.items():
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
