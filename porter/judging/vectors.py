"""Exception handlers: does the description know every one that the project has?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from porter.judging.docket import Docket
from porter.judging.verdict import Status, Verdict
from porter.program.definitions import Definition, does_nothing
from porter.project.domain import Domain, Vector
from porter.project.vectors import FAULTS, FIRST_IRQ, SYSTEM, VectorTable
from porter.sites.site import Site, SiteKind
from porter.source.source_file import SourceFile

RULE = "vectors"


Definitions = Mapping[str, Definition]


def judge_vectors(docket: Docket) -> None:
    """A verdict for each handler that the sources define, and each that the description misses."""
    project, domain = docket.project, docket.project.domain
    tables = [
        table
        for source in project.sources
        if project.knowledge.is_built(source.path)
        for table in project.tables[source.path]
    ]
    names = {name for table in tables for name in table.handlers.values()}
    if domain is not None:
        names |= {vector.handler for vector in domain.vectors if vector.handler}
    for file, verdict in _handlers(domain, tables, project.definitions(names)):
        docket.add(file, [verdict])


def _handlers(
    domain: Domain | None, tables: Iterable[VectorTable], definitions: Definitions
) -> Iterator[tuple[SourceFile, Verdict]]:
    table = {number: name for found in tables for number, name in found.handlers.items()}
    told: set[tuple[Site, str]] = set()  # one function may serve many lines
    for number, name in sorted(table.items()):
        definition = definitions.get(name)
        if definition is None or number == 1:
            continue
        status, reason = _judge(domain, number, name, definition)
        what = f"{name} (exception {number})" if number < FIRST_IRQ else name
        site = Site(
            definition.file.name, definition.start, definition.end, SiteKind.VECTOR, what, name
        )
        if (site, reason) in told:
            continue
        told.add((site, reason))
        yield definition.file, Verdict(site, status, RULE, reason)
    if domain is not None:
        yield from _missing(domain, definitions)


def _judge(
    domain: Domain | None, number: int, name: str, definition: Definition
) -> tuple[Status, str]:
    if number in FAULTS:
        return Status.LEFT, "the kernel takes this exception; the handler never runs"
    if domain is None:
        return Status.LEFT, "a virtual vector of the machine once the system is described"
    vector = _vector(domain, number)
    if (vector is None or vector.handler is None) and does_nothing(definition):
        return Status.LEFT, "its body is empty: nothing is lost without it"
    if vector is None:
        return Status.ESCALATED, (
            f"handles interrupt {number - FIRST_IRQ}, which the description of {domain.name} "
            "doesn't grant"
        )
    if vector.handler is None:
        return Status.ESCALATED, f"the description of {domain.name} names no handler for this"
    if vector.handler != name:
        return Status.ESCALATED, f"the description of {domain.name} names {vector.handler} instead"
    return Status.LEFT, f"registered by the generated start-up as virtual vector {vector.virt_id}"


def _vector(domain: Domain, number: int) -> Vector | None:
    if number in SYSTEM:
        return next((v for v in domain.vectors if v.kind == SYSTEM[number]), None)
    return domain.vector_of_irq(number - FIRST_IRQ)


def _missing(domain: Domain, definitions: Definitions) -> Iterator[tuple[SourceFile, Verdict]]:
    """Handlers that the description names and no source defines, at their place in it."""
    replacing = b"".join(_replacing_texts(domain))
    for vector in domain.vectors:
        name = vector.handler
        if name is None or name in definitions or name.encode() in replacing:
            continue
        data = domain.path.read_bytes() if domain.path.is_file() else b""
        file = SourceFile(domain.path, str(domain.path), data)
        start = max(data.find(f'"{name}"'.encode()), 0)
        site = Site(file.name, start, start + len(name), SiteKind.VECTOR, name, vector.name)
        reason = (
            f"the description names it as the handler of {vector.name}, but no source that is "
            "built defines it: correct 'handler' in the description, or add the file to the sources"
        )
        yield file, Verdict(site, Status.ESCALATED, RULE, reason)


def _replacing_texts(domain: Domain) -> Iterator[bytes]:
    """The files that are built instead of replaced ones, where they can be found."""
    places = [domain.path.parent]
    if domain.original is not None:
        original = (domain.path.parent / domain.original).resolve()
        places += [original, *original.parents]
    for replacement in domain.replaced:
        found = next((p for place in places if (p := Path(place, replacement.by)).is_file()), None)
        if found is not None:
            yield found.read_bytes()
