"""The function that serves an interrupt where the handler only calls it, and with what.

A handle is a struct with a pointer to its device: `HAL_TIM_IRQHandler(&htim2)`. Which device that
is can't be proved in general, so the VM's handler looks before it serves a record, and stops where
it is another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, product

from porter.interrupt_split.device import Device
from porter.interrupt_split.functions import Function, Functions
from porter.interrupt_split.names import Names
from porter.interrupt_split.refusal import At
from porter.program.closure import closure
from porter.sites.local_names import declarations
from porter.source.arithmetic import converted
from porter.source.c_tree import Node, arguments_of, parts_of, strip_parentheses, text_of, walk
from porter.source.declarations import is_static
from porter.source.declared import declared_name
from porter.source.values import Number, Pointer, Value


@dataclass(frozen=True)
class Worker:
    """`values`: parameters that are known; `checks`: what must lead to the device when a record is
    served; `call`: where `caller` calls it, None for a handler that does its work itself."""

    function: Function
    values: Mapping[bytes, Value] = field(default_factory=dict)
    checks: tuple[str, ...] = ()
    caller: Function | None = None
    call: Node | None = None
    is_shared: bool = False
    callers: frozenset[str] = frozenset()

    @property
    def names(self) -> Names:
        """What its names stand for. A parameter that isn't known is the VM's memory."""
        hidden = {name.decode("latin-1") for name in self.function.parameter_names}
        scalars = {n: t for n, t in self.function.scalars.items() if n not in hidden}
        return Names(self.function.identity, self.function.scope, scalars, self.values)

    def line(self) -> int:
        """Where its definition begins."""
        return self.function.text.file.line(self.function.tree.start(self.function.node))


@dataclass(frozen=True)
class Workers:
    """Follows one handler. `users`: who names a function; `calls`: whom it
    calls; `handler`: the handler's name for the
    linker, which a macro may give it."""

    functions: Functions
    device: Callable[[Function], Device]
    users: Callable[[Function], set[str]]
    calls: Callable[[str], Iterable[str]]
    handler: str

    def of(self, function: Function) -> Worker:
        """Raises At where a function can't be divided for one line."""
        worker = Worker(function)
        while (further := self._called_by(worker)) is not None:
            worker = further
        if worker.function.parameter_names:
            self._check(worker)
        return worker

    def _called_by(self, worker: Worker) -> Worker | None:
        function = worker.function
        call = _only_call(function)
        called = call.child_by_field_name("function") if call is not None else None
        if call is None or called is None:
            return None
        inner = self.functions.get(text_of(called).decode("latin-1"), function.text.file)
        if inner is None or inner.name in {function.name, *worker.callers} or inner.body is None:
            return None
        given = arguments_of(call)
        if len(given) != len(inner.parameter_names):
            return None
        own = {function.name} if worker.caller is not None else {function.name, self.handler}
        others = sorted(self.users(inner) - own)
        values: dict[bytes, Value] = {}
        checks: list[str] = []
        for name, argument in zip(inner.parameter_names, given, strict=True):
            value = _given(inner, name, function.evaluator.value(argument, worker.names.look_up))
            if isinstance(value, Number) or (isinstance(value, Pointer) and value.address):
                values[name] = value
            elif isinstance(value, Pointer) and (leads := self._handle(inner, value)) is not None:
                values[name] = leads
                checks += [f"{name.decode('latin-1')}->{m.decode('latin-1')}"
                           for m, _ in leads.fields]  # fmt: skip
        if others and (checks or not given or not values):
            raise At(
                worker.line(),
                f"{inner.name}, which serves the interrupt, is also used by "
                f"{', '.join(others)}: give the handler a function of its own",
            )
        return Worker(
            inner, values, tuple(checks), function, call, bool(others) or worker.is_shared,
            worker.callers | {function.name},
        )  # fmt: skip

    def _handle(self, inner: Function, value: Pointer) -> Pointer | None:
        """A pointer to a struct through which the program gets to the device."""
        device = self.device(inner)
        if value.type.kind != "struct" or not device.struct or value.address is not None:
            return None
        leading = [
            name
            for name, member in inner.evaluator.types.members(value.type).items()
            if member.type.kind == "pointer"
            and member.type.target is not None
            and member.type.target.name == device.struct
            and not member.part
        ]
        if len(leading) != 1 or not self._is_stored(leading[0], device.split.base):
            return None
        return replace(value, fields=((leading[0], device.split.base),))

    def _is_stored(self, member: bytes, base: int) -> bool:
        """Whether the program puts the device, or what can't be told, into such a member."""
        for function in chain.from_iterable(self.functions.by_name.values()):
            if member not in text_of(function.node):
                continue
            for value in _stores(function, member):
                unknown = value is None or (isinstance(value, Pointer) and value.address is None)
                if unknown or (isinstance(value, Number) and value.value == base):
                    return True
                if isinstance(value, Pointer) and value.address == base:
                    return True
        return False

    def _check(self, worker: Worker) -> None:
        function = worker.function
        head = text_of(function.node).split(b"(", 1)[0].split()
        if b"void" not in head:
            raise At(worker.line(), f"{function.name} gives back a value: make it void")
        for node in walk(function.body) if function.body is not None else ():
            target = _changed(node)
            target = strip_parentheses(target) if target is not None else None
            if target is None:
                continue
            through = target.child_by_field_name("field")
            member = text_of(through) if through is not None else b""
            known = {name for name, _ in _leading(worker)}
            if text_of(target) in worker.values or member in known:
                raise At(
                    function.text.file.line(function.tree.start(node)),
                    f"{text_of(target).decode('latin-1')} changes in {function.name}, and with it "
                    "the device: leave it as it was given",
                )
        reached = closure(self.calls(function.name), self.calls)
        for name, member in product(sorted(reached), {m for m, _ in _leading(worker)}):
            if any(
                True for it in self.functions.by_name.get(name, ()) for _ in _stores(it, member)
            ):
                raise At(
                    worker.line(),
                    f"{name}, which {function.name} leads to, puts a device into "
                    f"{member.decode('latin-1')}: leave the handle as it was given",
                )
        if worker.is_shared:
            self._check_copy(worker)

    @staticmethod
    def _check_copy(worker: Worker) -> None:
        """What a function keeps for all its lines can't be kept twice."""
        function = worker.function
        for node in walk(function.body) if function.body is not None else ():
            if node.type == "declaration" and is_static(node):
                raise At(
                    function.text.file.line(function.tree.start(node)),
                    f"{function.name} serves other lines too and keeps "
                    f"{text_of(node).decode('latin-1').strip()} between its runs: declare it "
                    "outside the function",
                )


