"""Who touches the device: every access to its registers in the sources of a machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from porter.interrupt_split.build_expression import Builder
from porter.interrupt_split.device import Device, DeviceRegister
from porter.interrupt_split.effects import cleared_by, is_acknowledgement
from porter.interrupt_split.expression import Expr
from porter.interrupt_split.functions import Function, Functions
from porter.interrupt_split.names import Names, Source
from porter.interrupt_split.suspects import Suspects
from porter.program.closure import closure
from porter.program.reachability import CallGraph
from porter.project.domain import Split
from porter.source.c_lexer import lex_fragment
from porter.source.c_tree import Node, SyntaxTree, ancestors, arguments_of, text_of, walk
from porter.source.evaluate import Evaluator
from porter.source.values import Number, Place, Pointer

Use = Literal["read", "write", "address"]
_ACCESSES = frozenset(
    {"assignment_expression", "update_expression", "field_expression", "subscript_expression",
     "pointer_expression", "identifier", "call_expression"}
)  # fmt: skip
_BASE = re.compile(rb"\W*([A-Za-z_]\w*)")


@dataclass(frozen=True)
class Touch:
    """One access. `register` None: it may be any, through a pointer that isn't known here; not
    `certain`: it is that register if the pointer leads to the device. `parameter` is that pointer
    if the function's caller gives it."""

    function: Function
    line: int
    use: Use
    register: DeviceRegister | None
    text: str
    parameter: bytes = b""
    certain: bool = True
    clears: int | None = None  # bits that a write acknowledges, where that is all that it does
    origin: tuple[str, int] | None = None  # file and line in the function that is called

    @property
    def place(self) -> str:
        """For people."""
        return f"{self.function.text.file.name}:{self.line}"


