"""How a register site is used: which register, read or written, with what, in which expression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from porter.registers.register import Register
from porter.sites.context import Context
from porter.sites.macro_calls import call_at, expansion_of, objects_in, registers_in
from porter.sites.measured import is_measured
from porter.sites.objects import TRANSPARENT, object_around
from porter.sites.registers import Registers
from porter.sites.site import Site
from porter.source.c_tree import (
    PARENTHESES,
    Node,
    ancestors,
    enclosing_function,
    parse_expression,
    strip_parentheses,
    text_of,
    walk,
)
from porter.source.edit import Edit
from porter.source.evaluate import Evaluator
from porter.source.scoped_names import names_in
from porter.source.values import Place, Value

Use = Literal["write", "read", "address", "reference", "unclear"]
Form = Literal["block", "loop"] | None
_FORMS = {"block": b"{ %s; }", "loop": b"do { %s; } while (0)"}
_WRITES = frozenset({"assignment_expression", "update_expression"})


@dataclass(frozen=True, eq=False)
class Access:
    """`place` is the lvalue (or the address) as written, `whole` the operation around it.

    A write has `operator` (=, |=, ...) and `value`, which may come from a macro's expansion. A
    read has `whole` == `place`, or the macro call that reads it. `inside`: where a macro call makes
    something else of what it reads, the register in the tree of what the call becomes. `form`: of a
    macro call that is a statement by what it becomes, what stands around the operation there.
    """

    site: Site
    context: Context
    register: Register | None
    use: Use
    place: Node
    whole: Node
    operator: bytes = b""
    value: Node | None = None
    inside: Node | None = None
    form: Form = None

    @property
    def statement(self) -> Node | None:
        """The expression statement that this operation is all of."""
        parent = self.whole.parent
        while parent is not None and parent.type in TRANSPARENT:
            parent = parent.parent
        if parent is not None and parent.type == "expression_statement":
            return parent
        return None

    def replaced(self, operation: bytes) -> Edit:
        """The edit that puts another operation there."""
        start, end = self.context.start(self.whole), self.context.end(self.whole)
        if self.form is not None and self.statement is None:  # who uses it may write no semicolon
            operation = _FORMS[self.form] % operation
        return Edit(start, end, operation)

    @property
    def is_alone(self) -> bool:
        """Whether nothing takes the value of this operation: it is a statement, or an operand of
        one that does nothing but choose what is done (`c ? (A = 1) : (B = 1);`), or another one
        follows it (`A = 1, B = 1`)."""
        if self.form is not None:
            return True
        node, parent = self.whole, self.whole.parent
        while parent is not None:
            if parent.type == "expression_statement":
                return True
            if parent.type == "comma_expression":
                if parent.child_by_field_name("left") == node:
                    return True
            elif parent.type == "conditional_expression":
                if parent.child_by_field_name("condition") == node:
                    return False
            elif parent.type not in TRANSPARENT:
                return False
            node, parent = parent, parent.parent
        return False


def access_of(site: Site, context: Context, registers: Registers) -> Access | None:
    """The access at a site; None if the syntax around it can't be told."""
    leaf = context.node_at(site.start, site.end)
    if leaf is None:
        return None
    call = call_at(leaf)
    if call is not None and registers.calls.reach_fields(text_of(leaf), registers.fields):
        return _of_call(site, context, registers, call)
    place, value = object_around(leaf, context, registers.evaluator)
    register = registers.identify(value)
    if register is None:
        return Access(site, context, None, "address", place, place)
    argument = place.child_by_field_name("argument")
    inner = registers.evaluator.misread_cast(argument) if argument is not None else None
    if inner is not None and place.type != "pointer_expression":
        return Access(site, context, register, "unclear", place, place)  # it casts what is read
    if is_measured(place, registers.evaluator):
        return Access(site, context, register, "address", place, place)
    call = _macro_call(place, registers.evaluator)
    if call is not None:
        return _through_macro(site, context, registers, register, place, call)
    return _direct(site, context, registers.evaluator, register, place)


