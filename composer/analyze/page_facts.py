"""The first part of the page: what a project is, and how that is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from composer.analyze.devices import is_dma
from composer.analyze.model import Analysis, Count, Device, Vector
from composer.analyze.page_text import PLACES, entry, many, rest_of, told
from composer.description.units import show_size
from porter.project.vectors import FAULTS

_FIRST_IRQ = 16
_ROLES = {"switch": "switches tasks", "svc": "supervisor call", "start": "starts the first task"}


def facts(it: Analysis, is_verbose: bool) -> Iterator[str]:
    """Every fact behind its label."""
    yield from entry("project", it.project)
    yield from entry("chip", told(it.chip.part), *_memory(it))
    if it.chip.others:
        shown = it.chip.others if is_verbose else it.chip.others[:PLACES]
        yield from entry("", f"also named: {', '.join(shown)}{rest_of(it.chip.others, shown)}")
    yield from entry("core", f"{told(it.chip.core)}; FPU: {told(it.chip.fpu)}")
    yield from entry("build", *_build(it))
    yield from entry("RTOS", _rtos(it))
    yield from entry("clock", told(it.clock))
    yield from entry("tick", told(it.tick))
    yield from entry("interrupts", *_vectors(it.vectors))
    yield from entry("devices", *_devices(it.devices, is_verbose))
    streams = [f"{s.name}{f' for {s.device}' if s.device else ''} ({s.place})" for s in it.streams]
    yield from entry("DMA", ", ".join(streams) or _no_streams(it.devices))
    yield from entry("sections", _counts(it.sections) or "none but the usual")
    yield from entry("masks", *_masks(it))
    for one in it.switches:
        role = _ROLES.get(one.role, "goes with it")
        why = f": {one.reason}" if is_verbose or one.status != "rewritten" else ""
        yield from entry("switch", f"{one.name} ({one.place}), {role}, {one.status}{why}")
    if not it.switches:
        yield from entry("switch", _no_switch(it))
    yield from entry("assembler", _assembler(it.assembler) or "none")


def _no_switch(it: Analysis) -> str:
    """Why there is none: where an RTOS is part of the program, its handlers weren't understood."""
    if it.rtos.name.places and it.rtos.name.value is not None:
        return "not known: no handler of the RTOS was understood, or its sources aren't there"
    return "no function that switches contexts"


def _memory(it: Analysis) -> Iterator[str]:
    sizes = [f"{m.name} {show_size(m.size)}" for m in it.chip.memories]
    if sizes:
        by = dict.fromkeys(m.by.partition(":")[0] for m in it.chip.memories)
        yield f"{', '.join(sizes)} ({', '.join(by)})"
    else:
        yield "memory not known: no linker script, project file or part's name says it"
    if it.chip.flash_used is None:
        yield "used: not known: no ELF or map is there"
    else:
        used = f"used: {it.chip.flash_used} bytes of flash, {it.chip.ram_used} of RAM"
        yield f"{used} without stack and heap ({it.chip.used_by})"


def _build(it: Analysis) -> Iterator[str]:
    build = it.build
    rest = (
        f"; beside it {many(build.unread, 'source')} that it doesn't have" if build.unread else ""
    )
    languages = ", ".join(build.languages)
    yield f"{told(build.told_by)}; compiles {many(build.files, 'file')} ({languages}){rest}"
    yield f"toolchain: {told(build.toolchain)}; standard: {told(build.standard)}"


def _rtos(it: Analysis) -> str:
    rtos = it.rtos
    text = told(rtos.name)
    if rtos.version.value is not None:
        text += f"; version {told(rtos.version)}"
    elif rtos.version.by:
        text += f"; version not known: {rtos.version.by}"
    if rtos.tried is not None:
        text += "; ports of this version were " + ("proved" if rtos.tried else "not tried yet")
    return text


def _vectors(vectors: Sequence[Vector]) -> Iterator[str]:
    if not vectors:
        yield "none of its own was found"
        return
    if all(it.number is None for it in vectors):
        yield "no vector table is in the tree; by name of functions:"
    served = [it for it in vectors if it.number not in FAULTS]
    yield ", ".join(f"{it.handler}{_number(it)} {it.place}{_if(it)}" for it in served)
    faults = [f"{it.handler} {it.place}" for it in vectors if it.number in FAULTS]
    if faults:
        yield f"of faults, which the kernel takes: {', '.join(faults)}"


def _if(vector: Vector) -> str:
    return f" (if {' && '.join(vector.conditions)})" if vector.conditions else ""


def _number(vector: Vector) -> str:
    if vector.number is None:
        return ""
    line = vector.number - _FIRST_IRQ
    return f" (line {line})" if line >= 0 else f" (exception {vector.number})"


def _devices(devices: Sequence[Device], is_verbose: bool) -> Iterator[str]:
    if not devices:
        yield "none was found by name or address"
        return
    shown = []
    for it in devices:
        places = it.places if is_verbose else it.places[:1]
        dma = f", by DMA: {', '.join(it.dma[:1])}" if it.dma else ""
        shown.append(f"{it.name} ({', '.join(places)}{dma})")
    yield ", ".join(shown)


def _no_streams(devices: Sequence[Device]) -> str:
    used = [it.name for it in devices if is_dma(it.name)]
    return f"{', '.join(used)}, no channel by name" if used else "none"


def _counts(counts: Iterable[Count]) -> str:
    return ", ".join(
        f"{it.what} ({many(it.count, 'object') + ', ' if it.count else ''}{it.places[0]})"
        for it in counts
    )


def _masks(it: Analysis) -> Iterator[str]:
    if not it.masks:
        yield "none"
        return
    yield ", ".join(f"{one.what}: {many(one.count, 'place')}" for one in it.masks)
    most = ", ".join(f"{one.what} ({one.count})" for one in it.mask_sites[:PLACES])
    yield f"most in {most}"


def _assembler(counts: Sequence[Count]) -> str:
    return ", ".join(f"{it.places[0]} ({many(it.count, it.what)})" for it in counts)
