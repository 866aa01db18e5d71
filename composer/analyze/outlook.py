"""What a port would do: how many places, by which rule, and what is left to a person and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from composer.analyze.model import Count, PortFacts, Work
from composer.analyze.switches import place
from porter.judging.verdict import Status, Verdict
from porter.port import Judged
from porter.result import FilePort
from porter.rules.nvic_call import WITHOUT_DOMAIN

_SHOWN = 5  # names in a group of places
# What differs from place to place in the reasons that one rule gives.
_PLACE_OF_ITS_OWN = (
    (re.compile(r"\s*\((?:called from|from) .*\)"), ""),
    (re.compile(r" in the macro \w+"), " in a macro"),
    (re.compile(r" is read(?: in a macro| and [^:]*)?; boot table$"), " is read, its value used"),
    (re.compile(r"\b\w+->\w+(?:\[\w*\])?"), "a register"),
    (re.compile(r"\b0x[0-9A-Fa-f]+\b"), "an address"),
    (re.compile(r"^\w+(?= is defined by no header)"), "a name"),
    (re.compile(r"^no rule knows what \S+ is for"), "no rule knows what it is for"),
)  # fmt: skip
_REMEDIES = {
    "boot-table": "what is set up before main's loop goes into the description; for what is read "
    "or changed later, use a constant, or ask the block's owner",
    "context-switch": "see docs/context-switch.md, or give the RTOS's port as one that is known",
    "no-counterpart": "take it out, or do what it is for with the guest's functions",
    "address": "name the device where it is used, so that what is done there can be told",
    "ambiguous": "have the build say which definition counts (compile_commands.json)",
    "asm-statement": "say the core by --cpu where nothing tells it; else write the statement with "
    "the guest's functions (docs/runtime.md)",
}
_BY_HAND = "port it by hand, or acknowledge it in the description (docs/ledger.md)"
_IS_ADVICE = re.compile(r"[a-z]+ ")
_COMPILER_SAYS = re.compile(r"(?i)\berror\b")


def outlook(judged: Judged, is_drafted: bool) -> PortFacts:
    """Counts over all sites; `is_drafted`: judged with the description that init would draft."""
    verdicts = list(_verdicts(judged))
    asked = [it for it in verdicts if it[1].status is Status.ESCALATED]
    later = sum(it[1].reason.endswith(WITHOUT_DOMAIN) for it in asked)
    person = [it for it in asked if not it[1].reason.endswith(WITHOUT_DOMAIN)]
    return PortFacts(
        is_drafted,
        len(verdicts),
        _by_rule(verdicts, Status.REWRITTEN),
        _by_rule(verdicts, Status.LEFT),
        later,
        tuple(_work(person)),
    )


def _verdicts(judged: Judged) -> Iterator[tuple[FilePort, Verdict]]:
    for port in judged.result.files:
        yield from ((port, verdict) for verdict in port.verdicts)


def _by_rule(verdicts: list[tuple[FilePort, Verdict]], status: Status) -> tuple[Count, ...]:
    counts = Counter(it.rule for _, it in verdicts if it.status is status)
    return tuple(Count(rule, count) for rule, count in counts.most_common())


def _work(person: list[tuple[FilePort, Verdict]]) -> Iterator[Work]:
    """One entry a rule and reason, the most frequent first."""
    groups: dict[tuple[str, str], list[tuple[FilePort, Verdict]]] = {}
    for port, verdict in person:
        groups.setdefault((verdict.rule, _general(verdict.reason)), []).append((port, verdict))
    for (rule, text), members in sorted(groups.items(), key=lambda it: -len(it[1])):
        names = [*dict.fromkeys(verdict.site.what for _, verdict in members)]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        reason, remedy = _parts(text)
        yield Work(
            f"{', '.join(names[:_SHOWN])}{more} [{rule}]",
            len(members),
            reason,
            remedy or _REMEDIES.get(rule, _BY_HAND),
            tuple(dict.fromkeys(place(port.file, it.site.start) for port, it in members)),
        )


def _general(reason: str) -> str:
    for pattern, text in _PLACE_OF_ITS_OWN:
        reason = pattern.sub(text, reason)
    return reason


def _parts(text: str) -> tuple[str, str]:
    """A reason of the porter mostly ends with what to do, behind a colon."""
    for sign in (": ", "; ") if not _COMPILER_SAYS.search(text) else ():
        reason, found, remedy = text.rpartition(sign)
        if found and reason and reason != "a register" and _IS_ADVICE.match(remedy):
            return reason, remedy
    return text, ""
