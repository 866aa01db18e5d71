"""The report of a port, in lines for people."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from porter.failures import what_to_send
from porter.judging.verdict import Status, Verdict
from porter.ledger.acknowledged import OpenPlace
from porter.ledger.open_places import escalated, place_of
from porter.output.vendor_report import own_first, vendor_counts
from porter.program.unseen import Unseen
from porter.project.other_builds import build_files
from porter.result import FilePort, PortResult
from porter.rules.ambiguous import Ambiguous
from porter.source.source_file import SourceFile

Reasons = Mapping[OpenPlace, str]
NOTHING: Reasons = {}
_SHOWN = 12  # functions that are named
_DEVICES = 6  # that are named
_LONG = 60  # characters; a shorter reason is said again
_FUNCTION = re.compile(r"\w+: ")


def summary(result: PortResult, acknowledged: Reasons = NOTHING) -> str:
    """The line that counts."""
    unseen = result.unseen
    more = [
        *([f"{len(unseen.certain)} headers not found"] if unseen.certain else []),
        *([f"{len(unseen.calls)} functions unknown"] if unseen.calls else []),
        *([f"{len(result.failures)} files failed"] if result.failures else []),
    ]
    answered = sum(place in acknowledged for _, place in escalated(result))
    told = f" ({answered} of them acknowledged)" if answered else ""
    counts = (
        f"{result.found} found, {result.count(Status.REWRITTEN)} rewritten, "
        f"{result.count(Status.LEFT)} left, {result.count(Status.ESCALATED)} escalated{told}"
    )
    return ", ".join((counts + vendor_counts(result), *more))


def to_send(result: PortResult) -> str:
    """What the authors of fvmkit need to mend what failed."""
    return what_to_send(len(result.failures), result.files_read, "file")


def unseen_lines(unseen: Unseen, is_verbose: bool) -> Iterator[str]:
    """What wasn't there to be looked at: headers by place, functions by name."""
    maybe = [header for header in unseen.headers if not header.is_certain]
    for header in unseen.headers if is_verbose else unseen.certain:
        again = f", and {header.count - 1} more times" if header.count > 1 else ""
        chain = f" (under {' && '.join(header.conditions)})" if header.conditions else ""
        place = _place(header.file, header.offset)
        yield f"{place}: not found: {header.word} {header.name}{again}{chain}"
    if maybe and not is_verbose:
        yield (
            f"{len(maybe)} more headers, {maybe[0].name} for one, may be missing; conditions stand "
            "around them that nobody here can decide: told by -v"
        )
    if unseen.certain:
        yield (
            "what these headers define is unknown, and files that include them are judged by all "
            "headers of the project together: give their folders by -I DIR, or have the build say "
            "them (compile_commands.json, makefile, project file)"
        )
    if not unseen.calls:
        return
    if is_verbose:
        for call in unseen.calls:
            place = _place(call.file, call.offset)
            where = f" (in {call.archive})" if call.archive else ""
            yield f"{place}: unknown: {call.name}{where}, called {call.count} times"
    shown = unseen.calls if is_verbose else unseen.calls[:_SHOWN]
    names = ", ".join(f"{call.name} ({call.count})" for call in shown)
    rest = len(unseen.calls) - len(shown)
    archived = sorted({call.archive for call in unseen.calls if call.archive})
    compiled = (
        f" {', '.join(archived)} has {sum(bool(call.archive) for call in unseen.calls)} of them, "
        "compiled: port --elf tells what of it a program has."
        if archived
        else ""
    )
    yield (
        f"{sum(call.count for call in unseen.calls)} calls of {len(unseen.calls)} functions that "
        f"aren't in the tree: {names}{f' and {rest} more, told by -v' if rest else ''}.{compiled} "
        "Nothing is known of what they do: add their sources to the project, or vouch for those "
        "that leave masks, lines, tick, sleep, reset and other machines' registers alone by "
        "--known NAME"
    )


