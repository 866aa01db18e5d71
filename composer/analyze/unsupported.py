"""What a project does that no virtual machine offers, or not on the chip that it shall move to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from composer.analyze.devices import is_dma
from composer.analyze.model import BuildFacts, ChipFacts, Device, Stream, Work
from composer.analyze.parts import family_of
from composer.chips.chip import Chip
from scanner.report.errors import MissingError

_FOR_MACHINES = ("gpio", "rcc", "pwr", "syscfg", "flash", "iwdg")  # kinds that the port rewrites
_SHOWN = 8
_MASTER = "a bus master reaches all memory, past the protection unit"
_BY_INTERRUPT = "rewrite these transfers with interrupts"
_CAN_BE = {
    "EXTI": "use a timer or a granted block's own interrupt",
    "WWDG": "use the machine's watchdog",
}


def unsupported(
    chip: ChipFacts,
    build: BuildFacts,
    devices: Sequence[Device],
    streams: Sequence[Stream],
    host: Chip,
) -> Iterator[Work]:
    """Each with its reason and remedy."""
    yield from _core(chip)
    masters = [it for it in devices if is_dma(it.name)]
    if masters or streams:
        served = dict.fromkeys(it.name for it in devices if it.dma)
        served |= dict.fromkeys(it.device for it in streams if it.device)
        who = f", for {', '.join(served)}" if served else ""
        found = [*(it.name for it in masters), *(it.name for it in streams)]
        names = ", ".join(found[:_SHOWN])
        places = tuple(dict.fromkeys(
            [it.place for it in streams] or [place for it in masters for place in it.places]
        ))  # fmt: skip
        count = len(streams) or len(masters)
        yield Work(f"DMA ({names}{who})", count, _MASTER, _BY_INTERRUPT, places)
    for device in devices:
        known = host.devices.get(device.name)
        if known is None or not known.nobody or is_dma(device.name):
            continue
        if known.kind not in _FOR_MACHINES:
            remedy = _CAN_BE.get(device.name, "use another block, or none")
            yield Work(device.name, len(device.places), known.nobody, remedy, device.places)
    yield from _other_chip(chip, devices, host)
    if "C++" in build.languages:
        yield Work(
            "C++",
            1,
            "init doesn't follow what C++ sets up and uses; port and build take it",
            "add what init leaves out to the description by hand",
        )


def _core(chip: ChipFacts) -> Iterator[Work]:
    core = chip.core.value or ""
    if core.startswith("rv32") or "riscv" in core:
        yield Work(f"the core ({core})", 1, "there is no runtime for RISC-V yet",
                   "`fvmkit port` takes the project, init and build don't")  # fmt: skip


def _other_chip(chip: ChipFacts, devices: Sequence[Device], host: Chip) -> Iterator[Work]:
    """Drivers for registers that the new chip hasn't, or has elsewhere."""
    try:
        is_same = chip.part.value is None or family_of(chip.part.value) == host.family
    except MissingError:
        is_same = False
    own = [it for it in devices if not is_dma(it.name) and not _is_shared(it.name, host)]
    if not is_same and own:
        more = f" and {len(own) - _SHOWN} more" if len(own) > _SHOWN else ""
        names = ", ".join(it.name for it in own[:_SHOWN])
        yield Work(
            f"drivers of {names}{more}",
            len(own),
            f"{host.name} is of another family than {chip.part.value}: its devices are elsewhere, "
            "and have other registers",
            "change these drivers for the new chip; what the port rewrites itself isn't among them",
            tuple(place for it in own for place in it.places[:1]),
        )


def _is_shared(name: str, host: Chip) -> bool:
    known = host.devices.get(name)
    return name == "AFIO" or (known is not None and bool(known.nobody))
