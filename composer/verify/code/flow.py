"""A function's instructions as a graph: their order, and which registers are still read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from composer.verify.code.decode import LR, PC, SP, Decoder, Immediate, Instruction
from composer.verify.code.state import FLAGS, KEPT

_ALL = FLAGS | 0xFFFF
_ALWAYS = 1 << PC | 1 << SP
_ARGUMENTS = 0b1111
_CALLEES = _ARGUMENTS | 1 << 12 | 1 << LR | FLAGS
_RETURNED = 1 | 1 << LR | sum(1 << register for register in KEPT)
_WITH_CARRY = ("adc", "sbc", "rrx", "mrs")


class Flow:
    """What can follow what, as far as the instructions say; jumps through tables are learnt.

    Instructions that can come again after themselves, a loop with all loops in it, make one group.
    Groups are numbered so that none leads to one with a smaller number.
    """

    def __init__(self, decoder: Decoder, code: range, entry: int) -> None:
        self._decoder, self._code, self._entry = decoder, code, entry
        self._jumps: defaultdict[int, set[int]] = defaultdict(set)
        self._explore()

    def learn(self, jumps: set[tuple[int, int]]) -> None:
        """Jumps that the instructions don't tell."""
        for origin, target in jumps:
            self._jumps[origin].add(target)
        self._explore()

    def knows(self, origin: int, target: int) -> bool:
        """Whether `target` is known to follow `origin`."""
        return target in self._following[origin]

    def _explore(self) -> None:
        self._following: dict[int, tuple[int, ...]] = {}
        waiting = [self._entry]
        while waiting:
            pc = waiting.pop()
            if pc not in self._following:
                self._following[pc] = tuple(dict.fromkeys(self._after(pc)))
                waiting.extend(self._following[pc])
        self.group: dict[int, int] = {}
        self.loops: set[int] = set()
        self._find_groups()
        self.live: dict[int, int] = {}
        self._find_live()

    def _instruction(self, pc: int) -> Instruction | None:
        return self._decoder.at(pc) if pc in self._code else None

    def _after(self, pc: int) -> Iterator[int]:
        yield from self._jumps[pc]
        instruction = self._instruction(pc)
        if instruction is None:
            return
        if instruction.name in ("b", "cbz", "cbnz"):
            target = instruction.operands[-1]
            if isinstance(target, Immediate):
                yield target.value
        if instruction.condition or _goes_on(instruction):
            yield instruction.end

    def _find_groups(self) -> None:
        """Strongly connected components, by Tarjan's algorithm without recursion."""
        number: dict[int, int] = {}
        lowest: dict[int, int] = {}
        open_ones: list[int] = []
        found = 0
        stack = [(self._entry, 0)]
        while stack:
            pc, position = stack.pop()
            if pc not in number:
                number[pc] = lowest[pc] = len(number)
                open_ones.append(pc)
            following = self._following[pc]
            while position < len(following):
                after = following[position]
                if after not in number:
                    break
                if after not in self.group:
                    lowest[pc] = min(lowest[pc], lowest[after])
                position += 1
            else:
                if lowest[pc] == number[pc]:
                    first = open_ones.index(pc)
                    members, open_ones = open_ones[first:], open_ones[:first]
                    found -= 1
                    self.group.update(dict.fromkeys(members, found))
                    if len(members) > 1 or pc in following:
                        self.loops.add(found)
                continue
            stack += [(pc, position), (following[position], 0)]

    def _find_live(self) -> None:
        """Registers, as bits, whose values may be read before they are replaced."""
        before: defaultdict[int, list[int]] = defaultdict(list)
        for pc, following in self._following.items():
            for after in following:
                before[after].append(pc)
        # Groups that come late first: most values are final when they are computed.
        waiting = sorted(self._following, key=lambda pc: self.group[pc])
        while waiting:
            pc = waiting.pop()
            live = self._live(pc)
            if live != self.live.get(pc):
                self.live[pc] = live
                waiting.extend(before[pc])

    def _live(self, pc: int) -> int:
        instruction = self._instruction(pc)
        if instruction is None:
            return _ALL
        later = sum_of(self.live.get(after, 0) for after in self._following[pc])
        reads, writes = _reads(instruction), _writes(instruction)
        if instruction.name in ("tbb", "tbh") and not self._jumps[pc]:
            later = _ALL
        if _leaves(instruction):
            later |= _ALL if instruction.name == "ldr" and not self._jumps[pc] else _RETURNED
        return reads | _ALWAYS | (later if instruction.condition else later & ~writes)


def sum_of(sets: Iterator[int]) -> int:
    """Union of sets of bits."""
    total = 0
    for one in sets:
        total |= one
    return total


def _leaves(instruction: Instruction) -> bool:
    """Whether it loads the program counter, or moves something there."""
    return instruction.name == "bx" or (
        bool(instruction.writes >> PC & 1)
        and instruction.name not in ("b", "bl", "blx", "cbz", "cbnz", "tbb", "tbh")
    )


def _goes_on(instruction: Instruction) -> bool:
    """Whether the next instruction can follow."""
    if instruction.name in ("b", "tbb", "tbh", "udf", "bkpt"):
        return False
    return not _leaves(instruction)


def _reads(instruction: Instruction) -> int:
    reads = instruction.reads
    if instruction.name in ("bl", "blx"):
        reads |= _ARGUMENTS
    depends = instruction.condition and instruction.name not in ("it", "cbz", "cbnz")
    return reads | FLAGS if depends or instruction.name in _WITH_CARRY else reads


def _writes(instruction: Instruction) -> int:
    writes = instruction.writes & ~(1 << PC)
    if instruction.name in ("bl", "blx"):
        writes |= _CALLEES
    if instruction.sets_flags or instruction.name in ("cmp", "cmn", "tst", "teq"):
        writes |= FLAGS
    return writes
