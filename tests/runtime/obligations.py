"""What the architecture and its errata ask of a kernel, checked on its machine code.

Every path from every vector is followed, calls and returns matched (the tabulation of Reps, Horwitz
and Sagiv, POPL 1995). What travels along a path are debts: "this store still needs a DSB", "that
register was never written". A debt that meets the place where it is due is a finding.
Sources of the rules: docs/hardware-obligations.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
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
_STEP = Debt("boot step", 0, "dsb")  # an access through a pointer, from the boot table maybe
_UNPRIVILEGED = Debt("nPRIV", 0, "write")  # of an entry that may come from boot, if it switches
_MPU_ON = Debt("MPU", 0, "off")  # regions change only while the unit is off
_PENDING = Debt("PENDSVSET", 0, "write")  # where an entry finds that it comes from PendSV
_MASKED = "cpsie"  # is due of PRIMASK from the deferred work's first instruction on
_MASKED_SWITCH = "cpsie of a switch"  # as that, where cpu.next was seen not to be cpu.current
_STEP_BYTES = 20  # struct fvm_boot_op
_PSP = "lr, #4"  # of EXC_RETURN, as tst has it: a thread was interrupted, and not boot
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
        self.deferred = code.handlers[PENDSV]
        self.masks = self._behind_barriers(self.deferred)  # where it has to hold everything off
        self.from_boot = {entry for number, entry in code.handlers.items() if number >= PENDSV}
        self.boot_table = code.objects["fvm_boot"]
        self.cpu = code.objects["cpu"].start
        self._seen: set[int] = set()
        if code.vector_table % 512:
            self.findings.add(Finding("VTOR needs a table aligned to its size", "vector_table"))
        self._follow()
        for name, entry in code.functions.items():
            if entry not in self._seen:
                self.findings.add(Finding("code that no path reaches", name))

    def _behind_barriers(self, address: int) -> int:
        """A core whose stores may fail late waits for them first."""
        while self.code.name(address) in ("dsb", "isb"):
            address += self.code.instructions[address].size
        return address

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
            for call in flow.calls:
                callers[call, debt].add((entry, start, flow.following))
                reach(call, debt, call, debt)
                for result in results[call, debt]:
                    for following in flow.following:
                        reach(entry, start, following, result)
            if flow.calls:
                continue
            after = list(self._after(entry, address, debt))
            for following in flow.following:
                for result in self._on_edge(entry, address, following, after):
                    reach(entry, start, following, result)
            if flow.returns and entry not in self.roots:
                for result in after:
                    self._settled(address, start, result)
                    if result not in results[entry, start]:
                        results[entry, start].add(result)
                        for caller, origin, points in callers[entry, start]:
                            for point in points:
                                reach(caller, origin, point, result)
            if flow.returns and entry in self.roots and debt not in (_NONE, _MPU_ON, _STEP):
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
        elif debt.due == _MASKED_SWITCH and name.startswith(("st", "push")):
            yield debt._replace(due=_MASKED)  # who runs next may be another one now
        elif not (name == "isb" and debt.due == "isb") and not self._pays(address, registers, debt):
            yield debt

    def _made(self, entry: int, address: int, name: str, registers: Registers) -> Iterator[Debt]:
        if address == self.reset:
            yield from (
                Debt(r, 0, "write") for r, rule in self.rules.items() if rule.boot is not None
            )
            yield from (Debt(special, 0, "write") for special in _SPECIAL)
        if address in self.roots:
            yield _MPU_ON  # from a boot loader, at reset
        if address in self.from_boot:
            yield _UNPRIVILEGED
        if self.code.text(address) == "cpsid i":
            if address not in (self.reset, self.masks):
                self._find("PRIMASK is set", address)
            yield Debt("PRIMASK", address, _MASKED)
        elif address == self.masks:
            self._find("the deferred work doesn't begin by holding everything off", address)
        self._special(address, registers)
        if name == "msr" and "control" in self.code.text(address):
            yield Debt("CONTROL", address, "isb")
        if self.code.text(address) == "cpsie i" and not self._in_handler(entry):
            yield Debt("PRIMASK", address, "isb")
        if name.startswith(("str", "stm", "push", "vst", "vpush")):
            yield _MEMORY
        text = self.code.text(address)
        stores, loads = (look(address, registers) for look in (self.code.stores, self.code.loads))
        unknown = not stores and not loads and "[sp" not in text and "[pc" not in text
        if name.startswith(("st", "ld")) and unknown:
            yield _STEP
        for store in stores:
            register = self._register(address, store)
            if register is not None:
                self._allowed(address, register, store)
                yield Debt(register, address, "dsb")
                if register == "MPU_CTRL" and _is(store.stored, 0) and entry != self.reset:
                    yield Debt("MPU off", address, "write")
                elif register == "MPU_CTRL" and not _is(store.stored, 0):
                    yield _MPU_ON

    def _pays(self, address: int, registers: Registers, debt: Debt) -> bool:
        """Whether the instruction is the write that was due."""
        if debt == _MPU_ON:
            return self._writes(address, registers, "MPU_CTRL", 0)
        if debt == _PENDING:
            return self._writes(address, registers, "ICSR", 0x10000000)
        if debt.due in (_MASKED, _MASKED_SWITCH):
            return self.code.text(address) == "cpsie i"
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
        if text == "cpsie i" and not self._may_wait(entry, debt):
            self._find(f"interrupts on with {what}", address)
        if (
            debt.due in ("dsb", "isb")
            and debt != _MEMORY
            and self._reads_boot_table(entry, address)
        ):
            self._find(f"next step of the boot table with {what}", address)
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
        own = debt.register == "MPU off" or (
            debt.due in ("dsb", "isb") and self.rules.get(debt.register, Rule()).own
        )
        if own and debt != start:
            self._find(f"returns with {debt.register}: {debt.due} due", address)

    def _may_wait(self, entry: int, debt: Debt) -> bool:
        """Whether a debt may be open when PRIMASK is cleared; in a handler the exception return
        settles what is left."""
        if debt in (_MEMORY, _STEP, _MPU_ON) or debt.due in (_MASKED, _MASKED_SWITCH):
            return True
        own = self.rules.get(debt.register, Rule()).own
        return self._in_handler(entry) and debt.due == "dsb" and not own

    def _in_handler(self, entry: int) -> bool:
        return entry in self.roots and entry != self.reset

    def _reads_boot_table(self, entry: int, address: int) -> bool:
        """The first word of a step."""
        return any(
            load.address in self.boot_table
            and (load.address - self.boot_table.start) % _STEP_BYTES == 0
            for load in self.code.loads(address, self.code.values(entry)[address])
        )

    # --- what a branch tells --------------------------------------------------------------

    def _on_edge(
        self, entry: int, address: int, following: int, debts: Iterable[Debt]
    ) -> Iterator[Debt]:
        """The debts on one way out of an instruction, given those behind it."""
        equal = self._equal(address, following)
        tested = None if equal is None else self._tested(entry, address)
        for debt in debts:
            masked = debt.due in (_MASKED, _MASKED_SWITCH)
            if debt == _UNPRIVILEGED and (
                (tested == _PSP and not equal)  # a thread was interrupted
                or (tested == "switch" and equal)  # it goes back
                or (tested == _PSP and entry != self.deferred)  # PendSV comes next
            ):
                continue
            if tested == _PSP and entry != self.deferred and equal:
                if masked:
                    continue
                if debt == _NONE:
                    yield _PENDING
            elif tested == "switch" and masked:
                if equal and debt.due == _MASKED_SWITCH:
                    continue  # it was seen just before that they differ
                debt = debt._replace(due=_MASKED if equal else _MASKED_SWITCH)
            yield debt

    def _equal(self, address: int, following: int) -> bool | None:
        """Of a branch by equality: whether `following` is where things are equal."""
        name = self.code.name(address)
        if name not in ("beq", "bne"):
            return None
        taken = following != address + self.code.instructions[address].size
        return taken == (name == "beq")

    def _tested(self, entry: int, branch: int) -> str | None:
        """What the instruction before compares: bits of EXC_RETURN, or cpu.current and cpu.next."""
        address = self.code.before(branch)
        if address is None:
            return None
        name, (_, _, operands) = self.code.name(address), self.code.text(address).partition(" ")
        if name == "tst":
            return operands
        loaded = self.code.before(address)
        if name != "cmp" or loaded is None or self.code.name(loaded) != "ldrd":
            return None
        places = self.code.loads(loaded, self.code.values(entry)[loaded])
        both = f"{operands}, [" in self.code.text(loaded)
        return "switch" if both and places and places[0].address == self.cpu else None

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
            if target == "control" and not _is(value, 0) and not _is(value, 1):
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