def assumptions(result: PortResult) -> Iterator[str]:
    """What was taken for granted, and how to say it."""
    verdicts = [verdict for port in result.files for verdict in port.verdicts]
    depends = any(it.site.conditions or it.rule == Ambiguous.id for it in verdicts)
    if result.assumes_options and depends:
        yield (
            "no makefile, compile_commands.json or project file tells the compiler's options: "
            "nothing counts as defined by -D, every arm of #if was ported, and each file was read "
            "with the headers nearest to it"
        )
    if result.moved:
        moved = [f"{there} ({_inside(here, result.root)})" for there, here in result.moved.items()]
        rest = f" and {len(moved) - _DEVICES} more" if len(moved) > _DEVICES else ""
        yield (
            "folders of another machine were taken for those of the project that end alike: "
            f"{', '.join(moved[:_DEVICES])}{rest}"
        )
    if result.compilers:
        taken = [f"{there} ({here})" for there, here in result.compilers.items()]
        yield f"compilers that aren't here were taken for others that are: {', '.join(taken)}"
    if result.make_stopped:
        rest = f"; the build was read from the {result.told_by}"
        if result.told_by == "make":
            rest = "; which files it compiles besides isn't known, and none was left for that"
        elif result.assumes_options:
            rest = ""
        yield f"make --dry-run --always-make stops: {result.make_stopped}{rest}"
    if result.missing:
        names = [_below(it, result.root) for it in result.missing]
        more = f" and {len(names) - _DEVICES} more" if len(names) > _DEVICES else ""
        yield (
            f"files that the build ({result.told_by}) takes in aren't there, or can't be read: "
            f"{', '.join(names[:_DEVICES])}{more}; they may use or replace anything: make them "
            "first, add them, or take them out of it"
        )
    if result.beside:
        names = [_below(it, result.root) for it in result.beside]
        more = f" and {len(names) - _DEVICES} more" if len(names) > _DEVICES else ""
        yield (
            f"the build takes in what nobody looked into: {', '.join(names[:_DEVICES])}{more}; "
            "what these name counts as used, and what they do isn't known: add their sources to "
            "the project's folder, in C, C++ or assembler"
        )
    if result.refused:
        yield (
            f"options that no compiler here knows were left out: {' '.join(result.refused)}; what "
            "they change wasn't seen"
        )
    if result.on_links:
        where = (
            "the names in its other files of builds count as used"
            if result.links_told
            else "`fvmkit link` refuses an image that has one of these places"
        )
        yield (
            f"the {result.told_by} tells no options of the linker, and {result.on_links} places "
            f"were left for nothing that uses them: --wrap, --defsym, -e or -u may; {where}"
        )
    if result.unread:
        files = Counter(name.rpartition("/")[0] or "." for name in result.unread)
        folders = [f"{name} ({count})" for name, count in files.most_common(_DEVICES)]
        more = f" and {len(files) - _DEVICES} more folders" if len(files) > _DEVICES else ""
        yield (
            f"{len(result.unread)} of {len(result.unread) + result.files_read} source files weren't"
            f" looked at, since nothing that is built compiles or includes them: in "
            f"{', '.join(folders)}{more}"
        )
    if 2 * result.unbuilt > result.found:
        others = [_inside(it, result.root) for it in build_files(result.root)]
        more = f" and {len(others) - _DEVICES} more" if len(others) > _DEVICES else ""
        yield (
            f"{result.unbuilt} of {result.found} places are in files that the build which was read "
            f"({result.told_by}) doesn't compile, and stay as they are. Files that say of builds: "
            f"{', '.join(others[:_DEVICES])}{more}: give the one that is meant as "
            "compile_commands.json, or its folder as the project"
        )
    if result.devices:
        shown = [f"{name} (0x{address:08X})" for address, name in result.devices.items()]
        more = f" and {len(shown) - _DEVICES} more" if len(shown) > _DEVICES else ""
        yield (
            f"without --domain nobody says whose the devices are at {', '.join(shown[:_DEVICES])}"
            f"{more}: what the code does to them counts as the machine's own affair"
        )


def lines(result: PortResult, status: Status, acknowledged: Reasons = NOTHING) -> Iterator[str]:
    """One line a site that ended so: `file:line:col: escalated what [rule]: reason (if ...)`.

    A long reason is told at the first site of a file that has it. Of an acknowledged place, the
    reason is what a person wrote.
    """
    for port in own_first(result):
        told: dict[tuple[str, str], int] = {}
        for verdict in port.verdicts:
            if verdict.status is status:
                reason = verdict.rule, verdict.reason
                person = person_for(port, verdict, acknowledged)
                yield _line(port.file, verdict, told.get(reason), person)
                if person is not None:
                    continue
                if len(verdict.reason) > _LONG:
                    told.setdefault(reason, port.file.line(verdict.site.start))


def _below(path: Path, root: Path) -> str:
    return Path(os.path.relpath(path, root)).as_posix()


def _inside(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() or "."


def person_for(port: FilePort, verdict: Verdict, acknowledged: Reasons) -> str | None:
    """What somebody wrote who answers for a site that was escalated."""
    if verdict.status is not Status.ESCALATED or not acknowledged:
        return None
    return acknowledged.get(place_of(port, verdict))


def _line(file: SourceFile, verdict: Verdict, told_at: int | None, person: str | None) -> str:
    site = verdict.site
    reason, ending = verdict.reason, verdict.status.value
    if person is not None:
        reason, ending = person, "acknowledged"
    elif told_at is not None:
        function = _FUNCTION.match(reason)
        reason = f"{function.group() if function else ''}as in line {told_at}"
    place = _place(file, site.start)
    chain = f" (under {' && '.join(site.conditions)})" if site.conditions else ""
    return f"{place}: {ending} {site.what} [{verdict.rule}]: {reason}{chain}"


def _place(file: SourceFile, offset: int) -> str:
    return f"{file.name}:{file.line(offset)}:{file.column(offset)}"
