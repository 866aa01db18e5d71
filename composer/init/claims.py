"""Who keeps what several projects use, or what hangs together in hardware: who is named first.

What hangs together is `compose`'s rule (docs/system-description.md, "What hangs together").
"""

from __future__ import annotations

from dataclasses import dataclass

from composer.chips.chip import Chip
from composer.init.facts import Decision, Line, PinUse, Places, ProjectFacts, Use


@dataclass(frozen=True)
class Lost:
    """What a machine uses and can't have. `tied` says how it hangs together with what `owner` has;
    "": it is the same thing. `instead`: devices of its kind that are free."""

    what: str
    owner: str
    owner_places: Places
    places: Places
    devices: tuple[Use, ...]
    lines: tuple[Line, ...]
    pins: tuple[PinUse, ...]
    tied: str = ""
    instead: tuple[str, ...] = ()


def lost_decision(lost: Lost) -> Decision:
    """A conflict in words."""
    here, there = ", ".join(lost.places), ", ".join(lost.owner_places)
    if lost.tied:
        return Decision(f"{lost.what} is used here ({here}), but {lost.tied}", lost.places)
    text = f"{lost.what} is used here ({here}) and by {lost.owner} ({there}), which keeps it"
    return Decision(text, lost.places)


@dataclass(frozen=True)
class _End:
    """Something that a project may not have if another one has `name`: `tied` with who has it."""

    kind: str
    name: str
    before: str = ""
    behind: str = ""

    def tied(self, owner: ProjectFacts) -> str:
        """How the two hang together; "" for the same thing."""
        if not self.before:
            return ""
        whose = f"{self.name} of {owner.name} ({', '.join(self.places(owner))})"
        return f"{self.before} {whose}{self.behind}"

    def places(self, owner: ProjectFacts) -> Places:
        """Where its owner uses it."""
        uses: dict[str, tuple[Use | Line | PinUse, ...]] = {
            "device": owner.devices, "line": owner.lines, "pin": owner.pins
        }  # fmt: skip
        return next(use.places for use in uses[self.kind] if use.name == self.name)


class Claims:
    """Whose everything is; projects claim in turn."""

    def __init__(self, chip: Chip) -> None:
        self._chip = chip
        self._owners: dict[tuple[str, str], ProjectFacts] = {}

    def lost_by(self, project: ProjectFacts) -> tuple[Lost, ...]:
        """What a project can't have; all else is its own from now on."""
        lost: list[Lost] = []
        for device in project.devices:
            if found := self._keeper(self._ends_of_device(device.name), project):
                lost.append(self._device(device, project, *found))
        for line in project.lines:
            gone = {other.name for one in lost for other in one.lines}
            if found := self._keeper(self._ends_of_line(line.name), project, line.name in gone):
                owner, end = found
                where = (owner.name, end.places(owner), line.places)
                lost.append(
                    Lost(f"interrupt {line.name}", *where, (), (line,), (), end.tied(owner))
                )
        for pin in project.pins:
            gone = {other.name for one in lost for other in one.pins}
            if found := self._keeper(self._ends_of_pin(pin.name), project, pin.name in gone):
                owner, end = found
                where = (owner.name, end.places(owner), pin.places)
                lost.append(Lost(f"pin {pin.name}", *where, (), (), (pin,), end.tied(owner)))
        return tuple(lost)

    def is_alone(self, name: str) -> bool:
        """Whether a device shares no line and depends on no other."""
        device = self._chip.devices[name]
        lines = (self._chip.raisers(line) for line in device.interrupts)
        return not device.depends and all(len(raisers) == 1 for raisers in lines)

    def _keeper(
        self, ends: list[_End], project: ProjectFacts, gone: bool = False
    ) -> tuple[ProjectFacts, _End] | None:
        """Who keeps the first of the ends from a project; it is the project's if nobody does. What
        is gone already, with the device that it is of, is neither."""
        for end in ends:
            owner = self._owners.get((end.kind, end.name), project)
            if owner is not project:
                return None if gone else (owner, end)
        if not gone:
            self._owners[ends[0].kind, ends[0].name] = project
        return None

    def _ends_of_device(self, name: str) -> list[_End]:
        device = self._chip.devices[name]
        needed = device.depends.items()
        needing = [
            (d.name, d.depends[name]) for d in self._chip.devices.values() if name in d.depends
        ]
        return [
            _End("device", name),
            *(_End("device", other, "it depends on", f": {why}") for other, why in needed),
            *(_End("device", other, "it decides about", f": {why}") for other, why in needing),
            *(_End("line", line, "it can raise interrupt") for line in device.interrupts),
            *(_End("pin", pin, "it can drive pin") for pin in device.drives),
        ]

    def _ends_of_line(self, name: str) -> list[_End]:
        raisers = self._chip.raisers(name)
        return [
            _End("line", name),
            *(_End("device", block.name, "it can be raised by") for block in raisers),
        ]

    def _ends_of_pin(self, name: str) -> list[_End]:
        drivers = [d.name for d in self._chip.devices.values() if name in d.drives]
        return [
            _End("pin", name),
            *(_End("device", driver, "it can be driven by") for driver in drivers),
        ]

    def _device(self, device: Use, project: ProjectFacts, owner: ProjectFacts, end: _End) -> Lost:
        """A device that is lost, with its lines, and its pins that the owner has too or nobody."""
        of_device = self._chip.devices[device.name].interrupts
        lines = tuple(line for line in project.lines if line.name in of_device)
        pins = tuple(
            pin
            for pin in project.pins
            if self._carries(pin, device.name)
            and self._owners.get(("pin", pin.name), owner if end.before else None) is owner
        )
        where = (owner.name, end.places(owner), device.places)
        return Lost(device.name, *where, (device,), lines, pins, end.tied(owner))

    def _carries(self, pin: PinUse, device: str) -> bool:
        """Whether a pin is set up for a signal of a device."""
        signals = self._chip.pins[pin.name].get(str(pin.alternate), [])
        return any(signal.startswith(f"{device}_") for signal in signals)
