"""What a port is: files, their edits, and a verdict for every site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from porter.failures import Failure
from porter.judging.verdict import Status, Verdict
from porter.program.unseen import Unseen
from porter.project.vendor_folders import VendorFolders
from porter.sites.site import Site
from porter.source.edit import Edit, apply_edits
from porter.source.source_file import SourceFile

_STAYS = "stays with a place beside it that is left to a person; else: {}"


@dataclass(frozen=True)
class FilePort:
    """A file and what happens to it; a new one has an empty `file` and one insertion."""

    file: SourceFile
    edits: tuple[Edit, ...]
    verdicts: tuple[Verdict, ...]
    is_new: bool = False

    @property
    def ported(self) -> bytes:
        """The file afterwards."""
        return apply_edits(self.file.data, self.edits)

    def with_verdicts(self, changed: Mapping[Site, Verdict]) -> FilePort:
        """The same file with other verdicts on some of its sites. What is rewritten there stays:
        it is one of several edits that only together do what the sites did."""
        return replace(self, verdicts=tuple(changed.get(v.site, v) for v in self.verdicts))

    def rewritten(self, changed: Mapping[Site, Verdict]) -> FilePort:
        """The same, with the edits of verdicts on sites that had none."""
        edits = [edit for it in changed.values() for edit in it.edits]
        return replace(self.with_verdicts(changed), edits=tuple(sorted((*self.edits, *edits))))

    def withdrawn(self, changed: Mapping[Site, Verdict]) -> FilePort:
        """The same, with these sites as they were, and with them what one edit takes out that is
        no verdict's alone: other sites there stay, too, and are left to a person."""
        sites = [it.site for it in self.verdicts if it.site in changed]
        gone = {edit for it in self.verdicts if it.site in changed for edit in it.edits}
        kept = [edit for edit in self.edits if edit not in gone]
        shared = [it for it in kept if any(it.start <= site.start < it.end for site in sites)]
        stay = {
            it.site: replace(it, status=Status.ESCALATED, edits=(), reason=_STAYS.format(it.reason))
            for it in self.verdicts
            if it.status is Status.REWRITTEN and not it.edits
            and any(edit.start <= it.site.start < edit.end for edit in shared)
        }  # fmt: skip
        edits = tuple(edit for edit in kept if edit not in shared)
        return replace(self.with_verdicts({**stay, **changed}), edits=edits)


@dataclass(frozen=True)
class PortResult:
    """All files that have sites, and how many files were read. `guessed_cpu`: compiler options
    that the project was judged by although nobody told the core; `sources`: what was read;
    `unseen`: what the project uses and doesn't have; `devices`: at fixed addresses, with a name of
    each, that count as the machine's since nobody said whose they are; `assumes_options`: nobody
    told what the compiler defines and where headers are; `moved`: folders of another machine, with
    those of the project that were taken for them; `compilers`: those that aren't here, with the
    same; `told_by`: what said which files are compiled; `unbuilt`: how many sites are in others;
    `make_stopped`: why make couldn't say them all, "" if it could or wasn't asked; `unread`: files
    that the program isn't made of; `failures`: files that an error of fvmkit itself kept from being
    ported; `vendors`: folders of others; `missing`: files that a project
    file names and that aren't there; `beside`: others that are compiled or linked and that nobody
    looks into; `refused`: options that no compiler here knows; `on_links`: how many places are left
    since nobody said what the linker is told, `links_told`: whether some file of the tree may."""

    root: Path
    files: tuple[FilePort, ...]
    files_read: int
    guessed_cpu: tuple[str, ...] = ()
    unseen: Unseen = field(default_factory=Unseen)
    sources: tuple[SourceFile, ...] = ()
    devices: Mapping[int, str] = field(default_factory=dict)
    assumes_options: bool = False
    moved: Mapping[str, Path] = field(default_factory=dict)
    compilers: Mapping[str, str] = field(default_factory=dict)
    told_by: str = ""
    unbuilt: int = 0
    make_stopped: str = ""
    unread: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    missing: tuple[Path, ...] = ()
    vendors: VendorFolders = field(default_factory=VendorFolders)
    beside: tuple[Path, ...] = ()
    refused: tuple[str, ...] = ()
    on_links: int = 0
    links_told: bool = True

    def count(self, status: Status) -> int:
        """How many sites ended so."""
        return sum(verdict.status is status for port in self.files for verdict in port.verdicts)

    @property
    def is_unseen(self) -> bool:
        """Whether something of the program was not seen: headers, functions, files. How the old
        program was linked isn't: the ported one is linked by its description, and `link` refuses
        an image that has a place which was left for nothing that uses it."""
        files = bool(self.missing or self.beside) or (self.found > 0 and self.unbuilt == self.found)
        return bool(self.unseen) or files

    @property
    def found(self) -> int:
        """How many sites there are."""
        return sum(len(port.verdicts) for port in self.files)
