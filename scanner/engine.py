"""From a loaded image to its findings: search, judge, describe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import numpy as np
import numpy.typing as npt

from scanner.arch.model import Architecture
from scanner.arch.registry import architecture
from scanner.decode.code_map import CodeMap, build_code_map
from scanner.decode.code_space import CodeSpace, constant_pieces, executable_pieces
from scanner.decode.effects import Constants, Direct
from scanner.decode.instruction_set import Indices
from scanner.decode.lanes import follow
from scanner.decode.search import Hits, search
from scanner.image.model import Image
from scanner.report.finding import Finding, Severity
from scanner.rules.model import Access, AccessKind, AddressRule, InstructionRule, Judgement
from scanner.target import Target

MAX_FINDINGS = 1000
"""A rule lists no more than this many per file; one more finding counts the rest."""

MAX_FOLLOWED = 50_000
"""So many constants are followed per address rule, which takes about a second."""

_ALLOWED = 4
_IN_DOUBT = (
    "no known path leads here: most likely a constant or the middle of another instruction, "
    "but a computed branch could"
)


def find(image: Image, target: Target) -> list[Finding]:
    """All findings in the image's executable memory, with functions and source lines."""
    pieces = executable_pieces(image, target.policy.code_grants())
    space = CodeSpace(pieces, constant_pieces(image))
    if not len(space):
        return []
    core = architecture(target.arch)
    code = build_code_map(space, core.isa, image.symbols, image.entry)
    scan = _Scan(space, code, core, target)
    return _located([*scan.instructions(), *scan.addresses()], image)


