"""Makes statements of a function's syntax tree; calls that touch the device are looked into."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from porter.interrupt_split.build_call import within
from porter.interrupt_split.build_expression import Builder
from porter.interrupt_split.device import Device
from porter.interrupt_split.expression import Expr, peeled
from porter.interrupt_split.functions import Function, Functions, scalars_of
from porter.interrupt_split.names import Names, Source
from porter.interrupt_split.statement import Callee, Local, Statement, accesses, walk_all
from porter.interrupt_split.symbolic import computed
from porter.source.c_tree import Node, SyntaxTree, arguments_of, parts_of, text_of
from porter.source.declared import declared_name

_BODY_PREFIX = b"void f(void){"
_LOOPS = {"while_statement": "while", "do_statement": "do", "for_statement": "for"}
_JUMPS = {"break_statement": "break", "continue_statement": "continue"}

IsCompiled = Callable[[Function, int, int], bool]
"""Whether the compiler saw any of the lines [first, last] of a function's file."""


class StatementBuilder:
    """Builds the statements of one function."""

    def __init__(self, builder: Builder, is_compiled: IsCompiled) -> None:
        self.builder = builder
        self.is_compiled = is_compiled

    @classmethod
    def of(
        cls, function: Function, names: Names, device: Device, functions: Functions,
        is_compiled: IsCompiled,
    ) -> StatementBuilder:  # fmt: skip
        """For a function as it stands in its file."""
        source = Source(function.tree, function)
        builder = Builder(device, function.evaluator, functions, names, source)
        return cls(builder, is_compiled)

    def body(self, function: Function) -> list[Statement]:
        """The statements of the function."""
        return self._all(function.body.named_children if function.body is not None else [])

    def _all(self, nodes: Iterable[Node]) -> list[Statement]:
        found = [self._one(node) for node in nodes if node.type != "comment"]
        return [statement for statement in found if statement is not None]

    def _one(self, node: Node) -> Statement | None:
        source = self.builder.source
        first = source.line_of(node)
        last = first
        if source.tree is not None and source.function is not None:
            last = source.function.text.file.line(max(source.tree.end(node) - 1, 0))
            if not self.is_compiled(source.function, first, last):
                return None
        made = Statement("other", first, last, node if source.tree is not None else None)
        if node.type in _LOOPS:
            self._loop(made, node)
        elif node.type in _JUMPS:
            made.kind = "break" if node.type == "break_statement" else "continue"
        else:
            getattr(self, "_" + node.type, self._unknown)(made, node)
        return made

    def _unknown(self, made: Statement, node: Node) -> None:
        made.what = node.type.replace("_", " ")
        made.body = self._all(
            child for child in node.named_children if child.type.endswith("statement")
        )

    # --- compound --------------------------------------------------------------------------

    def _compound_statement(self, made: Statement, node: Node) -> None:
        made.kind = "block"
        made.body = self._all(node.named_children)

    def _if_statement(self, made: Statement, node: Node) -> None:
        made.kind = "if"
        made.expr = self._condition(node)
        made.body = self._branch(node.child_by_field_name("consequence"))
        other = node.child_by_field_name("alternative")
        if other is not None and other.type == "else_clause":
            made.other = self._all(other.named_children)
        else:
            made.other = self._branch(other)

    def _loop(self, made: Statement, node: Node) -> None:
        kind = _LOOPS[node.type]
        made.kind = "while" if kind == "while" else "do" if kind == "do" else "for"
        made.expr = self._condition(node)
        made.body = self._branch(node.child_by_field_name("body"))
        if kind == "do" and _is_false(made.expr) and not _has_jump(made.body):
            made.kind, made.expr = "block", None  # `do { } while (0)` of a macro
        if kind == "for":
            parts = [node.child_by_field_name(name) for name in ("initializer", "update")]
            for part in (part for part in parts if part is not None):
                inner = Statement("expression", made.line, made.line, None)
                if part.type == "declaration":
                    self._declaration(inner, part)
                else:
                    inner.expr = self.builder.build(part)
                made.other.append(inner)

    def _switch_statement(self, made: Statement, node: Node) -> None:
        made.kind = "switch"
        made.expr = self._condition(node)
        made.body = self._branch(node.child_by_field_name("body"), flat=True)

    def _case_statement(self, made: Statement, node: Node) -> None:
        made.kind = "case"
        label = node.child_by_field_name("value")
        made.expr = self.builder.build(label) if label is not None else None
        made.body = self._all(child for child in node.named_children if child != label)

    def _condition(self, node: Node) -> Expr | None:
        condition = node.child_by_field_name("condition")
        if condition is None:
            return None
        if condition.type == "parenthesized_expression" and condition.named_children:
            condition = next(c for c in condition.named_children if c.type != "comment")
        return self.builder.build(condition)

    def _branch(self, node: Node | None, flat: bool = False) -> list[Statement]:
        if node is None:
            return []
        if flat and node.type == "compound_statement":
            return self._all(node.named_children)
        return self._all([node])

    # --- simple ----------------------------------------------------------------------------

    def _return_statement(self, made: Statement, node: Node) -> None:
        made.kind = "return"
        values = parts_of(node)
        made.expr = self.builder.build(values[0]) if values else None

    def _declaration(self, made: Statement, node: Node) -> None:
        made.kind = "declaration"
        names = self.builder.names
        for declarator in node.children_by_field_name("declarator"):
            name = declared_name(declarator)
            if name is None:
                continue
            text = text_of(name).decode("latin-1")
            value = declarator.child_by_field_name("value")
            built = self.builder.build(value) if value is not None else None
            made.locals.append(Local(text, names.scalars.get(text, ""), built, names.owner))

    def _expression_statement(self, made: Statement, node: Node) -> None:
        made.kind = "expression"
        inner = parts_of(node)
        if not inner:
            made.kind = "block"
            return
        made.expr = self.builder.build(inner[0])
        call = peeled(made.expr)
        if call.kind == "call" and inner[0].type == "call_expression":
            self._look_into(made, inner[0], call)

    def _look_into(self, made: Statement, node: Node, call: Expr) -> None:
        """A call statement becomes what it does where that touches the device."""
        text = self.builder.evaluator.call_text(node)
        if text is not None:
            tree = SyntaxTree(_BODY_PREFIX + text + b"\n;}", -len(_BODY_PREFIX))
            body = tree.root.named_children[0].child_by_field_name("body")
            if tree.root.has_error or body is None:
                return
            inside = self.builder.inside(node)
            declared = scalars_of(body, inside.evaluator)
            inside.names = replace(inside.names, scalars={**inside.names.scalars, **declared})
            statements = StatementBuilder(inside, self.is_compiled)
            callee = Callee(call.name, call, False, is_macro=True)
            self._become(made, callee, statements._all(body.named_children))
            return
        function = self.builder.function(call.name)
        if function is None or call.indirect or function.body is None:
            return
        here = self.builder.source.function
        nodes = arguments_of(node)
        builder = within(self.builder, function, nodes, call.parts)
        if builder is None:
            return
        folded = computed(builder, function.body)
        if folded is not None and folded.writes and folded.value is None:
            written = [self._write(made, access) for access in folded.writes]
            self._become(made, Callee(call.name, call, False), written)
            return
        builder = within(self.builder, function, nodes, call.parts) or builder
        threaded = (
            not builder.names.values
            and here is not None
            and self.builder.source.tree is not None
            and function.text is here.text
            and function.is_static
        )
        if threaded:
            builder.source = Source(function.tree, function)
        found = StatementBuilder(builder, self.is_compiled)._all(function.body.named_children)
        parameters = self._parameters(made, function, builder, call.parts)
        bound = [local.value for statement in parameters for local in statement.locals]
        unbound = [part for part in call.parts if part not in bound]
        callee = Callee(call.name, call, threaded, arguments=unbound)
        self._become(made, callee, [*parameters, *found])

    @staticmethod
    def _parameters(
        made: Statement, function: Function, builder: Builder, parts: list[Expr]
    ) -> list[Statement]:
        """Parameters that hold what registers gave, as locals of the helper."""
        found = Statement("declaration", made.line, made.line, None)
        for name, part in zip(function.parameter_names, parts, strict=True):
            text = name.decode("latin-1")
            known = name in builder.names.values or name in builder.names.arguments
            if not known and text in function.scalars and part.is_visible:
                found.locals.append(Local(text, function.scalars[text], part, function.identity))
        return [found] if found.locals else []

    @staticmethod
    def _write(made: Statement, access: Expr) -> Statement:
        access.parent = None
        return Statement("expression", made.line, made.line, None, access)

    @staticmethod
    def _become(made: Statement, callee: Callee, body: list[Statement]) -> None:
        if any(item.kind in ("read", "write") for _, item in accesses(body)):
            made.kind, made.callee, made.body = "inline", callee, body


def compiled_lines(is_compiled: Callable[..., bool]) -> IsCompiled:
    """Ask the project's compiler about lines of a function's file."""
    return lambda function, first, last: is_compiled(function.text.file.path, first, last)


def _is_false(condition: Expr | None) -> bool:
    return condition is not None and condition.kind == "const" and condition.number == 0


def _has_jump(body: list[Statement]) -> bool:
    return any(statement.kind in ("break", "continue") for statement in walk_all(body))
