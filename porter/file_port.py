"""Ports one file: every rule in turn, then the account of all sites."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from porter.asm.breakpoints import BREAKPOINTS, why_breakpoint
from porter.asm.made import DIRECTIVES, WHY_MADE
from porter.asm.namings import names_number, only_named
from porter.asm.numbered import is_numbered
from porter.asm.privileged import UNREAD
from porter.context_switch.result import ESCALATED, ROLE_OTHER, SwitchPort
from porter.failures import Failure, step
from porter.interrupt_split.result import HandlerSplit
from porter.interrupt_split.verdict import with_split_edits
from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.result import FilePort
from porter.rules.ambiguous import decided_otherwise
from porter.rules.context_switch import Transcribed
from porter.rules.not_compiled import NotCompiled
from porter.rules.registry import REVISIONS, RULES
from porter.sites.asm_sites import IN_MACRO, asm_leaps
from porter.sites.site import Site, SiteKind
from porter.source.asm_text import dialect_of, instructions
from porter.source.edit import Edit
from porter.source.includes import include_edits
from porter.source.source_file import SourceFile
from scanner.report.errors import InternalError

ASM_RULE = "assembler-file"
FAILED_RULE = "internal-error"


def port_c(unit: Unit, splits: Sequence[HandlerSplit] = ()) -> FilePort:
    """Port a C file. Raises InternalError for a site that no rule accounts for."""
    for verdict in _ambiguous(unit):
        unit.settle(verdict)
    _decide(unit)
    for revision in REVISIONS:
        with step(f"asking the rule {revision.id}", line=unit.line_looked_at):
            for verdict in list(revision.examine(unit)):
                unit.revise(verdict)
    account(unit.found.sites, unit.verdicts)
    verdicts = [unit.verdicts[site] for site in unit.found.sites]
    verdicts += _unheard(unit.file, unit.switches, verdicts)
    edits = with_split_edits(unit.edits(), splits)
    text = unit.text
    macros = text.evaluator.macros
    edits += include_edits(
        unit.file, text.lexed, text.conditions, edits, macros, unit.is_in_assembler
    )
    return FilePort(unit.file, tuple(sorted(edits)), tuple(verdicts))


def _ambiguous(unit: Unit) -> list[Verdict]:
    """Places that don't become the same for all that read the file: settled before any rule is
    asked, none deletes what such a place needs."""
    if not unit.found.readings:
        return []
    trial = unit.read_as(unit.found)
    _decide(trial)
    found: list[Verdict] = []
    for reading in unit.found.readings:
        other = unit.read_as(reading.sites)
        _decide(other)
        found += decided_otherwise(trial, other, reading.reader)
    return found


def _decide(unit: Unit) -> None:
    """Ask every rule in turn."""
    for rule in RULES:
        with step(f"asking the rule {rule.id}", line=unit.line_looked_at):
            for verdict in list(rule.examine(unit)):
                unit.settle(verdict)
            unit.settle_covered()


def port_asm(
    file: SourceFile,
    sites: Iterable[Site],
    switches: Sequence[SwitchPort],
    left_out: Callable[[int], str] = lambda place: "",
) -> FilePort:
    """Port an assembler file: only context switches become something else. `left_out`: the
    condition by which this build leaves a place out, "" for none."""
    away = {it.start: why for it, why in asm_leaps(file)}
    named = only_named(tuple(instructions(file.data, dialect_of(file.data))))
    verdicts = [
        _left_out(it, left_out(it.site.start)) if it.status is Status.ESCALATED else it
        for it in (
            _in_asm(site, switches, file, away.get(site.start, ""), site.start in named)
            for site in sites
        )
    ]
    verdicts += _unheard(file, switches, verdicts)
    edits = sorted(
        Edit(switch.start, switch.end, switch.replacement)
        for switch in switches
        if switch.status == Status.REWRITTEN.value
    )
    return FilePort(file, tuple(edits), tuple(verdicts))


def leave(file: SourceFile, sites: Iterable[Site], reason: str) -> FilePort:
    """Leave every site of a file as it is."""
    return FilePort(file, (), tuple(Verdict(s, Status.LEFT, "file", reason) for s in sites))


def not_ported(file: SourceFile, failure: Failure) -> FilePort:
    """Leave a file to a person as a whole: an error of fvmkit itself came between."""
    site = Site(file.name, 0, len(file.data), SiteKind.FILE, "the whole file")
    reason = f"internal error while {failure.step}: nothing of this file is ported"
    return FilePort(file, (), (Verdict(site, Status.ESCALATED, FAILED_RULE, reason),))


def account(sites: Iterable[Site], verdicts: dict[Site, Verdict]) -> None:
    """Raise InternalError for the first site without a verdict."""
    for site in sites:
        if site not in verdicts:
            raise InternalError(
                f"no rule accounts for {site.what}", file=site.file, hint="please report this"
            )


def _left_out(verdict: Verdict, condition: str) -> Verdict:
    """What becomes of a place for a person if this build hasn't got it."""
    if not condition or verdict.rule != ASM_RULE:
        return verdict
    reason = f"not compiled in this project: {condition} is false"
    return Verdict(verdict.site, Status.LEFT, NotCompiled.id, reason)


