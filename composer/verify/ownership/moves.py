"""What an instruction does to the notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from composer.verify.code.arithmetic import value_of
from composer.verify.code.decode import PC, SP, Address, Immediate, Instruction, Other, Register
from composer.verify.code.state import State
from composer.verify.code.transfers import address_of
from composer.verify.code.values import Stack, signed
from composer.verify.memory import Memory
from composer.verify.ownership.ledger import FPSCR, Ledger
from composer.verify.ownership.terms import (
    CALLER,
    CONTEXT,
    CURRENT,
    DOMAIN,
    FRAME_BIT,
    KEPT,
    NEXT,
    PROTECTION,
    PSP_BIT,
    RETURN_BITS,
    STACK,
    Born,
    Field,
    FrameType,
    Given,
    Own,
    Place,
    Resumes,
    Term,
    context,
    field,
    is_kept,
    is_steady,
    kept,
    moved,
    place_at,
    saved_slot,
)

MPU_CTRL, CPACR_REGISTER = 0xE000ED94, 0xE000ED88
_MPU_WORDS = range(0xE000ED9C, 0xE000EDBC, 4)  # RBAR, RASR and their three aliases
_ALIASES = len(_MPU_WORDS)
NOT_PRIVILEGED = 1  # CONTROL of threads


def _singles(name: str) -> list[int]:
    """Numbers of the single registers in one that is named so."""
    number = int(name[1:])
    return [number] if name[0] == "s" else [2 * number, 2 * number + 1]


@dataclass(frozen=True)
class Setting:
    """What doesn't change: where the kernel keeps who runs, and what the image holds."""

    cpu: int
    memory: Memory
    report: Callable[[int, str], None]  # a problem: where, and what


