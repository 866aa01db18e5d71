"""An analysis as one page for people."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from composer.analyze.devices import is_dma
from composer.analyze.model import Analysis, Count, Device, Told, Vector, Work
from composer.description.units import show_size
from porter.project.vectors import FAULTS

_WIDTH = 100
_LABEL = 12
_WORKS = 10  # groups of places that are told without -v
_PLACES = 3
_FIRST_IRQ = 16
_ROLES = {"switch": "switches tasks", "svc": "supervisor call", "start": "starts the first task"}


def page(analysis: Analysis, is_verbose: bool) -> str:
    """What it is, then what its port will look like, then what to do."""
    lines = [
        *_facts(analysis, is_verbose),
        "",
        *_port(analysis, is_verbose),
        *_section("not supported", analysis.unsupported, is_verbose),
        *_section("not read or not told", analysis.unread, is_verbose),
        *_questions(analysis, is_verbose),
        "",
        *(f"{'next' if not n else '':{_LABEL}}{it}" for n, it in enumerate(analysis.next)),
    ]
    return "\n".join(lines) + "\n"


def _facts(it: Analysis, is_verbose: bool) -> Iterator[str]:
    yield from _entry("project", it.project)
    yield from _entry("chip", told(it.chip.part), *_memory(it))
    if it.chip.others:
        shown = it.chip.others if is_verbose else it.chip.others[:_PLACES]
        yield from _entry("", f"also named: {', '.join(shown)}{_rest(it.chip.others, shown)}")
    yield from _entry("core", f"{told(it.chip.core)}; FPU: {told(it.chip.fpu)}")
    yield from _entry("build", *_build(it))
    yield from _entry("RTOS", _rtos(it))
    yield from _entry("clock", told(it.clock))
    yield from _entry("tick", told(it.tick))
    yield from _entry("interrupts", *_vectors(it.vectors))
    yield from _entry("devices", *_devices(it.devices, is_verbose))
    streams = [f"{s.name}{f' for {s.device}' if s.device else ''} ({s.place})" for s in it.streams]
    yield from _entry("DMA", ", ".join(streams) or _no_streams(it.devices))
    yield from _entry("sections", _counts(it.sections) or "none but the usual")
    yield from _entry("masks", *_masks(it))
    for one in it.switches:
        role = _ROLES.get(one.role, "goes with it")
        why = f": {one.reason}" if is_verbose or one.status != "rewritten" else ""
        yield from _entry("switch", f"{one.name} ({one.place}), {role}, {one.status}{why}")
    if not it.switches:
        yield from _entry("switch", _no_switch(it))
    yield from _entry("assembler", _assembler(it.assembler) or "none")


def _no_switch(it: Analysis) -> str:
    """Why there is none: where an RTOS is part of the program, its handlers weren't understood."""
    if it.rtos.name.places and it.rtos.name.value is not None:
        return "not known: no handler of the RTOS was understood, or its sources aren't there"
    return "no function that switches contexts"


def told(fact: Told) -> str:
    """A fact and how it is known."""
    shown = [it for it in fact.places if it not in fact.by][:_PLACES]
    if fact.value is None:
        places = f" ({', '.join(shown)})" if shown else ""
        return f"not known: {fact.by}{places}"
    why = "; ".join(filter(None, (fact.by, ", ".join(shown))))
    return f"{fact.value} ({why})" if why else fact.value


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
    rest = f"; {build.unread} more sources aren't part of it" if build.unread else ""
    languages = ", ".join(build.languages)
    yield f"{told(build.told_by)}; {build.files} files are compiled ({languages}){rest}"
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
        f"{it.what} ({f'{it.count} objects, ' if it.count else ''}{it.places[0]})" for it in counts
    )


def _masks(it: Analysis) -> Iterator[str]:
    if not it.masks:
        yield "none"
        return
    yield ", ".join(f"{one.what}: {one.count} places" for one in it.masks)
    most = ", ".join(f"{one.what} ({one.count})" for one in it.mask_sites[:_PLACES])
    yield f"most in {most}"


def _assembler(counts: Sequence[Count]) -> str:
    return ", ".join(f"{it.places[0]} ({it.count} {it.what})" for it in counts)


def _port(it: Analysis, is_verbose: bool) -> Iterator[str]:
    port = it.port
    person = sum(work.count for work in port.person)
    rewritten = sum(one.count for one in port.rewritten)
    left = sum(one.count for one in port.left)
    later = f", {port.later} wait for the description" if port.later else ""
    how = "with the description that init would draft" if port.is_drafted else "no description"
    yield from _entry(
        "the port",
        f"{port.found} places: {rewritten} would be rewritten, {left} left as they are{later}, "
        f"{person} need a person ({how})",
        f"rewritten by {_rules(port.rewritten)}" if port.rewritten else "",
        f"left by {_rules(port.left)}" if port.left and is_verbose else "",
    )  # fmt: skip
    yield from _section("needs a person", port.person, is_verbose)


def _rules(counts: Sequence[Count]) -> str:
    return ", ".join(f"{it.what} {it.count}" for it in counts)


def _section(title: str, works: Sequence[Work], is_verbose: bool) -> Iterator[str]:
    yield ""
    yield f"{title}:" if works else f"{title}: nothing"
    shown = works if is_verbose else works[:_WORKS]
    for work in shown:
        yield from _work(work, is_verbose)
    if len(shown) < len(works):
        count = sum(work.count for work in works[len(shown) :])
        yield f"  and {len(works) - len(shown)} more kinds, {count} places: -v tells them"


def _questions(it: Analysis, is_verbose: bool) -> Iterator[str]:
    """What init's draft would ask besides."""
    if it.questions:
        yield ""
        yield f"init would ask {len(it.questions)} questions{'' if is_verbose else ' (-v)'}:"
        for question in it.questions if is_verbose else it.questions[:_PLACES]:
            yield from _wrapped(f"       {question}", "          ")


def _work(work: Work, is_verbose: bool) -> Iterator[str]:
    places = work.places if is_verbose else work.places[:_PLACES]
    rest = _rest(work.places, places)
    where = f" ({', '.join(places)}{rest})" if places else ""
    yield from _wrapped(f"{work.count:5}  {work.what}: {work.reason}{where}", "       ")
    if work.remedy:
        yield from _wrapped(f"       -> {work.remedy}", "          ")


def _rest(all_: Sequence[str], shown: Sequence[str]) -> str:
    return f" and {len(all_) - len(shown)} more" if len(all_) > len(shown) else ""


def _entry(label: str, *texts: str) -> Iterator[str]:
    """A label and what belongs to it, each text from a new line."""
    for text in filter(None, texts):
        yield from _wrapped(f"{label:{_LABEL}}{text}", " " * _LABEL)
        label = ""


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent=indent, break_long_words=False,
                         break_on_hyphens=False, drop_whitespace=True) or [""]  # fmt: skip
