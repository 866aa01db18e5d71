"""Which blocks of the chip a project uses, and which clocks it switches on."""

from __future__ import annotations

from composer.chips.chip import Chip
from composer.init.facts import Decision, Places, Use, device_at, shown
from composer.init.other_chip import NamedBlocks
from porter.execution.mentions import lines_of
from porter.execution.program import Where
from porter.execution.survey import Survey
from porter.execution.words import as_word

_MASTERS = "a bus master"
_MOST_PLACES = 3
_BLOCKS, _BLOCK_BYTES = range(0x4000_0000, 0xE000_0000), 1024
"""Peripherals, in memory or in front of it (Armv7-M ARM, B3.1), and what a block mostly takes."""


def uses_of(
    survey: Survey, chip: Chip, named: NamedBlocks
) -> tuple[list[Use], list[Use], list[Decision]]:
    """Devices, clocks, and what a person must decide about them."""
    clocks = [use for use in _clocks(survey, chip) if named.may_be("RCC")]
    clocked = {use.name for use in clocks}
    run = _run(survey, chip)
    devices: list[Use] = []
    decisions: list[Decision] = []
    for name, device in chip.devices.items():
        mentioned = lines_of(survey.reach.addresses, device.base, device.size)
        places = _places(survey, mentioned or run.get(name, []))
        if not places:
            continue
        if not named.may_be(name):
            called = named.names.of(name)
            if called or (not device.nobody and device.kind not in ("flash", "ram")):
                decisions.append(
                    Decision(
                        f"{chip.name} has {name} at 0x{device.base:08x}, where the project's own"
                        f" chip has something else{f', {called}' if called else ''}: left out; the"
                        " project is for another chip: name the device that takes its part",
                        places,
                    )
                )
            continue
        if device.nobody:
            if device.nobody.startswith(_MASTERS) or device.kind == "wwdg":
                decisions.append(Decision(f"{name} can't be granted: {device.nobody}", places))
            continue
        if device.kind in ("flash", "ram"):
            continue
        if device.enable is not None and name not in clocked and name not in run:
            decisions.append(
                Decision(
                    f"{name} is mentioned, but its clock is never switched on and it wasn't seen to"
                    f' be used: left out, else add <device name="{name}"/> and its clock',
                    places,
                )
            )
            continue
        if device.enable is not None and name not in clocked and _alone(chip, name):
            decisions.append(
                Decision(f"{name} is used, but nothing was seen to switch its clock on", places)
            )
        devices.append(Use(name, places))
    used = {use.name for use in devices}
    for use in clocks:
        if use.name not in used:
            decisions.append(
                Decision(f"the clock of {use.name} is switched on, but nothing uses it", use.places)
            )
    decisions += _elsewhere(survey, chip)
    return devices, [use for use in clocks if use.name in used], decisions


def _elsewhere(survey: Survey, chip: Chip) -> list[Decision]:
    """Registers that are written where this chip, other than the project's own, has nothing."""
    found: dict[int, list[Where]] = {}
    for write in survey.record.writes:
        if write.address in _BLOCKS and device_at(chip, write.address) is None:
            found.setdefault(write.address - write.address % _BLOCK_BYTES, []).append(write.where)
    return [
        Decision(
            f"no block of {chip.name} is known at 0x{base:08x}, and what is written there does"
            " nothing here: choose one that can take its place, and change the project",
            _places(survey, lines),
        )
        for base, lines in sorted(found.items())
    ]


def _alone(chip: Chip, name: str) -> bool:
    """Whether no other block has the same clock."""
    enable = chip.devices[name].enable
    return sum(device.enable == enable for device in chip.devices.values()) == 1


def _run(survey: Survey, chip: Chip) -> dict[str, list[Where]]:
    """Lines of the run that read or wrote registers, by device."""
    found: dict[str, list[Where]] = {}
    for write in survey.record.writes:
        name = device_at(chip, write.address)
        if name is not None:
            found.setdefault(name, []).append(write.where)
    for address, where in survey.record.reads.items():
        name = device_at(chip, address)
        if name is not None:
            found.setdefault(name, []).append(where)
    return found


def _clocks(survey: Survey, chip: Chip) -> list[Use]:
    """Clocks that are on at some time, of blocks that a domain may own."""
    found = []
    for name, device in chip.devices.items():
        if device.enable is None or device.nobody or device.kind in ("flash", "ram"):
            continue
        address, bit = device.enable
        places = [
            write.where
            for write in survey.record.to(address)
            if write.touched >> bit & 1
            and (word := as_word(write.value)) is not None
            and word.known >> bit & word.value >> bit & 1
        ]
        if places:
            found.append(Use(name, _places(survey, places)))
    return found


def _places(survey: Survey, lines: list[Where]) -> Places:
    names = {(str(where.file), where.line): shown(where, survey.root) for where in lines}
    return tuple(names[key] for key in sorted(names))[:_MOST_PLACES]
