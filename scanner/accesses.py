"""Findings of address rules: constants followed to what is accessed through them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from scanner.arch.model import Architecture
from scanner.decode.code_map import CodeMap
from scanner.decode.code_space import CodeSpace
from scanner.decode.effects import NONE, Constants, Direct, Effect, Effects
from scanner.decode.instruction_set import Flags, Indices
from scanner.decode.lanes import Accesses, follow
from scanner.decode.marks import Marks
from scanner.decode.select import previous, select
from scanner.report.finding import Finding
from scanner.rules.model import Access, AccessKind, AddressRule
from scanner.surplus import MAX_FINDINGS, more_findings
from scanner.target import Target

_KINDS: dict[int, AccessKind] = {
    Effect.LOAD: "read",
    Effect.STORE: "write",
    Effect.GO: "jump",
    Effect.SWITCH: "jump",
}

_CLOSE = 32
"""So many halfwords in front of a jump compilers make its address."""

_RIGHT_BEFORE = 4
"""So many instructions in front of a jump its register's load is looked for."""

_STEPS, _NEAR_STEPS = 96, 40
"""For so many instructions constants are followed, and those that only a jump may follow."""

_IN_DOUBT = "no access through it was seen: it may be a number that only looks like an address"

MAX_FOLLOWED = 50_000
"""So many constants are followed per address rule, which takes about a second."""


def find_accesses(
    space: CodeSpace, code: CodeMap, core: Architecture, target: Target, unjudged: Marks
) -> Iterator[Finding]:
    """Each access once, in the order of the code, but for those in unjudged code."""
    rules = [
        rule
        for rule in core.address_rules
        if target.policy.grants is not None or not rule.asks_grants
    ]
    if not rules:
        return
    constants, direct = core.isa.constants(space, code.listed)
    judges = [_Judged(space, code, core, target, rule, constants) for rule in rules]
    followed = _followed(space, core, code.listed, constants, judges)
    for judge in judges:
        found, complete = judge.findings(followed, direct, unjudged)
        yield from (found[place] for place in sorted(found))
        if not complete:
            yield more_findings(judge.rule, judge.rule.severity, None)


def _followed(
    space: CodeSpace,
    core: Architecture,
    listed: Marks,
    constants: Constants,
    judges: Sequence[_Judged],
) -> Accesses:
    """Accesses through the constants that any of the rules wants; origins are rows of all."""
    far, near = (
        _union([judge.wanted for judge in judges if judge.rule.judges_jumps == jumps])
        for jumps in (False, True)
    )
    wanted = np.union1d(far, near)
    steps = np.where(np.isin(wanted, far), _STEPS, _NEAR_STEPS)
    rows = follow(space, core.isa, listed, constants.chosen(wanted), steps)
    return rows._replace(origin=wanted[rows.origin])


def _union(rows: Sequence[Indices]) -> Indices:
    return np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *rows]))


