"""Runs functions: calls, variables, registers, and what is recorded of them."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from porter.execution.asm_statement import instructions_of, operands
from porter.execution.blame import chosen_at
from porter.execution.builtins import BUILTINS, INSTRUCTIONS, UNKNOWN_RESULT
from porter.execution.expressions import Expressions
from porter.execution.frame import Frame, parameters_of
from porter.execution.initialisers import initialise
from porter.execution.program import FunctionText, Program, Unit, Where
from porter.execution.record import Record, Threshold, Write, touched
from porter.execution.state import PERIPHERALS, Signal, State
from porter.execution.statements import Statements
from porter.execution.variables import Variables
from porter.execution.words import FunctionName, Memory, Pointer, Value, join, number
from porter.source.c_tree import Node, arguments_of, text_of
from porter.source.c_types import CType, TypeTable

_DEPTH = 32  # calls within calls
_FRAMES = 12_000  # of Python: deep expressions in deep calls
_REPEATS = 48  # calls of a function with the same arguments, one of them a pointer
_PLAIN_REPEATS = 4
_CHIP = range(0x4000_0000, 0x6000_0000)
_BASEPRI = (("basepri",), ("basepri_max",))


class Exhausted(Exception):
    """The run took too many steps."""


class Machine:
    """One run of a program on a chip that was just reset."""

    def __init__(
        self,
        program: Program,
        reset: Mapping[int, int],
        follows: Mapping[int, Mapping[int, int]],
    ) -> None:
        self.program = program
        self.record = Record()
        self.state = State(reset, follows)
        self._left = 0
        self._running = False  # interrupts and tasks have run: variables may hold anything
        self._expressions = Expressions(self)
        self._statements = Statements(self, self._expressions, self.state)
        self.variables = Variables(program, self._expressions)
        self._calls: dict[tuple[str, tuple[Value, ...]], int] = {}
        self._depth = 0

    def run(self, function: FunctionText, steps: int) -> int:
        """Run a function as an entry point, at most so many steps, with unknown arguments;
        returns how many it took."""
        self._left = steps
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, _FRAMES))
        self._depth = 0
        try:
            parameters = parameters_of(function)
            self.enter(function, (None,) * len(parameters), None, None)
        except (Exhausted, RecursionError):
            self.record.complete = False
            self.state.drop_branches()
        finally:
            sys.setrecursionlimit(limit)
        return steps - self._left

    def start_running(self) -> None:
        """From now on interrupts and tasks may have changed every variable."""
        self._running = True

    def step(self) -> None:
        """Counts what is done."""
        self._left -= 1
        if self._left < 0:
            raise Exhausted

    # --- names -------------------------------------------------------------------------------

    def unit(self, frame: Frame) -> Unit:
        """The translation unit that a frame's code is in."""
        return self.program.units[frame.function.unit]

    def types(self, frame: Frame) -> TypeTable:
        """The types that a frame's code sees."""
        return self.unit(frame).types

    def initialise(
        self, memory: Memory, offset: int, kind: CType, value: Node, frame: Frame
    ) -> None:
        """Set an object from an initialiser."""
        initialise(self._expressions, memory, offset, kind, value, frame)

    # --- memory ------------------------------------------------------------------------------

    def load(self, memory: Memory | None, offset: int | None, frame: Frame, node: Node) -> Value:
        """What is at a place now."""
        if offset is None:
            return None
        if memory is None:
            if offset >= PERIPHERALS:
                self.record.reads.setdefault(offset, self.unit(frame).where(node))
                return self.state.register(offset)
            return None
        value = self.state.get(memory, offset)
        if memory.volatile and not memory.local and not isinstance(value, Pointer):
            return None
        changes = self._running and not memory.local and not memory.constant
        return None if changes and not isinstance(value, Pointer | FunctionName) else value

    def store(
        self, memory: Memory | None, offset: int | None, value: Value, frame: Frame, node: Node
    ) -> None:
        """Write to a place."""
        if memory is not None:
            if offset is not None:
                self.state.put(memory, offset, value)
            return
        if offset is None:
            self.record.unclear.setdefault(self.unit(frame).where(node), frame.function.name)
        elif offset >= PERIPHERALS:
            changed = touched(value, offset)
            address, value = self.state.write_register(offset, value)
            changed = changed if address == offset else touched(value, address)
            where, function = chosen_at(
                self.unit(frame).where(node), frame, address, value, changed
            )
            self.record.writes.append(Write(address, value, changed, where, function))

    def copy(self, memory: Memory | None, offset: int | None, source: Pointer, size: int) -> None:
        """Assign a struct."""
        if memory is not None and offset is not None:
            self.state.copy(memory, offset, source, size)

    # --- calls -------------------------------------------------------------------------------

    def call(self, node: Node, frame: Frame) -> Value:
        """A call expression."""
        callee = node.child_by_field_name("function")
        if callee is None:
            return None
        values = tuple(self._expressions.value(child, frame) for child in arguments_of(node))
        name = text_of(callee).decode("latin-1")
        builtin = BUILTINS.get(name)
        if builtin is not None:
            result = builtin(self.state, values)
            if result is not UNKNOWN_RESULT:
                return result
        where = self.unit(frame).where(node)
        target = self._expressions.value(callee, frame)
        if not isinstance(target, FunctionName):
            if any((number(value) or 0) in _CHIP for value in values):
                self.record.missing.setdefault(name, where)
            self._forget(values)
            return None
        function = self.program.function(target.unit, target.name)
        return self.enter(function, values, frame, where) if function is not None else None

    def enter(
        self,
        function: FunctionText,
        arguments: tuple[Value, ...],
        caller: Frame | None,
        where: Where | None,
    ) -> Value:
        """Run a function's body."""
        key = (function.name, arguments)
        times = self._calls.get(key, 0)
        self._calls[key] = times + 1
        pointers = any(isinstance(argument, Pointer) for argument in arguments)
        body = function.body
        if body is None or self._depth >= _DEPTH:
            return None
        if times >= (_REPEATS if pointers else _PLAIN_REPEATS):
            return None
        self.step()
        self.record.executed.add(function.name)
        frame = Frame(function, arguments, caller, where)
        for (name, kind, declarator), value in zip(
            parameters_of(function), arguments, strict=False
        ):  # fmt: skip
            self._bind(frame, name, kind, declarator, value)
        self._depth += 1
        signal: Signal = self._statements.block(body, frame)
        self._depth -= 1
        if signal == "stop" and caller is not None:
            frame.caller = caller
            self._statements.stopped = True
        if not frame.results:
            return None
        result = frame.results[0]
        for other in frame.results[1:]:
            result = join(result, other)
        return result

    def _bind(
        self, frame: Frame, name: str, kind: Node, declarator: Node, value: Value
    ) -> None:  # fmt: skip
        declared = self.types(frame).of(kind, declarator)
        if declared.kind == "array" and declared.target is not None:
            declared = CType("pointer", 4, b"", declared.target)
        memory = Memory(name, local=True)
        frame.variables[name] = (memory, declared)
        if declared.kind == "struct" and isinstance(value, Pointer):
            self.state.copy(memory, 0, value, declared.size)
        else:
            self.state.put(memory, 0, value)

    def _forget(self, values: tuple[Value, ...]) -> None:
        """What a function that isn't in the sources was pointed at may have changed."""
        for value in values:
            memory = value.memory if isinstance(value, Pointer) else None
            if memory is not None and not memory.constant:
                self.state.forget(memory)

    def block(self, node: Node, frame: Frame) -> Signal:
        """Statements inside an expression."""
        return self._statements.block(node, frame)

    def assembler(self, node: Node, frame: Frame) -> None:
        """An asm statement: thresholds are noted, outputs are calculated or become unknown."""
        values = [self._expressions.value(operand, frame) for operand in operands(node, "input")]
        template = instructions_of(node)
        if any(part.base == "msr" and part.operands[:1] in _BASEPRI for part in template):
            for value in values:
                threshold = number(value)
                if threshold:
                    place = self.unit(frame).where(node)
                    self.record.thresholds.append(Threshold(threshold & 0xFF, place))
        result = None
        if len(template) == len(values) == 1 and template[0].mnemonic in INSTRUCTIONS:
            known = number(values[0])
            result = None if known is None else INSTRUCTIONS[template[0].mnemonic](known)
        for target in operands(node, "output"):
            place_of = self._expressions.places.find(target, frame)
            self._expressions.places.store(place_of, result, frame, node)