def _of_call(site: Site, context: Context, registers: Registers, call: Node) -> Access | None:
    """What a macro call does with a register that its arguments lead to."""
    evaluator, scope = registers.evaluator, context.scope
    tree = expansion_of(call, evaluator)
    found = registers_in(tree, evaluator, scope, registers.identify) if tree is not None else []
    if tree is None or len(found) != 1:
        return Access(site, context, found[0], "unclear", call, call) if found else None
    writes = [node for node in walk(tree) if node.type in _WRITES]
    node = strip_parentheses(tree)
    if not writes:
        if registers.identify(evaluator.value(node, scope)) is not None:
            return Access(site, context, found[0], "read", call, call)
        places = [
            it for it in objects_in(tree)
            if registers.identify(evaluator.value(it, scope)) == found[0]
        ]  # fmt: skip
        inside = places[0] if len(places) == 1 else None
        return Access(site, context, found[0], "unclear", call, call, inside=inside)
    form = _form(writes[0])
    node = writes[0] if form is not None else node
    left, value = node.child_by_field_name("left"), node.child_by_field_name("right")
    sign = node.child_by_field_name("operator")
    if len(writes) > 1 or node != writes[0] or left is None or sign is None:
        return Access(site, context, found[0], "unclear", call, call)
    if registers.identify(evaluator.value(left, scope)) is None:
        return Access(site, context, found[0], "unclear", call, call)
    return Access(site, context, found[0], "write", call, call, text_of(sign), value, form=form)


def _form(write: Node) -> Form:
    """What stands around an operation that is all that a macro's statement does: `{ A = 1; }`,
    `do { A = 1; } while (0)`. None for one that isn't."""
    form: Form = None
    statement = write.parent
    if statement is None or statement.type != "expression_statement":
        return None
    for around in ancestors(statement):
        if around.type in ("function_definition", "parenthesized_expression"):
            return form
        is_loop = around.type == "do_statement"
        inner = [it for it in around.named_children if text_of(it) != b";"]
        if (around.type != "compound_statement" and not is_loop) or len(inner) != 1 + is_loop:
            return None
        form = "loop" if is_loop else form or "block"
    return None


def _direct(
    site: Site, context: Context, evaluator: Evaluator, register: Register, place: Node
) -> Access:
    node, parent = place, place.parent
    while parent is not None and parent.type in PARENTHESES:
        node, parent = parent, parent.parent
    if parent is not None and parent.type == "assignment_expression":
        if parent.child_by_field_name("left") == node:
            sign = parent.child_by_field_name("operator")
            value = parent.child_by_field_name("right")
            operator = text_of(sign) if sign is not None else b"="
            return Access(site, context, register, "write", place, parent, operator, value)
    elif parent is not None and parent.type == "update_expression":
        return Access(site, context, register, "write", place, parent, b"+=")
    elif (
        parent is not None
        and parent.type == "pointer_expression"
        and text_of(parent).startswith(b"&")
    ):
        return Access(site, context, register, "address", place, parent)
    elif _is_bound(node):
        return Access(site, context, None, "address", place, place)
    elif _may_be_bound(node, context, evaluator):
        found = evaluator.value(place, context.scope)
        is_struct = isinstance(found, Place) and found.type.kind == "struct"
        return Access(site, context, None, "address" if is_struct else "reference", place, place)
    use: Use = "address" if _reads_nothing(evaluator.value(place, context.scope)) else "read"
    return Access(site, context, register, use, place, place)


def _reads_nothing(value: Value | None) -> bool:
    """Whether an object is an array, which C takes for its address."""
    return isinstance(value, Place) and value.type.kind == "array" and not value.part


def _is_bound(node: Node) -> bool:
    """Whether an object is what a reference refers to that is declared, or returned."""
    parent = node.parent
    while parent is not None and parent.type in ("initializer_list", "argument_list"):
        node, parent = parent, parent.parent
    if parent is not None and parent.type == "return_statement":
        parent = enclosing_function(parent)
        declarator = parent.child_by_field_name("declarator") if parent is not None else None
        return declarator is not None and declarator.type == "reference_declarator"
    if parent is None or parent.type not in ("init_declarator", "field_declaration"):
        return False
    declarator = parent.child_by_field_name("declarator")
    return declarator is not None and declarator.type == "reference_declarator"


