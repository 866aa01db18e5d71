"""What nodes of C's syntax are to each other: names and what declares, sets or reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from porter.source.c_tree import (
    Node,
    ancestors,
    captured,
    enclosing_function,
    index_of,
    outermost,
    query,
    text_of,
    walk,
)

ASM = frozenset({"gnu_asm_expression", "asm_statement"})
_CALCULATIONS = frozenset(b"+ - ^ | & << >> * / % ~".split())
_NUMBERS = frozenset({"primitive_type", "sized_type_specifier"})
_IN_MEMORY = frozenset(b"moVQUXg<>")
_DECLARATIONS = query("[(declaration) (parameter_declaration)] @it")
_IDENTIFIERS = query("(identifier) @it")
_CALLS = query("(call_expression) @it")


def calls_in(node: Node) -> Iterator[tuple[Node, bytes]]:
    """Calls, with the names of the functions."""
    for call in captured(node, _CALLS, "it"):
        callee = call.child_by_field_name("function")
        if callee is not None:
            yield call, text_of(callee)


def is_function(definition: Node) -> bool:
    """Whether a definition was read as a function's: without a type it looks like a variable's."""
    declarator = definition.child_by_field_name("declarator")
    parts = walk(declarator) if declarator is not None else ()
    return any(it.type == "function_declarator" for it in parts)


def function_name(definition: Node) -> bytes:
    """The name of a function definition."""
    name = declared_name(definition.child_by_field_name("declarator"))
    return text_of(name) if name is not None else b""


def parameter_place(definition: Node, name: bytes) -> int | None:
    """Which parameter has a name, counted from 0."""
    names = _parameter_names(definition)
    return names.index(name) if name in names else None


def parameter_name(definition: Node, place: int) -> bytes | None:
    """The name of a parameter, counted from 0; None where it has none."""
    names = _parameter_names(definition)
    return names[place] if place < len(names) else None


def parameters_named(definition: Node) -> int:
    """How many parameters a function's definition names between its parentheses, with types there
    or behind them."""
    return len(_parameter_names(definition))


def parameters_of(definition: Node) -> int | None:
    """How many parameters a function has; None where its definition leaves that open."""
    listed = next((node for node in walk(definition) if node.type == "parameter_list"), None)
    parts = [it for it in (listed.named_children if listed is not None else ())
             if it.type != "comment"]  # fmt: skip
    if not parts or any(it.type != "parameter_declaration" for it in parts):
        return None
    is_void = text_of(parts[0]).strip() == b"void"
    return 0 if is_void and len(parts) == 1 else len(parts)


def _parameter_names(definition: Node) -> list[bytes | None]:
    listed = next((node for node in walk(definition) if node.type == "parameter_list"), None)
    names = (declared_name(it.child_by_field_name("declarator") or it)
             for it in (listed.named_children if listed is not None else ())
             if it.type in ("parameter_declaration", "identifier"))  # fmt: skip
    return [text_of(it) if it is not None else None for it in names]


def uses_in(function: Node, name: bytes) -> list[Node]:
    """Reads of a name in a function's body."""
    body = function.child_by_field_name("body")
    nodes = walk(body) if body is not None else ()
    return [node for node in nodes if node.type == "identifier" and text_of(node) == name
            and is_read(node)]  # fmt: skip


def is_local(function: Node, name: bytes) -> bool:
    """Whether a function declares a name, as a variable or a parameter."""
    return any(
        text_of(node) == name and is_declarator(node)
        for node in captured(function, _IDENTIFIERS, "it")
    )


def local_declarations(function: Node, name: bytes) -> Iterator[tuple[Node, Node]]:
    """Declarations of a name in a function, each with the identifier."""
    for declaration in captured(function, _DECLARATIONS, "it"):
        for declarator in declaration.children_by_field_name("declarator"):
            found = declared_name(declarator)
            if found is not None and text_of(found) == name:
                yield declaration, found


def declares_function(declarator: Node) -> bool:
    """Whether an identifier that something declares is a function's, not a parameter's."""
    parent = declarator.parent
    if parent is None or parent.type != "function_declarator":
        return False
    return not any(it.type == "parameter_list" for it in ancestors(declarator))


def own_variables(function: Node) -> frozenset[bytes]:
    """Variables and parameters of a function."""
    return frozenset(
        text_of(node)
        for node in captured(function, _IDENTIFIERS, "it")
        if is_declarator(node) and not declares_function(node)
    )


def is_declarator(node: Node) -> bool:
    """Whether an identifier is what a declaration declares."""
    parent = node.parent
    if parent is None or parent.child_by_field_name("value") == node:
        return False
    return "declarat" in parent.type and parent.child_by_field_name("size") != node


def is_read(node: Node) -> bool:
    """Whether an identifier is used, not declared or set."""
    outer = outermost(node)
    parent = outer.parent
    if parent is None or is_declarator(node) or parent.type == "gnu_asm_output_operand":
        return False
    if parent.type == "assignment_expression" and parent.child_by_field_name("left") == outer:
        sign = parent.child_by_field_name("operator")
        return sign is not None and text_of(sign) != b"="
    return True


def is_changed_by_asm(operand: Node) -> bool:
    """Whether an operand of an asm statement is given to it and set by it."""
    return operand.type == "gnu_asm_output_operand" and b"+" in _constraint(operand)