@dataclass
class Move:
    """One instruction on its way through the notes."""

    setting: Setting
    before: State
    instruction: Instruction
    ledger: Ledger

    def term(self, register: int) -> Term:
        """What is known of a register."""
        known = self.ledger.registers[register]
        if known is not None:
            return known
        value = self.before.get(register)
        return value if isinstance(value, int) else None

    def put(self, register: int, term: Term) -> None:
        """Another term in a register; the state has the numbers."""
        self.ledger = self.ledger.put(register, None if isinstance(term, int) else term)

    def born(self, number: int) -> Term:
        """Something new that only is known to be itself."""
        new = Born(self.instruction.address, number)
        self.ledger = self.ledger.without(new)
        return new

    # --- memory ---------------------------------------------------------------------------

    def place(self, register: int, offset: int) -> Place | None:
        """Some bytes behind where a register points."""
        value = self.before.get(register)
        if isinstance(value, Stack):
            return STACK, value.offset + offset
        if isinstance(value, int):
            base = value & ~3 if register == PC else value
            return place_at(base, offset)
        return place_at(self.ledger.registers[register], offset)

    def addressed(self, where: Address) -> Place | None:
        """The place of a memory operand, without a post-index."""
        if where.index is None:
            return self.place(where.base, where.offset) if where.base >= 0 else None
        value = address_of(self.before, where)
        return place_at(value, 0) if isinstance(value, int) else None

    def load(self, place: Place | None, number: int) -> Term:
        """The word at a place."""
        if place is None:
            return self.born(number)
        base, offset = place
        known = self.ledger.words.get(place)
        if known is not None:
            return known
        if place in self.ledger.words or base == STACK:
            return self.born(number)
        if base == 0:
            return self._load_known(offset, number)
        if not is_steady(base, offset) or (self._is_early(base) and is_kept(field(base, offset))):
            return self.born(number)
        return field(base, offset)

    def _load_known(self, address: int, number: int) -> Term:
        """The word at an address: of flash, or of the kernel's variables."""
        stored = self.setting.memory.word(address)
        if stored is not None:
            return stored
        new = self.born(number)
        if address == self.setting.cpu + NEXT:
            self.ledger = self.ledger.store((0, address), new)
        return new

    def _is_early(self, base: Term) -> bool:
        """Whether it is a context that may be the interrupted thread's, which isn't saved yet."""
        if not isinstance(base, Field) or base.offset != CONTEXT:
            return False
        if base == CALLER or base.base in (CURRENT, CALLER):
            return False
        return not from_boot(self.ledger) and bool(unsaved(self.ledger, KEPT))

    def store(self, place: Place | None, term: Term) -> None:
        """After a store of a word."""
        self._guard(place, term)
        if place is None:
            return
        base, offset = place
        if base == 0 and offset in _MPU_WORDS:
            self._protect(_MPU_WORDS.index(offset), term)
        elif base == STACK or is_steady(base, offset) or (base == 0 and self._matters(offset)):
            self.ledger = self.ledger.store(place, term)

    def _matters(self, address: int) -> bool:
        cpu = self.setting.cpu
        return address in (cpu, cpu + NEXT, MPU_CTRL, CPACR_REGISTER)

    def _guard(self, place: Place | None, term: Term) -> None:
        """A thread's registers go to its context and to the kernel's stack, nowhere else."""
        name = term.register if isinstance(term, Own) else ""
        if name not in KEPT and name[:1] != "s" and not is_kept(term):
            return
        whose = name or "a word of a context"
        if place is None or place[0] not in (STACK, Field(CURRENT, CONTEXT)):
            self.setting.report(self.instruction.address, f"{whose} is stored elsewhere")

    def _protect(self, alias: int, term: Term) -> None:
        """A word for the protection registers; one that isn't a domain's may end up in any."""
        words: list[Term] = [None] * len(self.ledger.protection)
        if isinstance(term, Field):
            number, left = divmod(term.offset - PROTECTION, 4)
            if not left and number in range(len(words)) and number % _ALIASES == alias:
                words = list(self.ledger.protection)
                words[number] = term.base
        self.ledger = replace(self.ledger, protection=tuple(words))

    # --- instructions ---------------------------------------------------------------------

    def transfer(self) -> None:
        """Loads and stores of registers, one or two."""
        operands = self.instruction.operands
        count = next(n for n, o in enumerate(operands) if isinstance(o, Address))
        where = operands[count]
        assert isinstance(where, Address)
        place = self.addressed(where)
        after = self._written_back(where, operands, count)
        registers = [o.number for o in operands[:count] if isinstance(o, Register)]
        name = self.instruction.name
        if name.startswith("st"):
            if name == "strex":
                registers = registers[1:]
            self._stores(place, registers, whole=name in ("str", "strd", "strex"))
        else:
            self._loads(place, registers, whole=name in ("ldr", "ldrd", "ldrex"))
        if after is not None and (name.startswith("st") or after[0] not in registers):
            self.put(*after)
        if name == "strex":
            self.forget()

    def _written_back(
        self, where: Address, operands: tuple[object, ...], count: int
    ) -> tuple[int, Term] | None:
        if where.base < 0 or not self.instruction.writes_back:
            return None
        if not self.instruction.post_indexed:
            by: object = where.offset if where.index is None else None
        else:
            last = operands[-1]
            by = last.value if isinstance(last, Immediate) and len(operands) > count + 1 else None
        term = moved(self.term(where.base), signed(by)) if isinstance(by, int) else None
        return where.base, term

    def _stores(self, place: Place | None, registers: list[int], whole: bool) -> None:
        terms = [self.term(register) if whole else None for register in registers]
        for number, term in enumerate(terms):
            at = None if place is None else (place[0], place[1] + 4 * number)
            if at is not None and not whole:
                at = at[0], at[1] & ~3
            self.store(at, term)

    def _loads(self, place: Place | None, registers: list[int], whole: bool) -> None:
        terms = [
            self.load(None if place is None else (place[0], place[1] + 4 * number), number)
            if whole
            else None
            for number in range(len(registers))
        ]
        for register, term in zip(registers, terms, strict=True):
            self.put(register, term)

    def multiple(self) -> None:
        """push, pop, ldm, stm and the floating-point ones."""
        name, operands = self.instruction.name, list(self.instruction.operands)
        base, writes_back = SP, True
        if name not in ("push", "pop"):
            first = operands.pop(0)
            assert isinstance(first, Register)
            base, writes_back = first.number, self.instruction.writes_back
        floats = [n for o in operands if isinstance(o, Other) for n in _singles(o.name)]
        registers = [o.number for o in operands if isinstance(o, Register)]
        size = 4 * (len(floats) + len(registers))
        down = name == "push" or name.endswith("db")
        place = self.place(base, -size if down else 0)
        end = moved(self.term(base), -size if down else size)
        if name == "push" or "st" in name:
            self._stores(place, registers, whole=True)
            for number, which in enumerate(floats):
                at = None if place is None else (place[0], place[1] + 4 * number)
                self.store(at, self.ledger.floats[which])
        else:
            self._loads(place, registers, whole=True)
            terms = list(self.ledger.floats)
            for number, which in enumerate(floats):
                at = None if place is None else (place[0], place[1] + 4 * number)
                terms[which] = self.load(at, number)
            self.ledger = replace(self.ledger, floats=tuple(terms))
        if writes_back and base not in registers and base != SP:
            self.put(base, end)
        if name == "pop" and place is not None:
            top = place[1] + size
            self.ledger = self.ledger.remembering(lambda p: p[0] != STACK or p[1] >= top)

    def forget(self) -> None:
        """What an instruction writes is something else."""
        for register in range(PC):
            if self.instruction.writes >> register & 1:
                self.put(register, None)

    def copy(self) -> None:
        """mov."""
        source = self.instruction.operands[1]
        plain = isinstance(source, Register) and not source.shift
        term = self.term(source.number) if plain and isinstance(source, Register) else None
        self.forget()
        target = self.instruction.operands[0]
        if isinstance(target, Register) and target.number not in (SP, PC):
            self.put(target.number, term)

    def sum(self) -> None:
        """add, sub: what is some bytes behind a pointer, or a new one."""
        operands = self.instruction.operands
        target, source = operands[0], operands[1 if len(operands) > 2 else 0]
        by = value_of(self.before, operands[-1])
        term: Term = None
        if isinstance(source, Register) and not source.shift and isinstance(by, int):
            is_sum = self.instruction.name.startswith("add")
            term = moved(self.term(source.number), signed(by) if is_sum else -signed(by))
        self.forget()
        if isinstance(target, Register) and target.number not in (SP, PC):
            self.put(target.number, self.born(0) if term is None else term)

    def combine(self) -> None:
        """and, orr: EXC_RETURN of what was saved and of what the kernel has."""
        operands = self.instruction.operands
        first, last = operands[1 if len(operands) > 2 else 0], operands[-1]
        terms = [
            self.term(o.number) if isinstance(o, Register) and not o.shift else value_of(
                self.before, o
            )
            for o in (first, last)
        ]  # fmt: skip
        term: Term = None
        for one, other in (terms, terms[::-1]):
            if self.instruction.name == "and" and other == FRAME_BIT and one is not None:
                term = FrameType(one) if isinstance(one, Field) else None
            if self.instruction.name == "orr" and isinstance(other, Field):
                thread = other.base
                if other == Field(thread, RETURN_BITS) and one == FrameType(
                    kept(thread, saved_slot("lr"))
                ):
                    term = Resumes(thread)
        self.forget()
        target = operands[0]
        if isinstance(target, Register):
            self.put(target.number, term)

    def read_special(self) -> None:
        """mrs."""
        target = self.instruction.operands[0]
        assert isinstance(target, Register)
        self.put(target.number, self.ledger.psp if self._special() == "psp" else None)

    def _special(self) -> str:
        operand = self.instruction.text.split(" ", 1)[1].split(",")
        return operand[0 if self.instruction.name == "msr" else -1].strip().lower()

    def write_special(self) -> None:
        """msr."""
        source, name = self.instruction.operands[-1], self._special()
        assert isinstance(source, Register)
        if name == "psp":
            self.ledger = replace(self.ledger, psp=self.term(source.number))
        elif name == "msp":
            self.ledger = self.ledger.remembering(lambda place: place[0] != STACK)
        elif name == "control":
            value = self.before.get(source.number)
            if value != NOT_PRIVILEGED:
                self.setting.report(self.instruction.address, "CONTROL gets another value than 1")
        else:
            self.setting.report(self.instruction.address, f"{name} is written")

    def change_state(self) -> None:
        """cpsid, cpsie."""
        text = self.instruction.text
        if text not in ("cpsid i", "cpsie i"):
            self.setting.report(self.instruction.address, text)
        self.ledger = replace(self.ledger, masked=text == "cpsid i")

    def float_state(self) -> None:
        """vmsr, vmrs, and what else works on floating-point registers."""
        floats: list[Term] = list(self.ledger.floats)
        if self.instruction.name == "vmsr":
            source = self.instruction.operands[-1]
            floats[FPSCR] = self.term(source.number) if isinstance(source, Register) else None
        elif self.instruction.name != "vmrs":
            floats = [None] * len(floats)
        self.ledger = replace(self.ledger, floats=tuple(floats))
        self.forget()

    def compare(self) -> None:
        """tst, cmp: what a branch behind them will tell."""
        first, second = self.instruction.operands[:2]
        tested = None
        if isinstance(first, Register) and not first.shift:
            one = self.term(first.number)
            other: Term = None
            if isinstance(second, Register) and not second.shift:
                other = self.term(second.number)
            elif isinstance(second, Immediate):
                other = second.value
            if self._tells(one, other):
                tested = one, other
        self.ledger = replace(self.ledger, tested=tested)

    def _tells(self, one: Term, other: Term) -> bool:
        if one is None or other is None or isinstance(one, int):
            return False
        if self.instruction.name == "tst":
            return other in (FRAME_BIT, PSP_BIT)
        domains = all(isinstance(t, Field) and t.offset == DOMAIN for t in (one, other))
        return domains or CURRENT in (one, other)