def _leading(worker: Worker) -> Iterator[tuple[bytes, int]]:
    """Members of handles, and where they lead."""
    for value in worker.values.values():
        if isinstance(value, Pointer):
            yield from value.fields


def _given(function: Function, parameter: bytes, value: Value | None) -> Value | None:
    """What a parameter holds that is given a value: a number in its type."""
    if not isinstance(value, Number):
        return value
    for specifier, declarator, _ in declarations(function.node):
        name = declared_name(declarator)
        if name is not None and text_of(name) == parameter:
            return converted(value, function.evaluator.types.of(specifier, declarator))
    return None


def _stores(function: Function, member: bytes) -> Iterator[Value | None]:
    for node in walk(function.node):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if node.type != "assignment_expression" or left is None or right is None:
            continue
        named = strip_parentheses(left).child_by_field_name("field")
        if named is not None and text_of(named) == member:
            yield function.evaluator.value(right, function.scope)


def _changed(node: Node) -> Node | None:
    """What an expression changes, or whose address it gives away."""
    if node.type == "assignment_expression":
        return node.child_by_field_name("left")
    if node.type == "update_expression" or (
        node.type == "pointer_expression" and text_of(node).startswith(b"&")
    ):
        return node.child_by_field_name("argument")
    return None


def _does_nothing(statement: Node) -> bool:
    """`(void)name;`"""
    if statement.type != "expression_statement":
        return False
    cast = next(iter(statement.named_children), None)
    value = cast.child_by_field_name("value") if cast is not None else None
    if cast is None or value is None or value.type != "identifier":
        return False
    return text_of(cast).startswith(b"(void)")


def _only_call(function: Function) -> Node | None:
    """The call that is all that a body does."""
    statements = [it for it in parts_of(function.body) if not _does_nothing(it)]
    if len(statements) != 1 or statements[0].type != "expression_statement":
        return None
    call = next(iter(statements[0].named_children), None)
    named = call.child_by_field_name("function") if call is not None else None
    is_call = call is not None and call.type == "call_expression"
    return call if is_call and named is not None and named.type == "identifier" else None