def is_in_memory(operand: Node) -> bool:
    """Whether an asm statement gets the address of an operand, not its value."""
    if operand.type not in ("gnu_asm_input_operand", "gnu_asm_output_operand"):
        return False
    return any(letter in _IN_MEMORY for letter in _constraint(operand))


def _constraint(operand: Node) -> bytes:
    texts = (text_of(it) for it in operand.named_children if it.type == "string_literal")
    return b"".join(texts)


def is_compared(node: Node) -> bool:
    """Whether an identifier is compared with something."""
    outer = outermost(node)
    sign = outer.parent.child_by_field_name("operator") if outer.parent is not None else None
    return sign is not None and text_of(sign) in (b"==", b"!=")


def calculation(node: Node) -> bytes | None:
    """The operator of an expression that makes another number of one, from which the first may be
    had again; None for a comparison and for what is no calculation."""
    sign = node.child_by_field_name("operator")
    if sign is None or node.type not in ("binary_expression", "unary_expression"):
        return None
    return text_of(sign) if text_of(sign) in _CALCULATIONS else None


def is_based_on(subscript: Node, pointer: Node) -> bool:
    """Whether an element is one behind a pointer: of `p[9]` or of `9[p]`."""
    if subscript.child_by_field_name("argument") == pointer:
        return True
    other = subscript.child_by_field_name("argument")
    return index_of(subscript) == pointer and other is not None and _is_number(other)


def _is_number(node: Node) -> bool:
    """Whether an expression is surely no pointer and no array."""
    names = [it for it in walk(node) if it.type in ("identifier", "field_expression")]
    if not names:
        return True
    around = enclosing_function(node)
    if len(names) > 1 or names[0].type != "identifier" or around is None:
        return False
    declared = list(local_declarations(around, text_of(names[0])))
    return bool(declared) and all(_declares_number(*it) for it in declared)


def _declares_number(declaration: Node, name: Node) -> bool:
    kind = declaration.child_by_field_name("type")
    if kind is None or kind.type not in _NUMBERS or name.parent is None:
        return False
    return name.parent.type in ("declaration", "parameter_declaration", "init_declarator")


def declared_name(declarator: Node | None) -> Node | None:
    """The identifier in a declarator."""
    while declarator is not None and declarator.type not in ("identifier", "field_identifier"):
        inner = declarator.child_by_field_name("declarator")
        if inner is None:
            named = [it for it in declarator.named_children if "declarator" in it.type
                     or it.type in ("identifier", "field_identifier")]  # fmt: skip
            inner = named[0] if named else None
        declarator = inner
    return declarator


def assignments_to(names: Iterable[Node]) -> Iterator[tuple[Node, Node]]:
    """Those identifiers of which a whole or a part is set, as that lvalue, with the expression."""
    for name in names:
        place = _lvalue_of(name)
        value = _set_to(name, place)
        if value is not None:
            yield place, value


def _lvalue_of(part: Node) -> Node:
    """The lvalue of which a variable or a member, not what it points to, is or has a part."""
    around = part.parent
    while around is not None:
        sign = around.child_by_field_name("operator")
        if around.type == "field_expression":
            is_part = (
                around.child_by_field_name("field") == part or sign is None or text_of(sign) == b"."
            )
        else:
            is_part = around.type == "parenthesized_expression" or (
                around.type == "subscript_expression"
                and around.child_by_field_name("argument") == part
            )
        if not is_part:
            break
        part, around = around, around.parent
    return part


def _set_to(name: Node, place: Node) -> Node | None:
    """What is assigned to an lvalue, or what its declaration or a designator sets a name to."""
    around = place.parent
    if around is not None and around.type == "field_designator":
        around = around.parent
    if around is None:
        return None
    if around.type == "assignment_expression" and around.child_by_field_name("left") == place:
        sign = around.child_by_field_name("operator")
        return around.child_by_field_name("right") if sign and text_of(sign) == b"=" else None
    while (
        around is not None
        and around.type.endswith("_declarator")
        and around.type != "init_declarator"
    ):
        around = around.parent
    if around is None or around.type not in ("init_declarator", "initializer_pair", "enumerator"):
        return None
    if around.type == "init_declarator" and declared_name(around) != name:
        return None
    value = around.child_by_field_name("value")
    return None if value == place else value


def element_of(use: Node, place: Node | None) -> Node:
    """An array's element, where an element of it was set."""
    while place is not None and place.type == "subscript_expression":
        around = use.parent
        if around is None or around.type != "subscript_expression":
            break
        if around.child_by_field_name("argument") != use:
            break
        use = around
        place = place.child_by_field_name("argument")
    return use


def base_of(place: Node | None) -> Node | None:
    """The variable or field that an lvalue is a part of."""
    while place is not None:
        if place.type in ("identifier", "field_identifier"):
            return place
        if place.type == "field_expression":
            return place.child_by_field_name("field")
        if place.type == "subscript_expression":
            place = place.child_by_field_name("argument")
        elif place.type == "parenthesized_expression" and place.named_child_count == 1:
            place = place.named_children[0]
        else:
            return None
    return None


def base_variable(place: Node | None) -> Node | None:
    """The variable that an lvalue is a part of; None for what a pointer leads to."""
    while place is not None and place.type != "identifier":
        sign = place.child_by_field_name("operator")
        leads = place.type == "pointer_expression" or (sign is not None and text_of(sign) == b"->")
        inner = place.child_by_field_name("argument")
        if inner is None and place.type == "parenthesized_expression":
            inner = place.named_children[0]
        place = None if leads else inner
    return place
