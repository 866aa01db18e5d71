"""Interrupts in three sections: which line of the handler runs where, and what goes between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from composer.description.model import Split, section_name
from composer.plan import DomainPlan, Vector
from composer.report.colours import colours
from composer.report.material import Material
from composer.report.text import CodeLine, coloured, decoded, function_lines, printable
from porter.interrupt_split.result import HandlerSplit
from porter.port import split_project
from porter.project.domain import read_domain


@dataclass(frozen=True)
class Row:
    """A line of the legacy handler. `section`: middle, bottom, or "" for one without code."""

    number: int
    code: CodeLine
    section: str
    why: str


@dataclass(frozen=True)
class Listing:
    """A piece of generated source."""

    title: str
    lines: tuple[CodeLine, ...]


@dataclass(frozen=True)
class Stage:
    """A box of the data flow: where it runs, what it does."""

    title: str
    css: str
    facts: tuple[str, ...]
    arrow: str = ""


@dataclass(frozen=True)
class Interrupt:
    """One interrupt of a VM. Without stages the whole handler runs in the VM; `reasons` say why.

    `own`: the project is written for the guest API, its sections by a person.
    """

    name: str
    vm: str
    css: str
    mid_css: str
    handler: str
    source: str
    stages: tuple[Stage, ...]
    rows: tuple[Row, ...]
    listings: tuple[Listing, ...]
    middle_writes: tuple[str, ...]
    vm_writes: tuple[str, ...]
    reasons: tuple[str, ...]
    planned: bool
    own: bool


def interrupts(material: Material) -> tuple[Interrupt, ...]:
    """Every interrupt line of every VM."""
    found: list[Interrupt] = []
    for vm in material.plan.vms:
        vectors = [vector for vector in vm.vectors if vector.kind == "irq"]
        splits = {split.vector.name: split for split in _splits(material, vm, vectors)}
        for vector in vectors:
            found.append(_interrupt(material, vm, vector, splits.get(vector.name)))
    return tuple(found)


def _splits(material: Material, vm: DomainPlan, vectors: Sequence[Vector]) -> list[HandlerSplit]:
    """The porter's word on each handler; it looks at the project as it was before the port."""
    source = None if vm.sources is None else vm.sources.original
    if source is None or _own(vm) or all(vector.split is None for vector in vectors):
        return []
    return split_project(source, read_domain(material.system.policy(vm.name)))


def _interrupt(
    material: Material, vm: DomainPlan, vector: Vector, split: HandlerSplit | None
) -> Interrupt:
    css = colours(material.plan)
    plan, writers = vector.split, None if split is None else split.writers
    done = plan is not None and split is not None and split.mid is not None
    source = ""
    if split is not None and split.function is not None:
        source = printable(split.function.text.file.name)
    return Interrupt(
        vector.name,
        vm.name,
        css[vm.name],
        css.get(plan.process, "dk") if plan is not None else "dk",
        vector.handler or "",
        source,
        _stages(material, vm, vector, plan, split) if done and plan and split else (),
        _rows(split) if done and split else (),
        tuple(_listings(material, vm, vector, plan, source)) if plan is not None else (),
        tuple(writers.middle) if writers is not None else (),
        tuple(writers.vm) if writers is not None else (),
        tuple(printable(reason) for reason in (split.escalated if split is not None else ())),
        plan is not None,
        _own(vm),
    )


def _own(vm: DomainPlan) -> bool:
    return vm.source is not None and not vm.source.project.is_ported


def _rows(split: HandlerSplit) -> tuple[Row, ...]:
    """The handler as it was written, each line with its section."""
    if split.function is None:
        return ()
    lines = decoded(split.function.text.file.data)
    sections = {line.line: line for line in split.lines}
    extent = function_lines(lines, split.function.name)
    numbers = set(sections) | ({n + 1 for n in extent} if extent is not None else set())
    shown = coloured(lines)
    rows = []
    for number in sorted(n for n in numbers if n <= len(lines)):
        section = sections.get(number)
        rows.append(
            Row(
                number,
                shown[number - 1],
                section.section if section is not None else "",
                printable(section.why) if section is not None else "",
            )
        )
    return tuple(rows)


def _stages(
    material: Material, vm: DomainPlan, vector: Vector, plan: Split, split: HandlerSplit
) -> tuple[Stage, ...]:
    css = colours(material.plan)
    fields = ", ".join(printable(field.name) for field in split.fields)
    writers = split.writers
    middle = ", ".join(writers.middle) if writers is not None and writers.middle else "nothing"
    below = ", ".join(writers.vm) if writers is not None and writers.vm else "nothing"
    ring = [s.place.granted for s in material.plan.shared if s.name == f"{vector.name}_RING"]
    return (
        Stage(
            "top: kernel stub",
            "dk",
            (f"line {vector.number}, {vector.name}", "closes the line", f"signals {plan.process}"),
            "signal",
        ),
        Stage(
            f"middle: {section_name(vector.name)}",
            css.get(plan.process, "dk"),
            (f"in {plan.process}", f"reads {fields}", f"writes {middle}", *_judged(plan)),
            "record",
        ),
        Stage(
            "ring",
            "ds",
            (f"{sum(ring)} bytes, shared", f"records of {fields}", _wakes(plan)),
            "record",
        ),
        Stage(
            "bottom: handler",
            css[vm.name],
            (f"in {vm.name}", printable(vector.handler or ""), f"writes {below}"),
        ),
    )


def _judged(plan: Split) -> Iterable[str]:
    for count in plan.counts:
        yield f"counts {count.name}: {count.register} & 0x{count.bits:x}"
    if plan.policy is not None:
        yield f"policy {plan.policy}"


def _wakes(plan: Split) -> str:
    if plan.policy is not None:
        return "the policy wakes the VM"
    if plan.frame is None:
        return "each wakes the VM"
    return f"VM wakes: frame end, or {plan.frame.longest}"


def _listings(
    material: Material, vm: DomainPlan, vector: Vector, plan: Split, source: str
) -> Iterable[Listing]:
    """What was generated for each section."""
    stubs = _read(material.system.folder / "kernel" / "fvm_stubs.c")
    yield from _function(stubs, f"fvm_stub_{vector.number}", "top: kernel/fvm_stubs.c")
    process = next((d for d in material.plan.domains if d.name == plan.process), None)
    section = section_name(vector.name)
    for file in process.sources.built if process is not None and process.sources else ():
        if file.name == f"{section}.c":
            title = f"middle: {file.parent.name}/{file.name}"
            yield Listing(title, tuple(coloured(_read(file))))
    if vm.sources is not None and vm.sources.ported is not None and source:
        lines = _read(vm.sources.ported / source)
        for name in (f"{vector.handler}_bottom", vector.handler or ""):
            yield from _function(lines, name, f"bottom: {source}, {name}")


def _function(lines: list[str], name: str, title: str) -> Iterable[Listing]:
    extent = function_lines(lines, name)
    if extent is not None:
        yield Listing(title, tuple(coloured(lines[extent.start : extent.stop])))


def _read(file: Path) -> list[str]:
    try:
        return decoded(file.read_bytes())
    except OSError:
        return []
