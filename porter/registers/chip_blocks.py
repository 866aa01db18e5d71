"""Blocks of the chip that no domain owns (clocks, pins, power, flash control) and the watchdogs.

A block is known by the address that the project's own headers give to its name, else by the
family's memory map; a register by its field of the block's struct, else by its offset.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from porter.registers.register import Register
from porter.registers.shared_blocks import is_device
from porter.source.c_types import CType
from porter.source.evaluate import Evaluator
from porter.source.values import Number, Place, Pointer

STM32_BLOCK = re.compile(
    rb"(GPIO[A-Z]|RCC|FLASH|FLASH_R|PWR|SYSCFG|AFIO|EXTI|IWDG[12]?|WWDG[12]?)(_BASE)?"
)
_OPENCM3_PORT = re.compile(rb"GPIO_PORT_([A-Z])_BASE")
# A register's own macro, by the manual's name for it: its address tells where the block is.
_REGISTER = re.compile(
    rb"(GPIO[A-K])_(?:CRL|CRH|MODER|OTYPER|OSPEEDR|PUPDR|IDR|ODR|BSRR[LH]?|BRR|LCKR|AFR[LH])"
    rb"|(RCC)_(?:CR|CFGR2?|CIR|PLLCFGR|BDCR|CSR|A[HP]B\d?(?:ENR|RSTR)\d?)"
    rb"|(FLASH)_(?:ACR|KEYR|OPTKEYR)"
)
# Nordic's blocks begin where ST's do, and none of them has a name of ST's.
_NORDIC = re.compile(rb"NRF_(?:P\d|GPIO|CLOCK|POWER|RADIO|FICR|RTC\d|TIMER\d|S?AA?DC|UARTE?\d?)")
_BLOCK_SIZE = 0x400
# FLASH_BASE is the memory; the register block is FLASH_R_BASE.
_NOT_A_BLOCK = frozenset({b"FLASH_BASE"})

_STM32F4_BASES = {
    **{f"GPIO{chr(65 + n)}": 0x40020000 + 0x400 * n for n in range(11)},
    "RCC": 0x40023800,
    "FLASH": 0x40023C00,
    "PWR": 0x40007000,
    "SYSCFG": 0x40013800,
    "EXTI": 0x40013C00,
    "IWDG": 0x40003000,
    "WWDG": 0x40002C00,
}
_ANY = re.compile(rb"\w+")
_ASSUMED_PORTS = range(0x4002_0000, 0x4002_2C00)
# Where ports with CRL and CRH are, on APB2 (RM0008, table 3).
_OLD_PORTS = range(0x4001_0800, 0x4001_2400)
_F1_RCC = 0x4002_1000
# What an ST header's struct of a block has among its fields. Other vendors have blocks of such
# names: GPIOA of Kinetis, FLASH of LPC55, SYSCFG of EFM32.
_FIELDS = {
    "GPIO": {b"MODER", b"OTYPER", b"CRL", b"CRH", b"BSRR", b"BSRRL"},
    "FLASH": {b"ACR"},
    "FLASH_R": {b"ACR"},
    "PWR": {b"CR", b"CR1", b"CSR"},
    "SYSCFG": {b"MEMRMP", b"MEMRM", b"EXTICR", b"PMC", b"CFGR1"},
    "AFIO": {b"MAPR", b"EVCR", b"EXTICR"},
    "EXTI": {b"IMR", b"IMR1", b"RTSR", b"RTSR1"},
    "IWDG": {b"KR", b"PR", b"RLR"},
    "WWDG": {b"CFR"},
}
# Where the ports of ST's families and of those who copied them are.
_PORTS = (
    range(0x4001_0800, 0x4001_2400), range(0x4002_0000, 0x4002_2C00),
    range(0x4202_0000, 0x4202_2C00), range(0x4602_0000, 0x4602_0400),
    range(0x4800_0000, 0x4800_2000), range(0x5000_0000, 0x5000_2000),
    range(0x5202_0000, 0x5202_2C00), range(0x5802_0000, 0x5802_2C00),
)  # fmt: skip
# These blocks have the same addresses on both (RM0090 and RM0410, table 1).
_FAMILY_BASES = {"STM32F4": _STM32F4_BASES, "STM32F7": _STM32F4_BASES}
_OFFSETS: dict[str, dict[int, str]] = {
    "GPIO": {
        0x00: "MODER", 0x04: "OTYPER", 0x08: "OSPEEDR", 0x0C: "PUPDR", 0x10: "IDR", 0x14: "ODR",
        0x18: "BSRR", 0x1A: "BSRRH", 0x1C: "LCKR", 0x20: "AFR", 0x24: "AFR", 0x28: "BRR",
    },
    "GPIO of STM32F1": {
        0x00: "CRL", 0x04: "CRH", 0x08: "IDR", 0x0C: "ODR", 0x10: "BSRR", 0x14: "BRR",
        0x18: "LCKR",
    },
    "IWDG": {0x00: "KR", 0x04: "PR", 0x08: "RLR", 0x0C: "SR", 0x10: "WINR"},
    "FLASH": {0x00: "ACR"},
    "RCC of STM32F1": {
        0x00: "CR", 0x04: "CFGR", 0x08: "CIR", 0x0C: "APB2RSTR", 0x10: "APB1RSTR", 0x14: "AHBENR",
        0x18: "APB2ENR", 0x1C: "APB1ENR", 0x20: "BDCR", 0x24: "CSR", 0x28: "AHBRSTR", 0x2C: "CFGR2",
    },
    "RCC of STM32F4": {
        0x00: "CR", 0x04: "PLLCFGR", 0x08: "CFGR", 0x0C: "CIR", 0x10: "AHB1RSTR", 0x14: "AHB2RSTR",
        0x18: "AHB3RSTR", 0x20: "APB1RSTR", 0x24: "APB2RSTR", 0x30: "AHB1ENR", 0x34: "AHB2ENR",
        0x38: "AHB3ENR", 0x40: "APB1ENR", 0x44: "APB2ENR", 0x50: "AHB1LPENR", 0x54: "AHB2LPENR",
        0x58: "AHB3LPENR", 0x60: "APB1LPENR", 0x64: "APB2LPENR", 0x70: "BDCR", 0x74: "CSR",
        0x80: "SSCGR", 0x84: "PLLI2SCFGR",
    },
}  # fmt: skip


def block_kind(instance: str) -> str:
    """GPIO of GPIOA, IWDG of IWDG1."""
    return "GPIO" if instance.startswith("GPIO") else instance.rstrip("12")


def is_foreign(name: bytes, evaluator: Evaluator) -> bool:
    """Whether a block of an ST chip's name is another vendor's: its struct has none of the fields
    that ST's has, and it isn't where ST's is."""
    match = STM32_BLOCK.fullmatch(name)
    if match is None:
        return False
    instance = match.group(1)
    value = evaluator.name(instance)
    kind = block_kind(instance.decode())
    at = value.address if isinstance(value, Pointer) else None
    if not isinstance(value, Pointer) or value.type.kind != "struct":
        base = evaluator.number_of_name(instance + b"_BASE")
        return kind == "GPIO" and base is not None and not any(base in it for it in _PORTS)
    fields = {field.upper() for field in evaluator.types.members(value.type)}
    known = _FIELDS.get(kind)
    usual = _STM32F4_BASES.get(instance.decode().removesuffix("_R"))
    is_usual = at is not None and (at == usual or (kind == "GPIO" and at in _OLD_PORTS))
    return known is not None and bool(fields) and not fields & known and not is_usual


