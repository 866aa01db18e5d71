"""What names mean while a program runs: variables, enumerators, functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from porter.execution.frame import Frame
from porter.execution.initialisers import counted, initialise
from porter.execution.location import Location
from porter.execution.program import FunctionText, Program, VariableText
from porter.execution.words import FunctionName, Memory, Value
from porter.source.c_types import CType

if TYPE_CHECKING:
    from porter.execution.expressions import Expressions


class Variables:
    """The objects of a program; each is made when it is first used."""

    def __init__(self, program: Program, expressions: Expressions) -> None:
        self._program = program
        self._expressions = expressions
        self._known: dict[tuple[int, str] | tuple[int, int], tuple[Memory, CType]] = {}

    def find(self, name: str, frame: Frame) -> Location | None:
        """The object that a name means; None if it means none."""
        found = frame.variables.get(name)
        if found is None:
            text = self._program.variable(frame.function.unit, name)
            if text is None:
                return None
            owner = text.unit if text.static else -1
            found = self._known.get((owner, name))
            if found is None:
                found = self._known[owner, name] = self._create(name, text, frame)
        return Location(found[0], 0, found[1])

    def _create(self, name: str, text: VariableText, frame: Frame) -> tuple[Memory, CType]:
        unit = self._program.units[text.unit]
        kind = counted(unit.types.of(text.kind, text.declarator), text.value)
        memory = Memory(
            name, zero=not text.extern, volatile=text.volatile, constant=text.constant
        )  # fmt: skip
        if text.value is not None:
            home = Frame(FunctionText("", text.unit, text.declarator, False, True), (), frame, None)
            self._known[text.unit if text.static else -1, name] = (memory, kind)
            initialise(self._expressions, memory, 0, kind, text.value, home)
        return memory, kind

    def declare(self, name: str, text: VariableText, frame: Frame) -> None:
        """A declaration inside a function comes into force."""
        key = (text.unit, text.declarator.start_byte)
        if text.static:
            if key not in self._known:
                self._known[key] = self._create(name, text, frame)
            frame.variables[name] = self._known[key]
            return
        types = self._program.units[text.unit].types
        kind = counted(types.of(text.kind, text.declarator), text.value)
        memory = Memory(name, volatile=text.volatile, local=True)
        frame.variables[name] = (memory, kind)
        if text.value is not None:
            initialise(self._expressions, memory, 0, kind, text.value, frame)

    def constant(self, name: str, frame: Frame) -> Value:
        """An enumerator or a function."""
        found = self._program.units[frame.function.unit].evaluator.number_of_name(
            name.encode("latin-1")
        )
        if found is not None:
            return found
        unit = frame.function.unit
        return FunctionName(unit, name) if self._program.function(unit, name) else None