def _unheard(
    file: SourceFile, switches: Sequence[SwitchPort], verdicts: Sequence[Verdict]
) -> Iterator[Verdict]:
    """Handlers that were proved, or that a person has to look at, although nothing in them is a
    site."""
    for switch in switches:
        heard = any(
            switch.start <= verdict.site.start < switch.end
            if switch.end
            else switch.reason in verdict.reason  # the whole file
            for verdict in verdicts
        )
        plain = switch.role == ROLE_OTHER and not file.is_asm  # the rules on C look at those
        needs_person = switch.status == ESCALATED and not plain
        if (needs_person or switch.proof is not None) and not heard:
            last = switch.end or len(file.data)
            line = file.data.find(b"\n", switch.start + 1, last)  # at least a byte
            end = last if line < 0 else line
            site = Site(file.name, switch.start, end, SiteKind.ASM, switch.name, switch.name)
            reason = f"{switch.name}: {switch.reason}"
            yield Verdict(site, Status(switch.status), Transcribed.id, reason)


def _uses_macro(site: Site, file: SourceFile) -> bool:
    """Whether the preprocessor makes something else of it."""
    name = re.match(r"\w+", site.what)
    define = rb"(?mi)^[ \t]*#[ \t]*define[ \t]+%s\b"
    return name is not None and bool(re.search(define % name.group().encode(), file.data))


def _is_read_number(site: Site, file: SourceFile) -> bool:
    """Whether an instruction is written as data: a function that begins with it, the transcriber
    takes for data as well."""
    written = next(instructions(file.data[site.start : site.end]), None)
    if written is None or not is_numbered(written) or written.mnemonic in UNREAD:
        return False
    return not site.what.startswith(written.mnemonic)


def _in_asm(
    site: Site, switches: Sequence[SwitchPort], file: SourceFile, away: str, is_only_named: bool
) -> Verdict:
    """`away`: why it is a jump out of the program; `is_only_named`: nothing in the file uses the
    name that it gives."""
    for switch in switches:
        # A handler that stays names only its label.
        if switch.start <= site.start < switch.end or switch.name == site.where:
            return Verdict(
                site, Status(switch.status), Transcribed.id, f"{switch.name}: {switch.reason}"
            )
    reason = "assembler outside a context switch: write this function in C over virt_int_*"
    for switch in switches:
        if switch.status == ESCALATED and switch.start == switch.end == 0:  # the whole file
            return Verdict(site, Status.ESCALATED, ASM_RULE, switch.reason)
    stop = next(instructions(site.what.encode("latin-1")), None)
    if stop is not None and stop.mnemonic in BREAKPOINTS:
        return Verdict(site, Status.ESCALATED, ASM_RULE, why_breakpoint(stop))
    if away:
        return Verdict(site, Status.ESCALATED, ASM_RULE, away)
    if site.what.startswith(DIRECTIVES):
        return Verdict(site, Status.ESCALATED, ASM_RULE, WHY_MADE)
    if _is_read_number(site, file):
        return Verdict(site, Status.ESCALATED, ASM_RULE, reason)
    if site.where == IN_MACRO or (switches and _uses_macro(site, file)):
        left = "a macro: what uses it was looked at, instruction by instruction"
        return Verdict(site, Status.LEFT, ASM_RULE, left)
    if stop is not None and names_number(stop) and (switches or is_only_named):
        left = "a name for a number: what the file's functions do with it was looked at"
        if not switches:
            left = "a name for a number, that nothing in this file uses: only its use is an access"
        return Verdict(site, Status.LEFT, ASM_RULE, left)
    return Verdict(site, Status.ESCALATED, ASM_RULE, reason)