class _Judged:
    """One rule on one image."""

    def __init__(
        self,
        space: CodeSpace,
        code: CodeMap,
        core: Architecture,
        target: Target,
        rule: AddressRule,
        constants: Constants,
    ) -> None:
        self._space, self._code, self._core = space, code, core
        self._target, self.rule = target, rule
        self._constants = constants
        wanted = self._wanted(constants.values, self._promising())
        self.wanted, self._complete = wanted[:MAX_FOLLOWED], len(wanted) <= MAX_FOLLOWED

    def findings(
        self, followed: Accesses, direct: Direct, unjudged: Marks
    ) -> tuple[dict[tuple[int, str], Finding], bool]:
        """Findings by place and text, and whether these are all."""
        found: dict[tuple[int, str], Finding] = {}
        for index, access in chain(self._direct(direct), self._through(followed)):
            text = None if unjudged.has(index) else self.rule.judge(access, self._target)
            if text is not None:
                if len(found) == MAX_FINDINGS:
                    return found, False
                in_doubt = access.kind == "address" and self.rule.doubts_numbers
                found[index, text] = self._finding(index, text, in_doubt)
        return found, self._complete

    def _promising(self) -> Flags | None:
        """The constants behind which what the rule judges may come; None for all of them."""
        if not self.rule.judges_jumps:
            return None
        indices = self._constants.indices
        jumps = select(self._space, self._code.listed, self._core.isa.register_jumps)
        jumps = jumps[~self._loads(jumps)]
        following = np.append(jumps, len(self._space) + _CLOSE)[np.searchsorted(jumps, indices)]
        close: Flags = following - indices < _CLOSE
        return close

    def _loads(self, jumps: Indices) -> Flags:
        """Jumps whose register was loaded through a pointer right before, as most are."""
        space, isa, listed = self._space, self._core.isa, self._code.listed
        found = np.zeros(len(jumps), dtype=np.bool_)
        registers = self._effects(jumps).base
        rows, at = np.arange(len(jumps)), jumps
        for _ in range(_RIGHT_BEFORE):
            at = previous(space, isa.wide, listed, at)
            rows, at = rows[at >= 0], at[at >= 0]
            effects = self._effects(at)
            sets = (effects.target == registers[rows]) & (effects.kind < Effect.STORE)
            found[rows[sets & (effects.kind == Effect.LOAD) & (effects.base != NONE)]] = True
            rows, at = rows[~sets], at[~sets]
        return found

    def _effects(self, indices: Indices) -> Effects:
        words, addresses = self._space.halfwords, self._space.addresses(indices)
        return self._core.isa.effects(words[indices], words[indices + 1], addresses)

    def _wanted(self, values: npt.NDArray[np.uint32], among: Flags | None = None) -> Indices:
        """Rows of the values that the rule wants to know about."""
        near = self._near(values)
        rows = np.flatnonzero(near if among is None else near & among)
        different, which = np.unique(values[rows], return_inverse=True)
        covered = [self.rule.covers(value, self._target) for value in different.tolist()]
        return rows[np.array(covered, dtype=np.bool_)[which]]

    def _near(self, values: npt.NDArray[np.uint32]) -> Flags:
        near = np.zeros(len(values), dtype=np.bool_)
        for reach in self.rule.reach(self._target):
            near |= (values >= reach.start) & (values < reach.stop)
        return near

    def _direct(self, direct: Direct) -> Iterator[tuple[int, Access]]:
        """Accesses whose instructions hold the whole address."""
        for row in self._wanted(direct.addresses).tolist():
            kind: AccessKind = "write" if direct.store[row] else "read"
            yield int(direct.indices[row]), Access(kind, int(direct.addresses[row]))

    def _through(self, followed: Accesses) -> Iterator[tuple[int, Access]]:
        """Accesses through constants; of others, that they were made, if it was on purpose.

        What is compared with something is a number, unless there is an access too.
        """
        constants = self._constants
        silent = np.zeros(len(constants.indices), dtype=np.bool_)
        silent[self.wanted] = True
        accesses = (followed.kind >= Effect.LOAD) & (followed.kind != Effect.COMPARE)
        accesses &= silent[followed.origin]
        rows = np.flatnonzero(accesses & self._near(followed.address))
        seen = followed.own | self.rule.doubts_numbers  # a callee's access is no doubt any more
        silent[followed.origin[seen]] = False
        columns = (column[rows].tolist() for column in followed[2:])
        for index, effect, address, exact, value, valued in zip(*columns, strict=True):
            switches = effect == Effect.SWITCH
            yield index, Access(_KINDS[effect], address, value if valued else None, exact, switches)
        for row in np.flatnonzero(silent & constants.whole).tolist():
            yield int(constants.indices[row]), Access("address", int(constants.values[row]))

    def _finding(self, index: int, text: str, in_doubt: bool) -> Finding:
        return Finding(
            rule=self.rule.id,
            address=self._space.address(index),
            offset=self._space.offset(index),
            function=None,
            source=None,
            severity=self.rule.severity,
            certainty="possible" if in_doubt else "certain",
            text=text,
            why=self.rule.why,
            fix=_IN_DOUBT if in_doubt else self.rule.fix,
        )
