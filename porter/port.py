"""Ports a project: finds the sites, lets the rules decide, accounts for every one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from porter.context_switch.project import transcribe_project
from porter.context_switch.result import SwitchPort
from porter.project.build import read_build
from porter.project.domain import Domain
from porter.project.knowledge import Knowledge
from porter.project.source_tree import find_sources
from porter.rules.context_switch import not_transcribed, transcribed
from porter.rules.outside import file_stays
from porter.rules.registry import RULES
from porter.rules.unit import Unit
from porter.rules.verdict import Status, Verdict
from porter.sites.c_sites import CSites, Registers
from porter.sites.site import Site
from porter.source.edit import Edit, apply_edits
from porter.source.evaluate import Evaluator
from porter.source.includes import include_edits
from porter.source.source_file import SourceFile
from scanner.report.errors import InternalError

Progress = Callable[[str], None]


@dataclass(frozen=True)
class FilePort:
    """A file and what happens to it."""

    file: SourceFile
    edits: tuple[Edit, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def ported(self) -> bytes:
        """The file afterwards."""
        return apply_edits(self.file.data, self.edits)


@dataclass(frozen=True)
class PortResult:
    """All files that have sites, and how many files were read."""

    root: Path
    files: tuple[FilePort, ...]
    files_read: int

    def count(self, status: Status) -> int:
        """How many sites ended so."""
        return sum(verdict.status is status for port in self.files for verdict in port.verdicts)

    @property
    def found(self) -> int:
        """How many sites there are."""
        return sum(len(port.verdicts) for port in self.files)


def port_project(
    root: Path,
    domain: Domain | None = None,
    excluded: Iterable[Path] = (),
    progress: Progress = lambda _message: None,
) -> PortResult:
    """Decide on every site below `root`. Nothing is written."""
    root = root.resolve()
    sources = [SourceFile.read(root, path) for path in find_sources(root, excluded)]
    progress(f"{len(sources)} source files, asking the build system")
    build = read_build(root, [source.path for source in sources])
    knowledge = Knowledge(build, sources)
    registers: dict[int, Registers] = {}

    def registers_of(evaluator: Evaluator) -> Registers:
        if id(evaluator) not in registers:
            registers[id(evaluator)] = Registers(evaluator, domain.chip if domain else None)
        return registers[id(evaluator)]

    staying = {
        source.path: reason
        for source in sources
        if (reason := file_stays(source, domain, knowledge)) is not None
    }
    progress("transcribing context switches")
    switches: dict[Path, list[SwitchPort]] = {}
    built = [source.path for source in sources if source.path not in staying]
    for switch in transcribe_project(root, built, build.options):
        switches.setdefault(switch.file, []).append(switch)
    ports: list[FilePort] = []
    for source in sources:
        if source.is_asm:
            continue
        text = knowledge.text(source)
        unit = Unit(CSites(text, registers_of(text.evaluator)), domain, knowledge)
        if not unit.found.sites:
            continue
        progress(source.name)
        if source.path in staying:
            leave(unit, staying[source.path])
        else:
            decide(unit, switches.get(source.path, ()))
        ports.append(finish(unit))
    return PortResult(root, tuple(ports), len(sources))


def decide(unit: Unit, switches: Sequence[SwitchPort] = ()) -> None:
    """Let every rule look at the file, in the order of the registry."""
    _settle(unit, transcribed(unit, switches))
    for rule in RULES:
        if rule is RULES[-1]:
            _settle(unit, not_transcribed(unit, switches))
        _settle(unit, rule.examine(unit))


def _settle(unit: Unit, verdicts: Iterable[Verdict]) -> None:
    for verdict in list(verdicts):
        unit.settle(verdict)


def leave(unit: Unit, reason: str) -> None:
    """Leave every site of a file as it is."""
    for site in unit.found.sites:
        unit.settle(Verdict(site, Status.LEFT, "file", reason))


def finish(unit: Unit) -> FilePort:
    """The edits of a file with its includes. Raises InternalError for a site without a verdict."""
    _account(unit.found.sites, unit.verdicts)
    edits = unit.edits()
    edits += include_edits(unit.file, unit.text.lexed, unit.text.conditions, edits)
    return FilePort(
        unit.file, tuple(sorted(edits)), tuple(unit.verdicts[site] for site in unit.found.sites)
    )


def _account(sites: Sequence[Site], verdicts: dict[Site, Verdict]) -> None:
    for site in sites:
        if site not in verdicts:
            raise InternalError(
                f"no rule accounts for {site.what}", file=site.file, hint="please report this"
            )