def from_boot(ledger: Ledger) -> bool:
    """Whether it is known that no thread was interrupted."""
    return (Own("lr"), PSP_BIT, True) in ledger.facts


def unsaved(ledger: Ledger, names: Iterable[str]) -> list[str]:
    """Those of the interrupted thread's registers that its context doesn't hold."""
    words, base = ledger.words, context(CURRENT)
    return [
        name
        for name in names
        if words.get((base, saved_slot(name))) not in (Own(name), Given(name))
    ]


_MOVES: dict[str, Callable[[Move], None]] = {
    **dict.fromkeys(("ldr", "ldrb", "ldrh", "ldrsb", "ldrsh", "ldrd", "ldrex", "str", "strb",
                     "strh", "strd", "strex"), Move.transfer),
    **dict.fromkeys(("push", "pop", "ldm", "ldmdb", "stm", "stmdb", "vpush", "vpop", "vldmia",
                     "vldmdb", "vstmia", "vstmdb"), Move.multiple),
    "mov": Move.copy, "add": Move.sum, "addw": Move.sum, "sub": Move.sum, "subw": Move.sum,
    "and": Move.combine, "orr": Move.combine, "mrs": Move.read_special, "msr": Move.write_special,
    "cps": Move.change_state, "tst": Move.compare, "cmp": Move.compare,
}  # fmt: skip


def noted(setting: Setting, before: State, instruction: Instruction, ledger: Ledger) -> Ledger:
    """The ledger behind an instruction that was executed."""
    move = Move(setting, before, instruction, ledger)
    name = instruction.name
    if instruction.sets_flags:
        move.ledger = replace(ledger, tested=None)
    change = _MOVES.get(name, Move.float_state if name.startswith("v") else Move.forget)
    change(move)
    return move.ledger