def _may_be_bound(node: Node, context: Context, evaluator: Evaluator) -> bool:
    """Whether a C++ function that is given an object may take a reference to it."""
    arguments = node.parent
    if arguments is None or not context.tree.is_cplusplus:
        return False
    if arguments.type == "lambda_capture_initializer":
        return True
    call = arguments.parent
    if arguments.type not in ("argument_list", "initializer_list") or call is None:
        return False
    if evaluator.cast_argument(call) is not None:
        return False
    if call.type == "init_declarator":
        return _is_object(call, evaluator)
    if call.type != "call_expression":
        return True
    function = call.child_by_field_name("function")
    if function is None or function.type not in ("identifier", "qualified_identifier"):
        return True
    is_template = b"<" in text_of(function)  # whose arguments may make references
    return is_template or not evaluator.types.takes_values(names_in(function)[-1])


def _is_object(declarator: Node, evaluator: Evaluator) -> bool:
    """Whether an initialiser is handed to the constructor of a class."""
    specifier = declarator.parent.child_by_field_name("type") if declarator.parent else None
    inner = declarator.child_by_field_name("declarator")
    if specifier is None or specifier.type == "placeholder_type_specifier":
        return False
    return evaluator.types.of(specifier, inner).kind not in ("scalar", "pointer")


def _macro_call(place: Node, evaluator: Evaluator) -> Node | None:
    """The outermost call of a function-like macro that the place is an argument of."""
    found = None
    for node in ancestors(place):
        if node.type.endswith("_statement") or node.type == "compound_statement":
            break
        if node.type == "call_expression":
            function = node.child_by_field_name("function")
            if function is not None and function.type == "identifier":
                macro = evaluator.macros.get(text_of(function))
                if macro is not None and macro.parameters is not None:
                    found = node
    return found


def _through_macro(
    site: Site,
    context: Context,
    registers: Registers,
    register: Register,
    place: Node,
    call: Node,
) -> Access:
    """What a macro does with the register it is given."""
    if _is_check(call):
        return Access(site, context, register, "read", place, place)
    text = registers.evaluator.call_text(call)
    node = parse_expression(text) if text is not None else None
    if node is None:
        return Access(site, context, register, "unclear", place, call)
    node = strip_parentheses(node)
    if node.type == "assignment_expression":
        left = node.child_by_field_name("left")
        target = registers.identify(
            registers.evaluator.value(left, context.scope) if left is not None else None
        )
        if target == register:
            sign = node.child_by_field_name("operator")
            value = node.child_by_field_name("right")
            operator = text_of(sign) if sign is not None else b"="
            return Access(site, context, register, "write", place, call, operator, value)
        return Access(site, context, register, "unclear", place, call)
    if b"=" in text_of(node).replace(b"==", b"").replace(b"!=", b"").replace(b"<=", b""):
        return Access(site, context, register, "unclear", place, call)
    if _takes_address(node, context, registers):
        return Access(site, context, register, "address", place, call)
    hands_on = any(
        it.type == "call_expression" and registers.evaluator.cast_argument(it) is None
        for it in walk(node)
    )
    return Access(site, context, register, "read", place, place if hands_on else call)


def _takes_address(node: Node, context: Context, registers: Registers) -> bool:
    """Whether a macro computes with a register's address, as for its bit-band alias: what it reads
    is another word, and no value can stand for the register there."""
    for item in walk(node):
        argument = item.child_by_field_name("argument")
        if item.type != "pointer_expression" or argument is None:
            continue
        if not text_of(item).startswith(b"&"):
            continue
        value = registers.evaluator.value(strip_parentheses(argument), context.scope)
        if registers.identify(value) is not None:
            return True
    return False


def _is_check(call: Node) -> bool:
    """An assertion expands to control flow; what it reads is read where it is written."""
    function = call.child_by_field_name("function")
    return function is not None and b"assert" in text_of(function).lower()
