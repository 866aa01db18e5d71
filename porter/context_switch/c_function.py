"""A transcribed function as C text in the style of the file it belongs to."""

from __future__ import annotations

from porter.context_switch.emit_c import CText
from porter.context_switch.emit_expression import Expressions
from porter.context_switch.handler import Handler
from porter.context_switch.ir import Call, Guest, Var
from porter.context_switch.lift_state import Signature
from porter.context_switch.locals import pointer_locals
from porter.context_switch.names import POINTER, Names
from porter.context_switch.pick import Pick, Running
from porter.context_switch.result import NotTranscribable
from porter.context_switch.structure import Node, conditions_and_statements, flatten

GUEST_HEADER = "fvm/guest.h"


class Writer:
    """Writes the functions of one file and remembers which names need a declaration."""

    def __init__(self, names: Names, spaced: bool) -> None:
        self._names = names
        self._spaced = spaced
        self._externs: dict[str, str] = {}
        self._called: dict[str, None] = {}
        self._star = "* " if spaced else "*"

    def body(self, handler: Handler, first: tuple[Guest, ...] = ()) -> list[str]:
        """The function's body with its braces, and calls in front of it."""
        nodes = handler.nodes
        for node in flatten(nodes):
            if isinstance(node, Call) and self._names.declared_function(node.function) is None:
                self._declare(node.function)
        nodes = (*first, *nodes)
        return [
            "{",
            *self._lines(
                nodes, pointer_locals(conditions_and_statements(handler.nodes)), frozenset()
            ),
            "}",
        ]

    def yield_over(self, running: Running, name: str) -> Guest:
        """The call that tells the guest library of the running task, `name` its name in C."""
        star = "void * volatile *" if self._spaced else "void *volatile *"
        address = f"{self._paren(star)}{' ' if self._spaced else ''}&{running.variable}"
        return Guest((), "virt_yield_task", (address, running.choose, name))

    def pick(self, name: str, pick: Pick) -> list[str]:
        """The pick function of a switch handler."""
        pointers = pointer_locals(conditions_and_statements(pick.nodes)) | {
            pick.parameter,
            pick.result,
        }
        parameters = frozenset({pick.parameter})
        lines = self._lines(pick.nodes, pointers, parameters)
        return [
            self.pick_signature(name, pick),
            "{",
            *lines,
            f"    return {self._expressions(pointers).pointer(Var(pick.result))};",
            "}",
        ]

    def pick_signature(self, name: str, pick: Pick) -> str:
        """Its prototype without the semicolon."""
        parameter = self._paren(f"uint32_t {self._star}{pick.parameter}")
        return f"static uint32_t {self._star}{name}{parameter}"

    def _declare(self, function: str) -> None:
        if self._names.function(function) != Signature((), False):
            raise NotTranscribable(f"{function}() isn't declared here: include its header")
        self._called[function] = None

    def externs(self) -> list[str]:
        """Declarations of names that only the assembler text knew, in order of appearance."""
        prototypes = [f"extern void {name}{self._paren('void')};" for name in self._called]
        variables = [
            f"extern void {self._star}volatile {name};"
            if kind == POINTER
            else f"extern volatile uint32_t {name};"
            for name, kind in self._externs.items()
        ]
        return [*variables, *prototypes]

    def _lines(
        self, nodes: tuple[Node, ...], pointers: frozenset[str], parameters: frozenset[str]
    ) -> list[str]:
        return CText(self._expressions(pointers), self._spaced).body(nodes, parameters)

    def _expressions(self, pointers: frozenset[str]) -> Expressions:
        return Expressions(
            pointers,
            self._names.variable,
            lambda name: self._names.function(name) is not None,
            self._paren,
            self._externs,
        )

    def _paren(self, text: str) -> str:
        return f"( {text} )" if self._spaced and text else f"({text})"
