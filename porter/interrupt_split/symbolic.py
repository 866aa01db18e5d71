"""What a small function computes from registers, as one expression: vendor libraries' accessors.

With the device and its other arguments known, most of such a function folds away: what is left is
the value that it returns and the registers that it writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from porter.flow.statements import is_assertion
from porter.interrupt_split.build_expression import Builder
from porter.interrupt_split.effects import is_consuming_read
from porter.interrupt_split.expression import Expr, adopt, peeled
from porter.source.c_tree import Node, parts_of, strip_parentheses, text_of
from porter.source.declared import declared_name
from porter.source.values import Number, Value

_MOST_STATEMENTS = 60
_EFFECTS = frozenset({"call", "asm", "set", "write"})


class _Unknown(Exception):
    """The function does more than compute."""


@dataclass
class Computed:
    """`value` None: nothing is returned. `writes`: of registers, in order."""

    value: Expr | None = None
    writes: list[Expr] = field(default_factory=list)


@dataclass
class _State:
    """What the function's locals hold: numbers, or expressions."""

    values: dict[bytes, Value]
    expressions: dict[bytes, Expr]

    def copy(self) -> _State:
        """For one way of a branch."""
        return _State(dict(self.values), dict(self.expressions))

    def set(self, name: bytes, value: Expr) -> None:
        """A local gets a value."""
        self.values.pop(name, None)
        self.expressions.pop(name, None)
        if value.kind == "const":
            self.values[name] = Number(value.number, is_unsigned=value.number >= 1 << 31)
        else:
            self.expressions[name] = value

    def get(self, name: bytes) -> Expr | None:
        """What a local holds."""
        if name in self.expressions:
            return self.expressions[name]
        number = self.values.get(name)
        if isinstance(number, Number):
            return _constant(number.value)
        return None


def computed(builder: Builder, body: Node) -> Computed | None:
    """What a body computes; None if it does anything else. `builder` knows the arguments."""
    work = _Evaluation(builder)
    state = _State(dict(builder.names.values), dict(builder.names.arguments))
    try:
        value = work.run(parts_of(body), state)
    except _Unknown:
        return None
    result = Computed(value, work.writes)
    return result if work.accounts_for(result) else None


class _Evaluation:
    """One run."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._names = builder.names
        self._seen: list[Expr] = []
        self._left = _MOST_STATEMENTS
        self._branched = False
        self.writes: list[Expr] = []

    def run(self, nodes: Iterable[Node], state: _State) -> Expr | None:
        """Statements in order; the value of a return, None if the end is reached."""
        pending = list(nodes)
        while pending:
            node = pending.pop(0)
            self._left -= 1
            if self._left < 0:
                raise _Unknown
            if node.type == "compound_statement":
                pending = [*parts_of(node), *pending]
            elif node.type == "return_statement":
                values = parts_of(node)
                if not values:
                    return None
                return self._build(values[0], state)
            elif node.type == "if_statement":
                taken = self._if(node, state, pending)
                if taken is None:
                    continue
                if isinstance(taken, Expr):
                    return taken
                pending = [*taken, *pending]
            elif node.type == "declaration":
                self._declaration(node, state)
            elif node.type == "expression_statement":
                self._expression(node, state)
            else:
                raise _Unknown
        return None

    def _if(self, node: Node, state: _State, rest: list[Node]) -> list[Node] | Expr | None:
        """The statements of the way that is known; the whole value where both ways return one;
        None where both ways only set locals."""
        condition = node.child_by_field_name("condition")
        if condition is None:
            raise _Unknown
        test = self._build(strip_parentheses(condition), state)
        ways = [_branch(node, "consequence"), _branch(node, "alternative")]
        if test.kind == "const":
            return ways[0] if test.number else ways[1]
        self._branched = True
        states = [state.copy(), state.copy()]
        count = len(self.writes)
        values = [self.run(way, one) for way, one in zip(ways, states, strict=True)]
        if len(self.writes) != count:
            raise _Unknown
        if values[0] is None and values[1] is None:
            self._merge(test, states, state)
            return None
        ends = [
            value if value is not None else self.run(list(rest), one)
            for value, one in zip(values, states, strict=True)
        ]
        if ends[0] is None or ends[1] is None:
            raise _Unknown
        return _choice(test, ends[0], ends[1])

    def _merge(self, test: Expr, states: list[_State], state: _State) -> None:
        names = {*states[0].values, *states[0].expressions, *states[1].values}
        for name in {*names, *states[1].expressions}:
            first, second = states[0].get(name), states[1].get(name)
            if first is None or second is None:
                continue
            same = first is second or (
                first.kind == second.kind == "const" and first.number == second.number
            )
            state.set(name, first if same else _choice(test, first, second))

    def _declaration(self, node: Node, state: _State) -> None:
        for declarator in node.children_by_field_name("declarator"):
            name = declared_name(declarator)
            value = declarator.child_by_field_name("value")
            if name is None:
                raise _Unknown
            if value is not None:
                state.set(text_of(name), self._build(value, state))

    def _expression(self, node: Node, state: _State) -> None:
        inner = parts_of(node)
        if not inner or is_assertion(node):
            return
        expression = strip_parentheses(inner[0])
        left = expression.child_by_field_name("left")
        if expression.type == "assignment_expression" and left is not None:
            name = text_of(strip_parentheses(left))
            if name.decode("latin-1") in self._names.scalars:
                self._assign(expression, name, state)
                return
        built = self._build(expression, state)
        access = peeled(built)
        if access.kind == "write":
            self.writes.append(access)
        elif any(
            item.kind in ("call", "asm", "set", "write") or item.value for item in built.walk()
        ):
            raise _Unknown

    def _assign(self, node: Node, name: bytes, state: _State) -> None:
        right = node.child_by_field_name("right")
        sign = node.child_by_field_name("operator")
        if right is None or sign is None:
            raise _Unknown
        value = self._build(right, state)
        operator = text_of(sign).decode()
        if operator != "=":
            old = state.get(name)
            if old is None:
                raise _Unknown
            value = adopt(
                Expr("pure", ["(", old, f" {operator[:-1]} ", value, ")"],
                     self._builder.source.line, operator=operator[:-1])
            )  # fmt: skip
        state.set(name, value)

    def _build(self, node: Node, state: _State) -> Expr:
        self._names.values = state.values
        self._names.arguments = state.expressions
        built = self._builder.build(node)
        self._seen += [item for item in built.walk() if item.kind == "read"]
        return built

    def accounts_for(self, result: Computed) -> bool:
        """Whether each register is read as often in the expressions as in the function."""
        kept = [
            item.text
            for part in (*([result.value] if result.value is not None else []), *result.writes)
            for item in part.walk()
            if item.kind == "read"
        ]
        once = {item.text for item in self._seen}
        taken = any(is_consuming_read(item) for item in self._seen)
        whole = len(kept) == len(set(kept)) and set(kept) == once
        return whole and not (taken and self._branched)


def _choice(test: Expr, yes: Expr, no: Expr) -> Expr:
    pieces: list[str | Expr] = ["(", test, " ? ", yes, " : ", no, ")"]
    return adopt(Expr("choice", pieces, test.line, operator="?:"))


def _constant(number: int) -> Expr:
    text = f"0x{number & 0xFFFFFFFF:X}U" if number > 9 else str(number)
    return Expr("const", [text], 0, number=number)


def _branch(node: Node, name: str) -> list[Node]:
    found = node.child_by_field_name(name)
    if found is None:
        return []
    return parts_of(found) if found.type == "else_clause" else [found]