class Touches:
    """All accesses of all functions."""

    def __init__(self, functions: Functions, split: Split, chip: str, graph: CallGraph) -> None:
        self._functions = functions
        self._split = split
        self._chip = chip
        self._graph = graph
        self._devices: dict[int, Device] = {}
        self._suspects = Suspects(split)

    def device(self, evaluator: Evaluator) -> Device:
        """The device under the names of a translation unit."""
        if id(evaluator) not in self._devices:
            self._devices[id(evaluator)] = Device(self._split, self._chip, evaluator)
        return self._devices[id(evaluator)]

    @cached_property
    def all(self) -> list[Touch]:
        """Every access, those through a parameter at the calls that give it."""
        found: list[Touch] = []
        open_touches: list[Touch] = []
        for functions in self._functions.by_name.values():
            for function in functions:
                for touch in self._in_function(function):
                    (open_touches if touch.parameter else found).append(touch)
        self._through_parameters: set[str] = {t.function.name for t in open_touches}
        seen: set[tuple[str, bytes, Use, str]] = set()
        while open_touches:
            touch = open_touches.pop()
            key = (touch.function.name, touch.parameter, touch.use, touch.text)
            if key in seen:
                continue
            seen.add(key)
            for one in self._at_calls(touch):
                if one.parameter:
                    self._through_parameters.add(one.function.name)
                    open_touches.append(one)
                else:
                    found.append(one)
        return found

    @cached_property
    def touching(self) -> set[str]:
        """Names of functions that access the device themselves or by what they call."""
        found = {touch.function.name for touch in self.all} | self._through_parameters
        return closure(found, lambda it: self._graph.callers.get(it, ()))

    def written_by(self, name: str) -> frozenset[str] | None:
        """Registers that a function and all that it leads to may write; None: any."""
        edges = self._graph.edges
        reached = closure((name,), lambda it: self.touching.intersection(edges.get(it, ())))
        names: set[str] = set()
        for touch in self.all:
            if touch.function.name not in reached or touch.use == "read":
                continue
            if touch.register is None:
                return None
            names.add(touch.register.name)
        return frozenset(names)

    # --- one function ----------------------------------------------------------------------

    def _in_function(self, function: Function) -> Iterator[Touch]:
        body = function.body
        if body is None or not self._suspects.may_touch(function, function.node):
            return
        builder = self._builder(function, Source(function.tree, function))
        for node in _outermost(body):
            if self._suspects.may_touch(function, node):
                yield from self._of(function, builder.build(node))
        yield from self._addresses(function, body)

    def _of(self, function: Function, expr: Expr) -> Iterator[Touch]:
        for item in expr.walk():
            if item.kind == "call":
                body = self._macro_body(function, item)
                if body is not None:
                    yield from self._in_macro(function, body, item.line)
                else:
                    yield from self._given_away(function, item)
            elif item.kind in ("read", "write"):
                use: Use = "write" if item.kind == "write" else "read"
                yield Touch(
                    function, item.line, use, item.register, item.text, clears=_acknowledged(item)
                )
                if use == "write" and item.operator not in ("=", ""):
                    yield Touch(function, item.line, "read", item.register, item.text)
            elif item.kind == "hardware" and item.register is not None:
                yield Touch(function, item.line, "write", item.register, item.text)
                yield Touch(function, item.line, "read", item.register, item.text)
            elif item.kind == "hardware" and item.indirect:
                use = "write" if item.value is not None else "read"
                parameter = _pointer_in(item.text, function)
                touch = Touch(
                    function, item.line, use, item.possible, item.text, parameter, certain=False,
                    clears=_acknowledged(item),
                )  # fmt: skip
                yield touch
                if use == "write" and item.operator not in ("=", ""):
                    yield replace(touch, use="read")

    @staticmethod
    def _macro_body(function: Function, call: Expr) -> Node | None:
        """What a macro of statements stands for."""
        macros = function.evaluator.macros
        macro = macros.get(call.name.encode("latin-1"))
        if macro is None or macro.parameters is None:
            return None
        texts = macros.expand(lex_fragment(call.text.encode("latin-1")))
        tree = SyntaxTree(b"void f(void){" + b" ".join(texts) + b"\n;}", 0)
        return None if tree.root.has_error else tree.root

    def _in_macro(self, function: Function, body: Node, line: int) -> Iterator[Touch]:
        builder = self._builder(function, Source(None, function, line))
        for node in _outermost(body):
            yield from self._of(function, builder.build(node))

    def _builder(self, function: Function, source: Source) -> Builder:
        names = Names(function.identity, function.scope, function.scalars)
        device = self.device(function.evaluator)
        return Builder(device, function.evaluator, None, names, source)

    def _given_away(self, function: Function, call: Expr) -> Iterator[Touch]:
        """The device's address as an argument where what is done with it can't be followed: as
        a number, or given to a function without sources."""
        device = self.device(function.evaluator)
        followed = call.name in self._functions.by_name
        for part in call.parts:
            value = function.evaluator.text(part.text.encode("latin-1"), function.scope)
            match value:
                case Number(value=address):
                    given = device.holds(address) and address > 0xFFFF
                case Pointer(address=int() as address):
                    given = device.holds(address) and not followed
                case _:
                    given = False
            if given:
                yield Touch(function, call.line, "address", None, call.text)

    def _addresses(self, function: Function, body: Node) -> Iterator[Touch]:
        """`&USART1->DR`, which a DMA stream or another function may read through."""
        for node in walk(body):
            if node.type != "pointer_expression" or not text_of(node).startswith(b"&"):
                continue
            if _is_followed(node):
                continue
            target = node.child_by_field_name("argument")
            value = function.evaluator.value(target, function.scope) if target is not None else None
            if isinstance(value, Place) and value.type.kind != "struct":
                device = self.device(function.evaluator)
                register = device.register(value)
                text = text_of(node).decode("latin-1")
                certain = register is not None
                if register is None and not device.may_be_ours(value):
                    continue
                register = register or device.named_by(value)
                given = b"" if certain else _pointer_in(text[1:], function)
                if register is None and not given:
                    continue
                line = function.text.file.line(function.tree.start(node))
                yield Touch(function, line, "address", register, text, given, certain)

    # --- through parameters ----------------------------------------------------------------

    def _at_calls(self, touch: Touch) -> Iterator[Touch]:
        name = touch.function.name.encode("latin-1")
        position = touch.function.parameter_names.index(touch.parameter)
        for caller in self._callers(touch.function.name):
            if caller.body is None or name not in caller.text.file.data:
                continue
            for node in walk(caller.body):
                called = node.child_by_field_name("function")
                if node.type != "call_expression" or called is None or text_of(called) != name:
                    continue
                for argument in arguments_of(node)[position : position + 1]:
                    yield from self._bound(touch, caller, node, argument)

    def _callers(self, name: str) -> Iterator[Function]:
        for caller in self._graph.callers.get(name, ()):
            yield from self._functions.by_name.get(caller, ())

    def _bound(self, touch: Touch, caller: Function, call: Node, argument: Node) -> Iterator[Touch]:
        line = caller.text.file.line(caller.tree.start(call))
        touch = replace(touch, origin=touch.origin or (touch.function.text.file.name, touch.line))
        value = caller.evaluator.value(argument, caller.scope)
        written = text_of(argument)
        if isinstance(value, Pointer) and value.address is not None:
            if not self.device(caller.evaluator).holds(value.address):
                return
            text = touch.text.replace(touch.parameter.decode(), written.decode("latin-1"), 1)
            yield replace(
                touch, function=caller, line=line, parameter=b"",
                register=self._named(touch, caller, value.address), text=text, certain=True,
            )  # fmt: skip
        else:
            parameter = written if written in caller.parameter_names else b""
            yield replace(touch, function=caller, line=line, parameter=parameter)

    def _named(self, touch: Touch, caller: Function, base: int) -> DeviceRegister | None:
        """The register of `pointer->NAME`, with the pointer known."""
        match = re.search(r"(?:->|\.)\s*(\w+)", touch.text)
        evaluator = caller.evaluator
        pointer = evaluator.name(self._split.device.encode())
        if match is None or not isinstance(pointer, Pointer):
            return None
        member = evaluator.types.members(pointer.type).get(match.group(1).encode())
        if member is None or member.part:
            return None
        place = Place(base + member.offset, member.type, pointer.type.name, match.group(1).encode())
        return self.device(evaluator).register(place)


