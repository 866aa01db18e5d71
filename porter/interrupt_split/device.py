"""The block whose interrupt is split: which lvalues are its registers."""

from __future__ import annotations

from dataclasses import dataclass

from porter.interrupt_split.register_classes import RegisterClass, class_of, name_at, plain_name
from porter.project.domain import Split
from porter.registers.bit_band import aliased, is_alias
from porter.registers.system_space import in_system_space
from porter.source.c_types import CType
from porter.source.evaluate import Evaluator
from porter.source.values import Place, Pointer

_PERIPHERALS = (0x4000_0000, 0x6000_0000)
_WIDTHS = (1, 2, 4)


@dataclass(frozen=True)
class DeviceRegister:
    """A register: `width` in bytes is that of the access."""

    name: str
    address: int
    width: int
    kind: RegisterClass
    plain: str = ""
    """The name without that of the block in front, as the table of classes has it."""


class Device:
    """Registers of one block under the names of one translation unit."""

    def __init__(self, split: Split, chip: str, evaluator: Evaluator) -> None:
        self.split = split
        self._chip = chip
        self.evaluator = evaluator
        self._struct, self._fields = self._described()

    def _described(self) -> tuple[bytes, dict[int, str]]:
        """The struct of the block and the names of its fields, if the project has them."""
        value = self.evaluator.name(self.split.device.encode())
        if not isinstance(value, Pointer) or value.address != self.split.base:
            return b"", {}
        members = self.evaluator.types.members(value.type)
        names = {m.offset: n.decode("latin-1") for n, m in members.items() if not m.part}
        return value.type.name, names

    @property
    def struct(self) -> bytes:
        """Its type in the project; b"" if it has none."""
        return self._struct

    def holds(self, address: int) -> bool:
        """Whether an address is one of the block's."""
        return self.split.base <= address < self.split.base + self.split.size

    def register(self, value: Place) -> DeviceRegister | None:
        """The register that an lvalue is; None for anything else, also for an unknown index."""
        if value.address is None or value.span or not value.exact or not self.holds(value.address):
            return None
        name = self._name(value)
        width = value.type.size if value.type.size in _WIDTHS else 4
        device = self.split.device
        return DeviceRegister(
            name, value.address, width, class_of(device, name), plain_name(device, name)
        )

    def written(self, value: Place) -> str:
        """`DEVICE->REGISTER`, where the project has names for both; else ""."""
        if not value.member or value.owner != self._struct:
            return ""
        if value.member not in self.evaluator.types.members(CType("struct", 0, value.owner)):
            return ""
        return f"{self.split.device}->{value.member.decode('latin-1')}"

    def by_offset(self, name: str) -> DeviceRegister | None:
        """The register of a name that the project doesn't know."""
        for offset in range(0, 0x80, 4):
            if name_at(self.split.device, self._chip, offset) == name:
                kind = class_of(self.split.device, name)
                return DeviceRegister(name, self.split.base + offset, 4, kind, name)
        return None

    def _name(self, value: Place) -> str:
        address = value.address or 0
        offset = address - self.split.base
        if value.member:
            owner = self.evaluator.types.members(CType("struct", 0, value.owner))
            field = owner.get(value.member)
            name = value.member.decode("latin-1")
            if field is not None and field.type.kind == "array" and field.type.target is not None:
                size = field.type.target.size or 1
                return f"{name}_{(offset - field.offset) // size}"
            return name
        known = self._fields.get(offset) or name_at(self.split.device, self._chip, offset)
        return known or f"R{offset:02X}"

    def is_hardware(self, value: Place) -> bool:
        """Whether an lvalue may be a register that is none of ours, or one that can't be told."""
        if value.address is None:
            return self.may_be_ours(value)
        inside = _PERIPHERALS[0] <= value.address < _PERIPHERALS[1]
        return inside or in_system_space(value.address)

    def may_be_ours(self, value: Place) -> bool:
        """Whether an lvalue is reached through a pointer that may lead to this block."""
        if value.address is None:
            return bool(self._struct) and value.owner == self._struct
        if is_alias(value.address):
            return self.holds(aliased(value.address)[0])
        return bool(value.span or not value.exact) and self.holds(value.address)

    def named_by(self, value: Place) -> DeviceRegister | None:
        """The register that a field is if the pointer before it leads to this block."""
        if not value.member or value.part or value.owner != self._struct:
            return None
        field = self.evaluator.types.members(CType("struct", 0, value.owner)).get(value.member)
        if field is None or field.part:
            return None
        # Within the first element of an array of registers it may be any.
        address = self.split.base + field.offset
        if field.type.kind != "scalar":
            return None
        return self.register(Place(address, value.type, value.owner, value.member))

    def aliased(self, value: Place) -> DeviceRegister | None:
        """The register of which a bit-band alias is one bit."""
        if value.address is None or not is_alias(value.address):
            return None
        plain = Place(aliased(value.address)[0], CType("scalar", 4, b"uint32_t"))
        return self.register(plain)
