"""All files of a project with what is decided about them, for who looks beyond one file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from porter.interrupt_split.result import HandlerSplit
from porter.judging.facts import Facts
from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.result import FilePort
from porter.sites.site import Site
from porter.source.source_file import SourceFile
from porter.whole_project import WholeProject


@dataclass
class Docket:
    """`ports`: every file, in order, whether anything was found in it or not; `units`: those of C
    that take part in the build; `splits`: handlers that the description divides."""

    project: WholeProject
    splits: Sequence[HandlerSplit] = ()
    ports: dict[Path, FilePort] = field(default_factory=dict)
    units: dict[Path, Unit] = field(default_factory=dict)

    @property
    def facts(self) -> list[Facts]:
        """What the rules learnt in each file."""
        return [unit.facts for unit in self.units.values()]

    @property
    def devices(self) -> dict[int, str]:
        """Devices at fixed addresses that count as the machine's, with a name of each."""
        found: dict[int, str] = {}
        for unit in self.units.values():
            found = unit.found.devices | found
        return dict(sorted(found.items()))

    def verdicts(self) -> Iterator[Verdict]:
        """Of all files."""
        for port in self.ports.values():
            yield from port.verdicts

    def change(self, changed: Mapping[Site, Verdict]) -> None:
        """Give some sites other verdicts."""
        if changed:
            self.ports = {path: port.with_verdicts(changed) for path, port in self.ports.items()}

    def rewrite(self, path: Path, changed: Mapping[Site, Verdict]) -> None:
        """Carry out what is decided on sites of a file that stayed until now."""
        if changed:
            self.ports[path] = self.ports[path].rewritten(changed)

    def withdraw(self, changed: Mapping[Site, Verdict]) -> None:
        """The same, and leave these sites as they were."""
        if changed:
            self.ports = {path: port.withdrawn(changed) for path, port in self.ports.items()}

    def add(self, file: SourceFile, verdicts: Iterable[Verdict]) -> None:
        """Verdicts on places of a file that were no sites, or on what is escalated now."""
        port = self.ports.get(file.path, FilePort(file, (), ()))
        verdicts = list(verdicts)
        graver = {it.site.start for it in verdicts if it.status is Status.ESCALATED}
        known = {it.site: it for it in port.verdicts if it.site.start in graver}
        port = port.withdrawn(known)
        kept = tuple(it for it in port.verdicts if it.site not in known)
        port = replace(port, verdicts=kept)
        together = sorted((*port.verdicts, *verdicts), key=lambda verdict: verdict.site.start)
        self.ports[file.path] = replace(port, verdicts=tuple(together))


Judge = Callable[[Docket], None]
"""Adds verdicts to a docket, or changes some."""