def _acknowledged(item: Expr) -> int | None:
    """The bits that a write acknowledges, where it says which."""
    write = replace(item, kind="write", register=item.register or item.possible)
    if item.value is None or item.operator == "|=" or not is_acknowledgement(write):
        return None
    if write.register is None or not write.register.kind.known:
        return None
    return cleared_by(write).bits


def _pointer_in(access: str, function: Function) -> bytes:
    """The parameter that an access goes through; b"" if it goes through what that leads to."""
    base = _BASE.match(access.encode("latin-1"))
    name = base.group(1) if base is not None and access.count("->") < 2 else b""
    return name if name in function.parameter_names else b""


def _is_followed(address: Node) -> bool:
    """`*(volatile uint8_t *)&SPI1->DR`: an access like any other."""
    for parent in ancestors(address):
        if parent.type == "pointer_expression":
            return text_of(parent).startswith(b"*")
        if parent.type not in ("cast_expression", "parenthesized_expression"):
            break
    return False


def _outermost(body: Node) -> Iterator[Node]:
    """The largest expressions in a body."""
    stack = [body]
    while stack:
        node = stack.pop()
        if node.type in _ACCESSES or node.type.endswith("_expression"):
            parent = next(ancestors(node), None)
            declared = parent is not None and parent.type.endswith("_declarator")
            if not declared or (parent and parent.child_by_field_name("value") == node):
                yield node
                continue
        stack.extend(reversed(node.named_children))
