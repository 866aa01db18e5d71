"""Whether a project is written for another chip than the description's: its headers have blocks of
the same names elsewhere. What is at an address there says nothing of the chip's own block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from composer.chips.chip import Chip
from composer.init.address_names import PERIPHERALS, AddressNames, address_names, written_for
from composer.init.facts import Decision, Use, shown
from porter.execution.mentions import lines_of
from porter.execution.survey import Survey
from porter.source.evaluate import Evaluator
from porter.source.values import Number, Pointer
from scanner.arch.chips import chip as chip_named
from scanner.report.errors import MissingError

_SPELLINGS = ("{}", "{}_BASE")
_ENOUGH = 3  # blocks elsewhere, where neither clocks nor pins are
_SHOWN = 3
_USED = 8  # blocks that are named, each with its first line


@dataclass(frozen=True)
class NamedBlocks:
    """Blocks of the chip's names in the project's headers: `elsewhere` with their addresses there,
    `same` where the chip has them."""

    elsewhere: Mapping[str, int]
    same: frozenset[str]
    names: AddressNames = field(default_factory=AddressNames)
    part: tuple[str, str] = ("", "")  # which chip, and what says so
    is_part: bool = False  # of another family that is known, so that it tells by itself
    used: tuple[Use, ...] = ()  # of `elsewhere`

    @property
    def is_other_chip(self) -> bool:
        """Whether addresses of the project are another chip's."""
        if self.is_part or len(self.names.wrong) >= _ENOUGH:
            return True
        telling = any(name == "RCC" or name.startswith("GPIO") for name in self.elsewhere)
        return telling or len(self.elsewhere) >= _ENOUGH

    def may_be(self, name: str) -> bool:
        """Whether the project means the chip's block by its address."""
        return name in self.same or (not self.is_other_chip and self.names.may_be(name))

    def told(self, chip: Chip) -> list[Decision]:
        """What a person must know first."""
        if not self.is_other_chip:
            return []
        if not self.elsewhere:
            return [self._told_by_names(chip)]
        return [self._told_by_blocks(chip), *self._told_used(chip)]

    def _told_by_blocks(self, chip: Chip) -> Decision:
        first = sorted(self.elsewhere, key=lambda it: (it != "RCC", it))
        places = ", ".join(f"{name} at 0x{self.elsewhere[name]:08X}" for name in first[:_SHOWN])
        more = f" and {len(first) - _SHOWN} more blocks" if len(first) > _SHOWN else ""
        return Decision(
            f"the project is written for another chip{self._which()}: it has {places}{more},"
            f" {chip.name} {first[0]} at 0x{chip.devices[first[0]].base:08X}. Devices, clocks"
            " and pins that it doesn't have at the same address under the same name were left"
            " out: change its drivers, and write them by hand"
        )

    def _told_used(self, chip: Chip) -> Iterator[Decision]:
        if self.used:
            more = f" and {len(self.used) - _USED} more" if len(self.used) > _USED else ""
            names = ", ".join(f"{it.name} ({it.places[0]})" for it in self.used[:_USED])
            yield Decision(
                f"by name the project uses {names}{more}, which {chip.name} has elsewhere, and"
                " perhaps otherwise: add <device> for each that its changed drivers will use"
            )

    def _which(self) -> str:
        name, by = self.part
        return f", {name} by {by}" if name else ""

    def _told_by_names(self, chip: Chip) -> Decision:
        first = [*self.names.wrong.items()][:_SHOWN]
        places = ", ".join(f"{name} where {chip.name} has {device}" for device, name in first)
        more = len(self.names.wrong) - len(first)
        found = f": it has {places}{f' and {more} more' if more else ''}" if places else ""
        return Decision(
            f"the project is written for another chip{self._which()}{found}. What"
            f" {chip.name} has at its addresses was left out: change its drivers, and write"
            " devices, clocks and pins by hand"
        )


def named_blocks(survey: Survey, chip: Chip) -> NamedBlocks:
    """What the headers of a project say."""
    macros = survey.program.macros
    found = {
        name: at
        for name, device in chip.devices.items()
        if device.base in PERIPHERALS and (at := _address(name, macros)) is not None
    }
    same = {
        name
        for name, at in found.items()
        if chip.devices[name].base <= at < chip.devices[name].base + chip.devices[name].size
    }
    elsewhere = {name: at for name, at in found.items() if name not in same}
    part = written_for(survey, chip)
    return NamedBlocks(
        elsewhere,
        frozenset(same),
        address_names(survey, chip),
        part,
        _is_known(part[0]) and not part[0].lower().startswith(chip.family),
        tuple(_used(survey, chip, elsewhere)),
    )


def _is_known(part: str) -> bool:
    """Whether a part is one of Arm's, and nothing on the board that is called alike."""
    try:
        return chip_named(part).core is not None
    except MissingError:
        return False


def _used(survey: Survey, chip: Chip, elsewhere: Mapping[str, int]) -> Iterator[Use]:
    for name, at in sorted(elsewhere.items()):
        lines = lines_of(survey.reach.addresses, at, chip.devices[name].size)
        if lines and not chip.devices[name].nobody:
            yield Use(name, tuple(dict.fromkeys(shown(it, survey.root) for it in lines)))


def _address(name: str, evaluator: Evaluator) -> int | None:
    for spelling in _SPELLINGS:
        match evaluator.name(spelling.format(name).encode("ascii")):
            case Number(value=address) | Pointer(address=int() as address) if (
                address in PERIPHERALS
            ):
                return address
    return None
