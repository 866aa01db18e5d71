"""What a project calls the addresses of the chip's blocks, and whether those names fit them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from composer.chips.chip import Chip, Device
from porter.execution.mentions import lines_of
from porter.execution.survey import Survey
from porter.source.values import Number, Place, Pointer

PERIPHERALS = range(0x4000_0000, 0x6000_0000)  # peripherals (Armv7-M ARM, B3.1)
_PLACE = re.compile(rb"\*|0[xX][45][0-9a-fA-F]{7}")
_PART = re.compile(r"[A-Za-z]{2,5}\d+[A-Za-z]{1,2}\d[0-9A-Za-z]{2,}")  # TM4C123GH6PM
# What other makers, and people, call a kind of block; its own names are in the chip's data.
_ALSO = {"gpio": ("PORT", "PIO"), "usart": ("UART", "LPUART", "SERIAL"), "i2c": ("TWI",),
         "timer": ("TIMER", "PWM"), "otg": ("USB", "OTG"), "sdmmc": ("SDMMC", "MMC"),
         "iwdg": ("WDT", "WDOG"), "wwdg": ("WDT", "WDOG"), "eth": ("EMAC",)}  # fmt: skip


@dataclass(frozen=True)
class AddressNames:
    """Names of blocks in use, by the chip's device there: `wrong` name another kind of block and
    none fits, `own` say nothing of any kind. Each is
    `NAME at 0xADDRESS`."""

    wrong: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)

    def of(self, device: str) -> str | None:
        """The project's name for what the chip has as this device, and where, unless it fits."""
        return self.wrong.get(device) or self.own.get(device)

    def may_be(self, device: str) -> bool:
        """Whether the names allow a device. One that says nothing does until others contradict."""
        return device not in self.wrong and not (self.wrong and device in self.own)


def address_names(survey: Survey, chip: Chip) -> AddressNames:
    """What the project's macros call the blocks that its code uses."""
    used = {name: device for name, device in chip.devices.items() if _is_used(survey, device)}
    kinds = _words(chip.devices.values())
    wrong: dict[str, str] = {}
    own: dict[str, str] = {}
    named = _named_addresses(survey)
    for name, device in used.items():
        inside = {it: at for it, at in named if device.base <= at < device.base + device.size}
        if not inside or any(_says(it, kinds[device.kind] | {name}) for it in inside):
            continue
        others = [it for it in inside if any(_says(it, words) for words in kinds.values())]
        first = (others or [*inside])[0]
        (wrong if others else own)[name] = f"{first} at 0x{inside[first]:08X}"
    return AddressNames(wrong, own)


def written_for(survey: Survey, chip: Chip) -> tuple[str, str]:
    """The part that -D options or, if none, names of headers tell, and which of them; else ""."""
    options = {it for unit in survey.build.units.values() for it in unit.defines}
    defined = {it.partition("=")[0].removeprefix("PART_").strip("_") for it in options}
    headers = {path.stem for unit in survey.program.units for path, _ in unit.places
               if path.suffix == ".h"}  # fmt: skip
    for names, by in ((defined, "its -D options"), (headers, "its headers")):
        others = {it for it in names if _PART.fullmatch(it) and not _is_part_of(it, chip)}
        parts = sorted(others, key=lambda it: (-len(it), it))
        if parts:
            return parts[0], by
    return "", ""


def _is_part_of(part: str, chip: Chip) -> bool:
    """Whether a part's name, mostly one for several packages, is that of the chip itself."""
    return chip.name.upper().startswith(part.upper().rstrip("X"))


def _is_used(survey: Survey, device: Device) -> bool:
    inside = range(device.base, device.base + device.size)
    return (
        bool(lines_of(survey.reach.addresses, device.base, device.size))
        or any(write.address in inside for write in survey.record.writes)
        or any(address in inside for address in survey.record.reads)
    )


def _words(devices: Iterable[Device]) -> dict[str, set[str]]:
    """What blocks of each kind are called, without their numbers and letters."""
    words: dict[str, set[str]] = {}
    for device in devices:
        plain = device.name[:-1] if device.kind == "gpio" else device.name.partition("_")[0]
        known = words.setdefault(device.kind, set(_ALSO.get(device.kind, ())))
        known.add(plain.rstrip("0123456789"))
    return words


def _says(name: str, words: Iterable[str]) -> bool:
    """Whether a name has one of the words as a part, with a number or a letter behind it or not."""
    return any(
        re.search(rf"(?<![A-Z]){word}(?:\d*[A-Z]?|[A-Z]\d*)(?![A-Z])", name.upper())
        for word in words
    )


def _named_addresses(survey: Survey) -> list[tuple[str, int]]:
    """Macros that stand for an address or for what is there."""
    evaluator = survey.program.macros
    found = []
    for name in sorted(evaluator.macros):
        macro = evaluator.macros.get(name)
        if macro is None or macro.parameters is not None:
            continue
        if not name.endswith(b"_BASE") and not any(_PLACE.match(text) for text in macro.text):
            continue
        match evaluator.name(name):
            case (
                Number(value=address)
                | Pointer(address=int() as address)
                | Place(address=int() as address)
            ) if address in PERIPHERALS:
                found.append((name.decode("latin-1"), address))
    return found