def _may_be_of(family: Mapping[str, int], evaluator: Evaluator) -> bool:
    """Whether a project that names no block as ST does may be for a chip of a family: where that
    has a block, the project has no struct of a name of its own with other fields."""
    kinds = {base: block_kind(instance) for instance, base in family.items()}
    for name in evaluator.macros.matching(_ANY):
        macro = evaluator.macros.get(name)
        if macro is None or macro.parameters is not None or b"*" not in macro.text:
            continue
        value = evaluator.name(name)
        kind = kinds.get(value.address or 0) if isinstance(value, Pointer) else None
        if kind is None or not isinstance(value, Pointer) or value.type.kind != "struct":
            continue
        fields = {field.upper() for field in evaluator.types.members(value.type)}
        known = _FIELDS.get(kind)
        if known is not None and fields and not fields & known:
            return False
    return True


class ChipBlocks:
    """The blocks under the names of one translation unit. `others`: addresses of which its headers
    say that another vendor's registers are there; `is_arm`: no chip of ST's has another core."""

    def __init__(
        self,
        evaluator: Evaluator,
        chip: str | None,
        others: Collection[int] = (),
        is_arm: bool = True,
    ) -> None:
        self.bases: dict[int, str] = {}
        self._structs: dict[bytes, str] = {}
        self._told: dict[int, str] | None = None  # what the project says, before assumptions
        self._has_foreign = not is_arm or any(at in _ASSUMED_PORTS for at in others)
        self._has_foreign |= bool(evaluator.macros.matching(_NORDIC))
        # The names are STM32's: other chips have other blocks at these addresses.
        if (chip or "STM32").startswith("STM32"):
            names = [
                name
                for pattern in (STM32_BLOCK, _OPENCM3_PORT)
                for name in evaluator.macros.matching(pattern)
            ]
            assumed = evaluator.macros.assumed
            for name in evaluator.macros.matching(_REGISTER):
                if name not in assumed:
                    self._note_register(name, evaluator)
            for name in sorted(names, key=lambda name: name in assumed):
                if name in assumed and self._told is None:
                    self._told = dict(self.bases)
                    if not self._told and not _may_be_of(_STM32F4_BASES, evaluator):
                        self._has_foreign = True
                self._note(name, evaluator, name in assumed)
        of_family = next(
            (bases for key, bases in _FAMILY_BASES.items() if (chip or "").startswith(key)), {}
        )
        told = self.bases if self._told is None else self._told
        # A project that was written for another chip has other blocks there.
        self._is_family = bool(of_family) and all(
            of_family.get(instance, base) == base for base, instance in told.items()
        )
        if self._is_family and not told and not _may_be_of(of_family, evaluator):
            self._is_family = False
        if self._is_family:
            for instance, base in of_family.items():
                self.bases.setdefault(base, instance)
        self._old_gpio = b"GPIO_CRL" in evaluator.macros or b"GPIO_CRL_MODE" in evaluator.macros
        self.fields: dict[bytes, set[str]] = {}
        for struct, kind in self._structs.items():
            for field in evaluator.types.members(CType("struct", 0, struct)):
                self.fields.setdefault(field, set()).add(kind)

    def _note(self, name: bytes, evaluator: Evaluator, is_assumed: bool) -> None:
        match = STM32_BLOCK.fullmatch(name)
        port = _OPENCM3_PORT.fullmatch(name)
        if (match is None and port is None) or name in _NOT_A_BLOCK:
            return
        if not is_assumed and is_foreign(name, evaluator):
            self._has_foreign = True
            return
        value = evaluator.name(name)
        if match is not None:
            instance = match.group(1).decode().removesuffix("_R")
        else:
            instance = "GPIO" + (port.group(1).decode() if port else "")
        if isinstance(value, Number) and value.value >= 0x4000_0000:
            self.bases.setdefault(value.value, instance)
        elif isinstance(value, Pointer) and value.address is not None:
            if not is_assumed or self._may_assume(instance):
                self.bases.setdefault(value.address, instance)
            if value.type.kind == "struct":
                self._structs[value.type.name] = block_kind(instance)

    def _note_register(self, name: bytes, evaluator: Evaluator) -> None:
        match, value = _REGISTER.fullmatch(name), evaluator.name(name)
        at = value.address if isinstance(value, Place | Pointer) else None
        if isinstance(value, Number):
            at = value.value
        if match is not None and at is not None and is_device(at):
            instance = next(it for it in match.groups() if it is not None)
            self.bases.setdefault(at & ~(_BLOCK_SIZE - 1), instance.decode())

    def _may_assume(self, instance: str) -> bool:
        """Whether a block that the project doesn't tell of may be where most have it: none that it
        tells of is elsewhere, and who tells of a port tells of all."""
        told = (self._told or {}).items()
        has_ports = any(name.startswith("GPIO") for _, name in told)
        if self._has_foreign or (has_ports and instance.startswith("GPIO")):
            return False
        return all(_STM32F4_BASES.get(name, address) == address for address, name in told)

    def base_of(self, instance: str) -> int | None:
        """Address of a block, as far as somebody has said which chip it is."""
        is_told = self._is_family or self._told is None or bool(self._told)
        return self._begin(instance) if is_told else None

    def _begin(self, instance: str) -> int | None:
        return next((base for base, name in self.bases.items() if name == instance), None)

    def instance_at(self, address: int) -> str | None:
        """The block whose first byte is at an address or that holds it."""
        return self.bases.get(address) or self.bases.get(address & ~(_BLOCK_SIZE - 1))

    def kind_of_struct(self, name: bytes) -> str | None:
        """The kind of block that a struct type describes."""
        return self._structs.get(name)

    def is_doubtful(self, place: Place) -> bool:
        """Whether what is at an address is described by a struct of another block's than the one
        that a header, perhaps of another chip, has there: UART1 of one and SYSCFG of the other."""
        instance = self.instance_at(place.address) if place.address is not None else None
        if self._is_family or instance is None or not place.owner or place.owner in self._structs:
            return False
        return block_kind(instance) in self._structs.values()

    def identify(self, place: Place) -> Register | None:
        """The shared register an lvalue is, or None."""
        described = self.kind_of_struct(place.owner)
        instance = self.instance_at(place.address) if place.address is not None else None
        if described is not None:
            # The struct says more than an address that another chip's header may have given.
            same = instance is not None and block_kind(instance) == described and place.exact
            return Register(
                described,
                self._name(described, place, instance if same else None),
                0 if same else None,
                instance if same else None,
            )
        if instance is None or place.address is None:
            return None
        kind = block_kind(instance)
        known = instance if place.exact else None  # an unknown offset may lead to another block
        if place.span and not place.member:  # any of its registers
            return Register(kind, "+?", 0, known)
        base = self._begin(instance)
        offset = place.address - (base or 0)
        name = self._name(kind, place, instance) if place.member else ""
        otherwise = self._table(kind, base).get(offset, f"+0x{offset:02X}")
        return Register(kind, name or otherwise, 0, known)

    def _table(self, kind: str, base: int | None) -> dict[int, str]:
        if kind == "RCC":  # other families have other registers at other addresses
            if base == _STM32F4_BASES["RCC"]:
                return _OFFSETS["RCC of STM32F4"]
            has_old_ports = self._old_gpio or any(at in _OLD_PORTS for at in self.bases)
            is_f1 = base == _F1_RCC and has_old_ports
            return _OFFSETS["RCC of STM32F1"] if is_f1 else {}
        is_old = self._old_gpio or (base is not None and base in _OLD_PORTS)
        return _OFFSETS.get("GPIO of STM32F1" if kind == "GPIO" and is_old else kind, {})

    def _name(self, kind: str, place: Place, instance: str | None) -> str:
        """The manual's name of a register that a project's own struct may name otherwise: in small
        letters, or as it likes where the address tells."""
        member = place.member.decode()
        base = self._begin(instance) if instance is not None else None
        table = self._table(kind, base)
        spelt = member.upper() if member.islower() else member
        if spelt in table.values() or not place.exact or place.span:
            return spelt  # a span: the struct that is known has no such field
        offset = None if base is None or place.address is None else place.address - base
        return spelt if offset is None else table.get(offset, spelt)
