"""Recursive descent: what direct branches reach from known code.

Behind a call stands code only if the callee returns; behind a call of abort() often stand
constants. So the descent waits behind each call until it has seen a way out of the callee. Every
halfword is visited once: a function that runs into another's code returns if that one does.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import Flags, FlowKind, InstructionSet

_NARROW, _WIDE, _LOOK, _BARRIER = range(4)
_UNSEEN = -1


def descend(space: CodeSpace, isa: InstructionSet, seeds: Iterable[int]) -> Flags:
    """Marks of all instruction starts that are reached."""
    return _Descent(space, isa).run(seeds)


class _Descent:
    def __init__(self, space: CodeSpace, isa: InstructionSet) -> None:
        steps = np.where(isa.ordinary, np.where(isa.wide, _WIDE, _NARROW), _LOOK)
        classes = steps.astype(np.uint8)[space.halfwords]
        classes[space.barriers] = _BARRIER
        self._space = space
        self._isa = isa
        self._classes = classes.tobytes()
        self._halfwords = memoryview(space.halfwords.data)
        self._owners = array("i", [_UNSEEN]) * len(space)
        self._returning: set[int] = set()
        self._behind_calls: dict[int, list[tuple[int, int]]] = defaultdict(list)
        self._runs_into: dict[int, list[int]] = defaultdict(list)
        self._work: list[tuple[int, int]] = []

    def run(self, seeds: Iterable[int]) -> Flags:
        self._work += [(seed, seed) for seed in seeds]
        while self._work:
            self._walk(*self._work.pop())
        reached: Flags = np.frombuffer(self._owners, dtype=np.int32) != _UNSEEN
        return reached

    def _walk(self, index: int, function: int) -> None:
        """Follow one path of a function until it ends or meets what was seen before."""
        classes, owners = self._classes, self._owners
        conditional_until = 0
        while classes[index] != _BARRIER:
            owner = owners[index]
            if owner != _UNSEEN:
                self._joins(function, owner)
                return
            step = classes[index]
            if step == _NARROW:
                owners[index] = function
                index += 1
            elif classes[index + 1] == _BARRIER and self._isa.wide[self._halfwords[index]]:
                return  # cut off by the end of memory
            elif step == _WIDE:
                owners[index] = function
                index += 2
            else:
                owners[index] = function
                flow = self._isa.flow(self._halfwords[index], self._halfwords[index + 1])
                goes_on = self._branch(flow.kind, index, flow.length, flow.distance, function)
                if flow.conditional:
                    conditional_until = self._behind(index + flow.length, flow.conditional)
                if not goes_on and index >= conditional_until:
                    return
                index += flow.length

    def _branch(
        self, kind: FlowKind, index: int, length: int, distance: int, function: int
    ) -> bool:
        """Note where an instruction leads; says whether the next one is reached at once."""
        if kind is FlowKind.NEXT:
            return True
        if kind is FlowKind.RETURN:
            self._returns(function)
        if kind in (FlowKind.RETURN, FlowKind.STOP):
            return False
        target = self._target(index, distance)
        if kind is FlowKind.CALL:
            return self._call(target, index + length, function)
        if target is None:
            self._returns(function)  # leaves what we see: no reason to think it stays away
        else:
            self._work.append((target, function))
        return kind is FlowKind.BRANCH

    def _call(self, target: int | None, behind: int, function: int) -> bool:
        if target is None:
            return True
        if self._owners[target] == _UNSEEN:
            self._work.append((target, target))
        elif self._owners[target] != target:
            self._joins(target, self._owners[target])
        if target in self._returning:
            return True
        self._behind_calls[target].append((behind, function))
        return False

    def _target(self, index: int, distance: int) -> int | None:
        return self._space.index(self._space.address(index) + 2 * distance)

    def _behind(self, index: int, count: int) -> int:
        """Index behind the next `count` instructions, which an IT makes conditional."""
        for _ in range(count):
            if self._classes[index] == _BARRIER:
                break
            index += 2 if self._isa.wide[self._halfwords[index]] else 1
            index = min(index, len(self._classes) - 1)
        return index

    def _joins(self, function: int, owner: int) -> None:
        if owner in self._returning:
            self._returns(function)
        elif owner != function:
            self._runs_into[owner].append(function)

    def _returns(self, function: int) -> None:
        """A way out of the function is known: go on behind its calls."""
        known = [function]
        while known:
            one = known.pop()
            if one not in self._returning:
                self._returning.add(one)
                self._work += self._behind_calls.pop(one, [])
                known += self._runs_into.pop(one, [])
