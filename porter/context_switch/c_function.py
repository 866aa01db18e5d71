"""A transcribed function as C text in the style of the file it belongs to."""

from __future__ import annotations

from porter.context_switch.emit_c import CText
from porter.context_switch.emit_expression import WORD, Expressions
from porter.context_switch.handler import Handler
from porter.context_switch.ir import PARAMETERS, Call, Guest, Symbol
from porter.context_switch.kinds import ARRAY, INTEGER, POINTER
from porter.context_switch.lift_state import NOTHING, Signature
from porter.context_switch.locals import pointer_locals
from porter.context_switch.names import Names, Variable
from porter.context_switch.pick import Pick, Running
from porter.context_switch.result import ROLE_SWITCH
from porter.context_switch.services import SERVICE
from porter.context_switch.structure import conditions_and_statements, flatten
from porter.context_switch.walk import reads, subexpressions

GUEST_HEADER = "fvm/guest.h"


class Writer:
    """Writes the functions of one file and remembers which names need a declaration."""

    def __init__(self, names: Names, spaced: bool) -> None:
        self._names = names
        self._spaced = spaced
        self._externs: dict[str, str] = {}
        self._defined: set[str] = set()
        self._inner: dict[str, str] = {}
        self._called: dict[str, Signature] = {}
        self._later: dict[str, str] = {}
        self._own: dict[str, Signature] = {}
        self._star = "* " if spaced else "*"

    def body(self, handler: Handler, first: tuple[Guest, ...] = ()) -> list[str]:
        """The function's body with its braces, and calls in front of it."""
        nodes = handler.nodes
        for node in flatten(nodes):
            if isinstance(node, Call):
                self._declare(node, handler.symbol)
        nodes = (*first, *nodes)
        pointers = pointer_locals(conditions_and_statements(handler.nodes)) - set(PARAMETERS)
        expressions = self._expressions(pointers, handler.signature)
        return ["{", *CText(expressions, self._spaced).body(nodes, handler.signature.pointer), "}"]

    def look_at(self, handler: Handler) -> None:
        """Names that a handler uses as more than one word, before any of them is written."""
        nodes = handler.everything
        self._own[handler.symbol] = handler.signature
        for item in conditions_and_statements(nodes):
            for expr in (part for read in reads(item) for part in subexpressions(read)):
                if isinstance(expr, Symbol) and expr.offset and self._is_unknown(expr.name):
                    self._externs[expr.name] = ARRAY

    def _is_unknown(self, name: str) -> bool:
        return self._variable(name) is None and self._names.function(name) is None

    def plain(self, handler: Handler) -> list[str]:
        """The body without comments."""
        return [
            code
            for line in self.body(handler)
            if (code := line.split("/*")[0].rstrip()) and not code.lstrip().startswith("*")
        ]

    def alias(self, name: str, handler: Handler, weak: bool) -> list[str]:
        """A function that is another name of a handler."""
        signature = handler.signature
        names = [self._parameter(number, signature) for number in range(len(signature.parameters))]
        call = f"{handler.symbol}{self._paren(', '.join(names))};"
        word = "return " if signature.returns else ""
        head = "__attribute__((weak)) " if weak else ""
        return [head + self.signature(name, signature), "{", f"    {word}{call}", "}"]

    def signature(self, name: str, signature: Signature) -> str:
        """A prototype in machine words, without the semicolon."""
        names = [self._parameter(number, signature) for number in range(len(signature.parameters))]
        parameters = ", ".join(
            f"void {self._star}{name}" if pointer else f"uint32_t {name}"
            for name, pointer in zip(names, signature.parameters, strict=True)
        )
        result = f"void {self._star}" if signature.pointer else "uint32_t "
        return (
            f"{result if signature.returns else 'void '}{name}{self._paren(parameters or 'void')}"
        )

    def _parameter(self, number: int, signature: Signature) -> str:
        return (signature.names and signature.names[number]) or f"argument{number + 1}"

    def yield_over(self, running: Running, name: str) -> Guest:
        """The call that tells the guest library of the running task, `name` its name in C."""
        star = "void * volatile *" if self._spaced else "void *volatile *"
        address = f"{self._paren(star)}{' ' if self._spaced else ''}&{running.variable}"
        if running.is_stack:
            return Guest((), "virt_yield_stack", (address, running.choose))
        return Guest((), "virt_yield_task", (address, running.choose, name))

    def choice(self, running: Running, pick: Pick) -> list[str]:
        """The variable and the function that a yield is over, where a handler's pick is its own."""
        nodes = pick.choosing(running.variable)
        return [
            "/* What a yield does of it, on the stack of the task that yields. */",
            self.define(running.variable, POINTER),
            "",
            f"static {self.signature(running.choose, NOTHING)}",
            *self.body(Handler(running.choose, ROLE_SWITCH, nodes, "", 0)),
        ]

    def _declare(self, call: Call, user: str) -> None:
        """A function that the file's C doesn't know, or not yet: as other files declare it, or, one
        of this assembler file that none does, as it is called."""
        if call.function == SERVICE:
            return
        if self._names.declared_function(call.function) is not None:
            if later := self._names.prototype_behind(call.function, user):
                self._later[call.function] = later
            return
        known = self._names.function(call.function)
        self._called[call.function] = known or Signature(call.pointers, call.result is not None)

    def define(self, variable: str, kind: str) -> str:
        """The definition of a variable of the file's own."""
        self._externs[variable] = kind
        self._defined.add(variable)
        word = f"void {self._star}volatile" if kind == POINTER else "volatile uint32_t"
        return f"static {word} {variable};"

    def externs(self) -> list[str]:
        """Declarations of names that only the assembler text knew, in order of appearance."""
        prototypes = [f"extern {self.signature(*called)};" for called in self._called.items()]
        words = {
            POINTER: f"void {self._star}volatile {{}};",
            INTEGER: f"volatile {WORD} {{}};",
            ARRAY: f"volatile {WORD} {{}}[];",
        }
        variables = [
            "extern " + words.get(kind, f"volatile {kind} {{}};").format(name)
            for name, kind in self._externs.items()
            if name not in self._defined
        ]
        return [*self._inner.values(), *variables, *prototypes, *self._later.values()]

    def _variable(self, name: str) -> Variable | None:
        """What C knows of a name; what only a block declares is declared again outside."""
        found = self._names.variable(name)
        if found is not None and found.inner:
            self._inner[name] = found.inner
        return found

    def _is_function(self, name: str) -> bool:
        """Whether a name whose address is taken is a function; then C gets its prototype."""
        known = self._names.function(name) or self._own.get(name)
        if known is not None and self._names.declared_function(name) is None:
            self._called.setdefault(name, known)
        return known is not None

    def _expressions(self, pointers: frozenset[str], signature: Signature = NOTHING) -> Expressions:
        parameters = {
            PARAMETERS[number]: (self._parameter(number, signature), pointer)
            for number, pointer in enumerate(signature.parameters[: len(PARAMETERS)])
        }
        return Expressions(
            pointers,
            self._variable,
            self._is_function,
            self._paren,
            self._externs,
            parameters,
        )

    def _paren(self, text: str) -> str:
        return f"( {text} )" if self._spaced and text else f"({text})"