class _Scan:
    """One image for one target."""

    def __init__(self, space: CodeSpace, code: CodeMap, core: Architecture, target: Target) -> None:
        self._space, self._code, self._core, self._target = space, code, core, target

    def instructions(self) -> Iterator[Finding]:
        """Findings of instruction rules; what rejects comes first and is never left out."""
        rules = self._core.rules
        by_rule: dict[str, list[Hits]] = {rule.id: [] for rule in rules}
        for hits in search(self._space, self._core.isa, rules, self._code.listed):
            by_rule[hits.rule.id].append(hits)
        for rule in rules:
            ranked = [self._ranked(hits) for hits in by_rule[rule.id]]
            if ranked:
                yield from self._worst(rule, np.unique(np.concatenate(ranked), axis=0))

    def _ranked(self, hits: Hits) -> npt.NDArray[np.int64]:
        """Rows of rank, index, width and value; the smaller the rank, the graver.

        What isn't silent counts in listed code alone: elsewhere it would be no more than noise.
        """
        decisive = np.uint32(hits.rule.decisive)
        values, places = np.unique(hits.values & decisive, return_inverse=True)
        judged = [hits.rule.judge(value, self._target) for value in values.tolist()]
        ranks = np.array([_ALLOWED if j is None else 2 * (j.severity != "silent") for j in judged])
        rank = np.where(
            (ranks[places] > 0) & ~self._code.listed[hits.indices], _ALLOWED, ranks[places]
        )
        rank[rank < _ALLOWED] += ~self._code.certain[hits.indices][rank < _ALLOWED]
        rows = np.column_stack(
            [rank, hits.indices, np.full(len(rank), hits.bits), hits.values.astype(np.int64)]
        )
        return rows[rank < _ALLOWED]

    def _worst(self, rule: InstructionRule, rows: npt.NDArray[np.int64]) -> Iterator[Finding]:
        order = np.lexsort((rows[:, 1], rows[:, 0]))
        for _, index, bits, value in rows[order[:MAX_FINDINGS]].tolist():
            judgement = rule.judge(value, self._target)
            if judgement is not None:
                yield self._instruction(rule, judgement, index, bits, value)
        for row in order[MAX_FINDINGS : MAX_FINDINGS + 1].tolist():
            severity: Severity = "silent" if rows[row, 0] < 2 else "traps"
            yield _more(rule, severity, len(order) - MAX_FINDINGS)

    def _instruction(
        self, rule: InstructionRule, judgement: Judgement, index: int, bits: int, value: int
    ) -> Finding:
        text = self._core.disassembler.text(self._space.code(index, bits // 16))
        spelled = judgement.what or rule.id
        if text is None or (judgement.what and text.split()[0] != spelled.split()[0]):
            text = f"{spelled} (encoded as 0x{value:0{bits // 4}x})"
        certain = bool(self._code.certain[index])
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

    def addresses(self) -> Iterator[Finding]:
        """Findings of address rules, each access once, in the order of the code."""
        if not self._core.address_rules:
            return
        isa, listed = self._core.isa, self._code.listed
        constants, direct = isa.constants(self._space, listed), isa.direct(self._space, listed)
        for rule in self._core.address_rules:
            found, complete = self._accesses(rule, constants, direct)
            yield from (found[place] for place in sorted(found))
            if not complete:
                yield _more(rule, rule.severity, None)

    def _accesses(
        self, rule: AddressRule, constants: Constants, direct: Direct
    ) -> tuple[dict[tuple[int, str], Finding], bool]:
        """Findings by place and text, and whether these are all."""
        wanted = self._wanted(rule, constants.values)
        complete = len(wanted) <= MAX_FOLLOWED
        chosen = constants.chosen(wanted[:MAX_FOLLOWED])
        found: dict[tuple[int, str], Finding] = {}
        for index, access in chain(self._direct(rule, direct), self._followed(chosen)):
            text = rule.judge(access, self._target)
            if text is not None:
                if len(found) == MAX_FINDINGS:
                    return found, False
                found[index, text] = self._access(rule, index, text)
        return found, complete

    def _wanted(self, rule: AddressRule, values: npt.NDArray[np.uint32]) -> Indices:
        """Rows of the constants that a rule wants to have followed."""
        near = np.zeros(len(values), dtype=np.bool_)
        for reach in rule.reach:
            near |= (values >= reach.start) & (values < reach.stop)
        rows = np.flatnonzero(near)
        different, which = np.unique(values[rows], return_inverse=True)
        covered = [rule.covers(value, self._target) for value in different.tolist()]
        return rows[np.array(covered, dtype=np.bool_)[which]]

    def _direct(self, rule: AddressRule, direct: Direct) -> Iterator[tuple[int, Access]]:
        for row in self._wanted(rule, direct.addresses).tolist():
            kind: AccessKind = "write" if direct.store[row] else "read"
            yield int(direct.indices[row]), Access(kind, int(direct.addresses[row]))

    def _followed(self, constants: Constants) -> Iterator[tuple[int, Access]]:
        """Accesses through constants; of others, that they were made, if it was on purpose."""
        rows = follow(self._space, self._core.isa, self._code.listed, constants)
        seen = np.zeros(len(constants.indices), dtype=np.bool_)
        seen[rows.origin[rows.own]] = True
        columns = (column.tolist() for column in rows[2:])
        for index, store, address, exact, value, valued in zip(*columns, strict=True):
            kind: AccessKind = "write" if store else "read"
            yield index, Access(kind, address, value if valued else None, exact)
        for row in np.flatnonzero(~seen & constants.whole).tolist():
            index, value = int(constants.indices[row]), int(constants.values[row])
            yield index, Access("address", value)

    def _access(self, rule: AddressRule, index: int, text: str) -> Finding:
        return Finding(
            rule=rule.id,
            address=self._space.address(index),
            offset=self._space.offset(index),
            function=None,
            source=None,
            severity=rule.severity,
            certainty="certain",
            text=text,
            why=rule.why,
            fix=rule.fix,
        )


def _more(rule: InstructionRule | AddressRule, severity: Severity, count: int | None) -> Finding:
    """Stands for the findings of a rule that are not listed; never graver than those that are."""
    return Finding(
        rule=rule.id,
        address=None,
        offset=None,
        function=None,
        source=None,
        severity=severity,
        certainty="possible",
        text="there may be more than are listed"
        if count is None
        else f"{count} more than are listed",
        why=rule.why,
        fix=rule.fix,
    )


def _located(findings: list[Finding], image: Image) -> list[Finding]:
    """Add function and source line."""
    addresses = [finding.address for finding in findings if finding.address is not None]
    sources = image.lines.locate(addresses) if image.lines is not None else {}
    located = []
    for finding in findings:
        if finding.address is not None:
            function = image.symbols.function_at(finding.address) if image.symbols else None
            source = sources.get(finding.address)
            finding = replace(finding, function=function, source=source)
        located.append(finding)
    return located
