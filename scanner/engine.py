"""From a loaded image to its findings: search, judge, describe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from scanner.accesses import find_accesses
from scanner.arch.guess import fitting_cores
from scanner.arch.model import Architecture
from scanner.arch.registry import architecture
from scanner.decode.code_map import CodeMap, build_code_map
from scanner.decode.code_space import CodeSpace, constant_pieces, executable_pieces
from scanner.decode.instruction_set import Flags, Indices, InstructionSet
from scanner.decode.marks import Marks
from scanner.decode.search import Hits, search, values
from scanner.evidence import evidence_of, no_code
from scanner.image.model import Image, Problem
from scanner.places import Places
from scanner.policy import Policy
from scanner.report.evidence import Evidence
from scanner.report.finding import Certainty, Finding, Severity
from scanner.rules import outside
from scanner.rules.model import InstructionRule, Judgement
from scanner.source_tree import SourceTree
from scanner.surplus import MAX_FINDINGS, more_findings
from scanner.target import Target
from scanner.unjudged import unjudged_code
from scanner.why import with_paths

_ALLOWED = 4
_RANK, _WIDE = 40, 1
"""Of a hit as one number: its rank above its index above whether it is wide."""

_ANY_SVC = frozenset(range(256))
"""Where a kernel of its own lies beside the guests, their SVC is for that one."""

_IN_DOUBT = (
    "no known path leads here: most likely a constant or the middle of another instruction, "
    "but a computed branch could"
)


@dataclass(frozen=True)
class Found:
    """What is in an image's executable memory.

    `cores` are those whose rules were applied, `problem` says why nothing was.
    """

    findings: list[Finding]
    cores: tuple[str, ...]
    evidence: Evidence | None = None
    problem: Problem | None = None


def find(
    image: Image,
    target: Target,
    entries: Iterable[int] = (),
    guessed: bool = False,
    sources: SourceTree | None = None,
    privileged: Sequence[str] = (),
    why: bool = False,
) -> Found:
    """All findings, with functions and source lines, these in `sources` where they are there.

    `entries` are code pointers besides the image's own entry. Where the core is `guessed`, what
    is silent on another one of its machine that could run the program counts, too. What
    `privileged` names isn't judged; where neither it nor a domain is known, the system's layout
    tells. With `why` findings have a path.
    """
    own = () if image.entry is None else (image.entry, *image.more_entries)
    named = [*entries]
    known = [*own, *named]
    isa = architecture(target.arch).isa
    space, code = _mapped(image, target.policy, isa, known, keep=why)
    if code is None:
        return Found([], (target.arch,))
    unjudged = unjudged_code(
        space, isa, image, code, (own, named), privileged, recognise=target.policy.domain is None
    )
    if unjudged.known_by and target.policy.domain is None:
        target = replace(target, policy=replace(target.policy, svc=_ANY_SVC))
    problem = no_code(space, code) or unjudged.problem
    names = fitting_cores(space, code, target.arch) if guessed else (target.arch,)
    target = replace(target, arch=names[0], scanned=_scanned(space))
    core = architecture(target.arch)
    findings = [*_Scan(space, code, core, target, unjudged.marks).instructions()]
    for name in names[1:]:
        other = architecture(name)
        rules = tuple(rule for rule in other.rules if rule not in core.rules)
        target_too = replace(target, arch=name)
        scan = _Scan(space, code, replace(other, rules=rules), target_too, unjudged.marks)
        findings += [found for found in scan.instructions() if found.severity == "silent"]
    findings += find_accesses(space, code, core, target, unjudged.marks)
    findings += _leaving(space, code, unjudged.marks)
    evidence = evidence_of(space, code, isa, target.policy, unjudged)
    places = Places(image, sources)
    findings = places.of(findings)
    if why:
        findings = with_paths(findings, space, isa, code, image, known, places, unjudged.marks)
    return Found(findings, names, evidence, problem)


class _Scan:
    """One image for one target."""

    def __init__(
        self, space: CodeSpace, code: CodeMap, core: Architecture, target: Target, unjudged: Marks
    ) -> None:
        self._space, self._code, self._core, self._target = space, code, core, target
        self._unjudged = unjudged if unjudged.any() else None

    def instructions(self) -> Iterator[Finding]:
        """Findings of instruction rules; what rejects comes first and is never left out."""
        rules = self._core.rules
        by_rule: dict[str, list[npt.NDArray[np.int64]]] = {rule.id: [] for rule in rules}
        for hits in search(self._space, self._core.isa, rules, self._code.listed):
            by_rule[hits.rule.id].append(self._ranked(hits))
        for rule in rules:
            ranked = by_rule.pop(rule.id)
            if ranked:
                yield from self._worst(rule, np.unique(np.concatenate(ranked)))

    def _ranked(self, hits: Hits) -> npt.NDArray[np.int64]:
        """Hits as numbers: the smaller, the graver, and among those the lower its address.

        There may be millions. What isn't silent counts in listed code alone: elsewhere it would be
        no more than noise.
        """
        decisive = np.uint32(hits.rule.decisive)
        different = np.unique(hits.values & decisive)
        places = np.searchsorted(different, hits.values & decisive)
        judged = [hits.rule.judge(value, self._target) for value in different.tolist()]
        ranks = np.array([_ALLOWED if j is None else 2 * (j.severity != "silent") for j in judged])
        rank, indices = ranks[places], hits.indices
        kept = (rank == 0) | ((rank < _ALLOWED) & self._code.listed[indices])
        if self._unjudged is not None:
            kept &= ~self._unjudged[indices]
        for row in hits.rule.harmless:
            kept &= ~self._ends(indices, row)
        rank, indices = rank[kept], indices[kept]
        rank = rank + ~self._code.certain[indices]
        numbers: npt.NDArray[np.int64] = rank << _RANK | indices << _WIDE | (hits.bits == 32)
        return numbers

    def _ends(self, indices: Indices, row: Sequence[int]) -> Flags:
        """Where instructions that control comes to one after the other end with a hit."""
        words, first = self._space.halfwords, indices + 2 - len(row)
        found: Flags = first >= 0
        for number, halfword in enumerate(row):
            found &= words.take(first + number, mode="clip") == halfword
        rows = np.flatnonzero(found)
        for number in range(0, len(row), 2):
            found[rows] &= self._code.certain[first[rows] + number]
        return found

    def _worst(self, rule: InstructionRule, ranked: npt.NDArray[np.int64]) -> Iterator[Finding]:
        for hit in ranked[:MAX_FINDINGS].tolist():
            index, bits = (hit & (1 << _RANK) - 1) >> _WIDE, 32 if hit & _WIDE else 16
            value = int(values(self._space, self._core.isa, bits, np.array([index]))[0])
            judgement = rule.judge(value, self._target)
            if judgement is not None:
                yield self._instruction(rule, judgement, index, bits, value)
        for hit in ranked[MAX_FINDINGS : MAX_FINDINGS + 1].tolist():
            rank = hit >> _RANK
            severity: Severity = "silent" if rank < 2 else "traps"
            certainty: Certainty = "possible" if rank % 2 else "certain"
            yield more_findings(rule, severity, len(ranked) - MAX_FINDINGS, certainty)

    def _instruction(
        self, rule: InstructionRule, judgement: Judgement, index: int, bits: int, value: int
    ) -> Finding:
        text = self._core.disassembler.text(self._space.code(index, bits // 16))
        spelled = judgement.what or rule.id
        if text is None or (judgement.what and text.split()[0] != spelled.split()[0]):
            text = f"{spelled} (encoded as 0x{value:0{bits // 4}x})"
        certain = self._code.certain.has(index)
        return Finding(
            rule=rule.id,
            address=self._space.address(index),
            offset=self._space.offset(index),
            function=None,
            source=None,
            severity=judgement.severity,
            certainty="certain" if certain else "possible",
            text=text,
            why=judgement.why or rule.why,
            fix=rule.fix if certain else _IN_DOUBT,
            strict=judgement.strict,
        )


def _mapped(
    image: Image, policy: Policy, isa: InstructionSet, entries: Sequence[int], keep: bool
) -> tuple[CodeSpace, CodeMap | None]:
    """The code, if there is any, with what it leads to that its segment doesn't call code: start-up
    code puts functions into RAM among initialised data. `keep` is build_code_map's."""
    called: set[int] = set(isa.code_addresses(np.array(entries, dtype=np.int64)).tolist())
    while True:
        pieces = executable_pieces(image, policy.code_grants(), called)
        space = CodeSpace(pieces, constant_pieces(image))
        if not len(space):
            return space, None
        code = build_code_map(space, isa, image.symbols, entries, keep)
        onward = called | set(np.unique(code.leaving[1]).tolist())
        if len(executable_pieces(image, policy.code_grants(), onward)) == len(pieces):
            return space, code
        called = onward


def _scanned(space: CodeSpace) -> tuple[range, ...]:
    return tuple(range(address, address + 2 * length) for _, length, address in space.runs())


def _leaving(space: CodeSpace, code: CodeMap, unjudged: Marks) -> Iterator[Finding]:
    """Jumps and calls to where the file has nothing."""
    rule = outside.RULE
    at, addresses = code.leaving
    judged = ~unjudged[at]
    at, addresses = at[judged], addresses[judged]
    for index, address in zip(at[:MAX_FINDINGS].tolist(), addresses.tolist(), strict=False):
        yield Finding(
            rule=rule.id,
            address=space.address(index),
            offset=space.offset(index),
            function=None,
            source=None,
            severity=rule.severity,
            certainty="certain",
            text=outside.leads_away(address % (1 << 32)),
            why=rule.why,
            fix=rule.fix,
        )
    if len(at) > MAX_FINDINGS:
        yield more_findings(rule, rule.severity, len(at) - MAX_FINDINGS, "certain")
