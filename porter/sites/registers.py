"""Which register a value is, and which names stand for registers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from porter.registers.bit_band import aliased, is_alias
from porter.registers.chip_blocks import ChipBlocks
from porter.registers.memory import MEMORY
from porter.registers.other_blocks import OtherBlocks
from porter.registers.register import Register
from porter.registers.shared_blocks import is_device, may_be_device
from porter.registers.system_space import ArmSpace, SystemSpace
from porter.sites.macro_calls import MacroCalls
from porter.source.c_types import UNKNOWN
from porter.source.evaluate import Evaluator
from porter.source.possible import ANYWHERE
from porter.source.values import Number, Place, Pointer, Value
from porter.source.variants import Variants

_DATA = frozenset({"ODR", "IDR", "BSRR", "BRR", "KR"})
NOT_GRANTED = "not granted"
_CORE = b"__CORTEX_M"
_WITHOUT_ALIASES = frozenset({0, 1, 7, 23, 33, 35, 52, 55, 85})
_SEVERAL = "several"
_ALL_ONES = 0xFFFF_FFFF
DOUBTFUL = "doubtful"
"""The block of what one chip's header has at an address and a struct of other code describes."""
_ARM: SystemSpace = ArmSpace()


class Registers:
    """Says which register a value is, and which names stand for registers."""

    def __init__(
        self,
        evaluator: Evaluator,
        chip: str | None,
        space: SystemSpace = _ARM,
        grants: Sequence[range] | None = None,
        like: Registers | None = None,
    ) -> None:
        """`grants`: the addresses that the machine may use; None if nobody has said. `like`: those
        of the evaluator that this one says it is like."""
        self.evaluator = evaluator
        self.space = space
        self._like = like
        self._grants = grants
        self.calls = MacroCalls(evaluator)
        self._chip = chip
        self._names: dict[bytes, bool] = {}
        self._scoped: dict[bytes, bool] = {}
        self._variants = Variants(evaluator)
        self._otherwise: dict[int, Registers] = {}

    @cached_property
    def others(self) -> OtherBlocks:
        """The blocks that only headers tell of. All their macros are looked at for these, and most
        variants of a macro lead to no address that somebody would look up there."""
        like = self._like.others if self._like is not None else None
        return OtherBlocks(self.evaluator, like, isinstance(self.space, ArmSpace))

    @cached_property
    def blocks(self) -> ChipBlocks:
        """Those that rules know."""
        is_arm = isinstance(self.space, ArmSpace)
        return ChipBlocks(self.evaluator, self._chip, self.others.addresses, is_arm)

    @cached_property
    def fields(self) -> frozenset[bytes]:
        """Those of the structs of both."""
        return frozenset(self.blocks.fields) | self.others.fields

    @property
    def has_grants(self) -> bool:
        """Whether somebody has said what the machine may use."""
        return self._grants is not None

    def identify(self, value: Value | None) -> Register | None:
        """The register that an lvalue is; None for memory that a domain may own."""
        if not isinstance(value, Place):
            return None
        if value.span >= ANYWHERE:
            known = self.identify(replace(value, span=0))
            if known is None or known.block == MEMORY:
                return known  # which of a table's addresses makes no difference
            return Register(_SEVERAL, str(known), None, "perhaps")
        if value.address is not None and self.space.holds(value.address):
            found = self.space.identify(value.address, value.span == 0)
            if found is not None and value.part and isinstance(self.space, ArmSpace):
                return Register(
                    "part", found.name, None, f"part of {found.instance or found.block}"
                )
            return found
        if value.address is not None and self._is_alias(value.address):
            return self._aliased(value.address, value)
        known = self.blocks.identify(value)
        if known is not None and self.blocks.is_doubtful(value):
            return Register(DOUBTFUL, str(known), None, "perhaps")
        memory = self.memory_at(value.address) if value.address is not None else None
        return known or self._foreign(value) or memory

    def _foreign(self, place: Place) -> Register | None:
        """A register of a block that no rule knows, or of a device that the machine isn't given."""
        address = place.address
        is_granted = address is not None and any(address in it for it in self._grants or ())
        if is_granted:
            return None
        if (other := self.others.identify(place)) is not None:
            return other
        if self._grants is None or address is None or not is_device(address):
            return None
        name = place.member.decode("latin-1") or f"0x{address:08X}"
        return Register(NOT_GRANTED, name, 0, place.owner.decode("latin-1") or "the device")

    def _aliased(self, address: int, value: Place) -> Register:
        """A bit-band alias: its register where nobody owns it, else the alias itself."""
        target, bit = aliased(address)
        register = self.blocks.identify(replace(value, address=target, owner=b"", member=b""))
        if register is None:
            return Register("bit-band", f"0x{target:08X}", bit)
        # Data registers are written bit by bit here: not what the rule for whole writes expects.
        if register.name in _DATA:
            return replace(register, name=f"{register.name} bit", offset=bit)
        return register

    def otherwise(self, names: Iterable[bytes]) -> Iterator[tuple[bytes, Registers]]:
        """What stands where if a macro that names lead to had another of its definitions."""
        for name, evaluator in self._variants.of(names):
            if id(evaluator) not in self._otherwise:
                like = self if evaluator.like is self.evaluator else None
                self._otherwise[id(evaluator)] = Registers(
                    evaluator, self._chip, self.space, self._grants, like
                )
            yield name, self._otherwise[id(evaluator)]

    @cached_property
    def kept(self) -> frozenset[bytes]:
        """Variables outside functions that keep the address of a register, or of memory."""
        return frozenset(filter(self._keeps, self.evaluator.types.initialised))

    def _keeps(self, name: bytes) -> bool:
        match self.evaluator.name(name) if self.evaluator.keeps_address(name) else None:
            case Number(value=address):
                return self.is_address(address)
            case value:
                return self.leads(value)

    def names_register(self, name: bytes) -> bool:
        """Whether a name of the text is an address or register that no domain owns."""
        if name not in self._names:
            self._names[name] = self._names_register(name) or any(
                other._names_register(name) for _, other in self.otherwise([name])
            )
        return self._names[name]

    def memory_at(self, address: int) -> Register | None:
        """What an address is in memory that isn't the machine's."""
        if any(address in it for it in self._grants or ()):
            return None
        return self.space.memory_at(address)

    def memory_behind(self, address: int) -> Register | None:
        """The same of a pointer that accesses nothing where it stands: of all ones, which no object
        has for an address, it says that there is none."""
        return None if address & _ALL_ONES == _ALL_ONES else self.memory_at(address)

    def describe(self, address: int) -> str | None:
        """What an address belongs to that no domain owns, for a person; None for others."""
        if not self.is_address(address):
            return None
        register = self.identify(Place(address, UNKNOWN))
        return str(register or "a register of a block that nobody owns")

    def is_address(self, address: int) -> bool:
        """Whether an address belongs to the system space or to a shared block."""
        return (
            self.space.holds(address)
            or self._is_alias(address)
            or self.blocks.instance_at(address) is not None
            or self._foreign(Place(address, UNKNOWN)) is not None
        )

    def is_surely_address(self, number: int) -> bool:
        """Whether a number that nothing makes a pointer is the address of such a register."""
        in_system = self.space.sure and self.space.holds(number) and number & 0xFFFFF != 0
        if in_system or self.blocks.instance_at(number) is not None:
            return True
        return may_be_device(number) and self.others.at(number) is not None

    def _is_alias(self, address: int) -> bool:
        return self._has_aliases and is_alias(address)

    @cached_property
    def _has_aliases(self) -> bool:
        """Whether the core, if a header tells which it is, has aliases for bits."""
        cores = self.evaluator.macros.all_of(_CORE)
        core = self.evaluator.number_of_name(_CORE) if len(cores) == 1 else None
        return self.space.has_aliases and core not in _WITHOUT_ALIASES

    def may_be_register(self, name: bytes) -> bool:
        """Whether a namespace or a class has a constant of that name that leads to a register."""
        types = self.evaluator.types
        if name not in types.scoped or name in self.evaluator.macros:
            return False
        if name not in self._scoped:
            self._scoped[name] = any(map(self._leads, self.evaluator.scopes.constants(name)))
        return self._scoped[name]

    def _names_register(self, name: bytes) -> bool:
        if name in self.evaluator.macros.assumed and self.evaluator.types.spelt(name):
            return False  # a class of the project, which knows no such block
        if self.evaluator.keeps_address(name):
            return False  # a variable: where it isn't hidden by another one is a site
        macro = self.evaluator.macros.get(name)
        if macro is None or macro.parameters is None:
            value = self.evaluator.name(name)
        else:
            value = self.evaluator.text(b" ".join(self.evaluator.macros.expanded(macro.text)))
        return self._leads(value)

    def leads(self, value: Value | None) -> bool:
        """Whether a pointer or a place is known to lead to a register, or to memory, that no domain
        owns."""
        match value:
            case Pointer(address=int() as address):
                return self.is_address(address) or self.memory_behind(address) is not None
            case Place(address=int() as address):
                return self.is_address(address) or self.memory_at(address) is not None
        return False

    def _leads(self, value: Value | None) -> bool:
        return self._is_base(value.value) if isinstance(value, Number) else self.leads(value)

    def _is_base(self, number: int) -> bool:
        """A bare number is taken for an address only where a register or a block begins."""
        if number in self.blocks.bases:
            return True
        if self._is_alias(number):  # four letters often are, by chance
            target, _ = aliased(number)
            known = self.blocks.instance_at(target), self.others.at(target)
            return number % 4 == 0 and known != (None, None)
        return self.space.sure and self.space.holds(number) and number & 0xFFFFF != 0
