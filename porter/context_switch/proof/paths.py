"""All paths through a function, each with the conditions under which it is taken."""

from __future__ import annotations

from typing import Any

import z3

from porter.context_switch.proof import idle, vct
from porter.context_switch.proof.conditions import holds
from porter.context_switch.proof.effort import Effort
from porter.context_switch.proof.execute import execute
from porter.context_switch.proof.idle_loop import UNASKED, loop_of
from porter.context_switch.proof.image import Image
from porter.context_switch.proof.machine import Path, entry
from porter.context_switch.proof.model import SERVICE, SPIN, Model
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.terms import Truth, apply, equal, field, symbol, truth
from porter.context_switch.proof.thumb import Code, Instruction

_MOST_PATHS = 256
_FOR_A_CONDITION = 2_000_000  # of Effort's resources


class Explorer:
    """Finds the paths of one image."""

    decoder: Any = Code

    def __init__(
        self,
        image: Image,
        model: Model,
        native: bool,
        effort: Effort,
        starts: list[Path] | None = None,
    ) -> None:
        self._image = image
        self._code: Any = self.decoder(image)
        self._solver: Any = z3.Solver()
        self._effort = effort
        self._count = 0  # of paths that have ended
        self._loop = loop_of(image, model) if native and model.waits else None
        self._waiting = starts or self.starts(image, model, native)
        self._side = "original" if native else "port"

    def starts(self, image: Image, model: Model, native: bool) -> list[Path]:
        """The states to begin with."""
        first = entry(image, model, native)
        if model.asks_msp:
            return [first, first.called_on_msp()]
        # With PRIMASK VCT has to wait.
        return [first, *_split_by_mask(first)] if model.goes_to_task else [first]

    def paths(self) -> list[Path]:
        """Every path. Raises NotProved where one isn't understood or they don't end."""
        found: list[Path] = []
        while self._waiting:
            path = self._waiting.pop()
            try:
                while self._goes_on(path):
                    self._step(path)
            except NotProved as problem:
                raise NotProved(f"the {self._side} {problem}") from problem
            vct.end(path)
            if path.again is not None and not path.left_out:
                raise NotProved(f"the {self._side} {UNASKED}")
            if path.left_out:
                continue
            found.append(path)
            self._count += 1
        return found

    def _goes_on(self, path: Path) -> bool:
        if path.exit is not None and path.visit is not None:
            vct.leave(path)
        return path.exit is None and not path.ended and not path.resumed

    def _step(self, path: Path) -> None:
        path.steps += 1
        self._effort.step()
        last, path.last = path.last, path.pc
        if self._loop is not None and path.pc == self._loop[1] and last in self._loop[0]:
            self._waiting += idle.arrive(path, self._effort)
            return
        instruction = self._code.at(path.pc)
        predicates, path.predicates = path.predicates, path.predicates[1:]
        code = predicates[0] if predicates else instruction.branch
        if code and not self._decide(path, holds(path.flags, code), instruction, predicates):
            path.pc = instruction.next
            return
        self._run(path, instruction, bool(predicates))

    def _run(self, path: Path, instruction: Instruction, predicated: bool) -> None:
        """An instruction whose condition holds."""
        at, path.pc = path.pc, instruction.next
        match instruction.name:
            case "it":
                path.predicates = instruction.it
            case "b":
                self._go(path, instruction.target(), at)
            case "cbz" | "cbnz":
                register = instruction.register(instruction.raw.operands[0].reg)
                zero = equal(path.read(register), 0)
                wanted = zero if instruction.name == "cbz" else opposite(zero)
                if self._decide(path, wanted, instruction, ()):
                    self._go(path, instruction.target(), at)
            case "bl":
                self._call(path, instruction.target())
            case "blx":
                target = path.read(instruction.register(instruction.raw.operands[0].reg))
                if isinstance(target, int):
                    self._call(path, target & ~1)
                elif path.model.serves:
                    path.call(SERVICE, target)
                elif path.native and path.model.goes_to_task:
                    path.write("lr", instruction.next | 1)
                    path.exit = target
                else:
                    raise NotProved(f"calls an unknown function: '{instruction.text}'")
            case _:
                path.pc = at
                execute(path, instruction, predicated)
                path.pc = instruction.next
                self._exit_to_function(path)

    def _go(self, path: Path, target: int, at: int) -> None:
        if target == at:
            path.event(SPIN, ())
        elif target in self._image.functions:
            self._tail_call(path, target)
        else:
            path.pc = target

    def _call(self, path: Path, target: int) -> None:
        name = self._image.functions.get(target)
        if name is None:
            raise NotProved(f"calls {target:#x}, where no function begins")
        path.call(name)

    def _tail_call(self, path: Path, target: int) -> None:
        """A call whose callee returns for this function."""
        back, inside = path.read("lr"), path.visit
        self._call(path, target)
        if path.visit is inside:
            path.exit = back
        else:
            vct.leave_by(path, back)

    def _exit_to_function(self, path: Path) -> None:
        """`bx` to a function is a call that returns to LR."""
        if isinstance(path.exit, int) and path.exit & ~1 in self._image.functions:
            target, path.exit = path.exit & ~1, None
            self._tail_call(path, target)

    def _decide(
        self, path: Path, condition: Truth, instruction: Any, predicates: tuple[str, ...]
    ) -> bool:
        """Whether this path goes on with the condition true. Where both can be, a copy that
        takes the other way is put aside."""
        condition = apply(path.known, condition)
        if isinstance(condition, bool):
            return condition
        negation = opposite(condition)
        for known in path.decided:
            if known.eq(condition):
                return True
            if known.eq(negation):
                return False
        can_be, can_fail = self._possible(path, condition), self._possible(path, negation)
        if can_be and can_fail:
            other = path.fork()
            other.settle(negation)
            other.pc = instruction.next
            self._waiting.append(other)
            if self._count + len(self._waiting) >= _MOST_PATHS:
                raise NotProved(f"has more than {_MOST_PATHS} paths")
        path.settle(condition if can_be else negation)
        return can_be

    def _possible(self, path: Path, condition: Any) -> bool:
        self._solver.push()
        self._solver.add(*path.conditions, condition)
        found = self._effort.check(self._solver, _FOR_A_CONDITION) != z3.unsat
        self._solver.pop()
        return bool(found)


def _split_by_mask(path: Path) -> list[Path]:
    """Settle whether PRIMASK is clear; the other paths."""
    clear = equal(field(symbol("PRIMASK"), 0, 1), 0)
    masked = path.fork()
    masked.settle(opposite(clear))
    path.settle(clear)
    return [masked]


def opposite(condition: Truth) -> Truth:
    """The negation of a condition."""
    return not condition if isinstance(condition, bool) else truth(z3.Not(condition))
