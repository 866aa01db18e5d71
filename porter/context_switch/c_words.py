"""What C calls a word: a variable, or a member of a type; where it stands, and what it leads to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import declared_name, is_local, local_declarations
from porter.source.c_tree import (
    Node,
    ancestors,
    enclosing_function,
    strip_parentheses,
    text_of,
    walk,
)

_STRUCT = "struct_specifier"
_DECLARES = frozenset({"declaration", "parameter_declaration", "field_declaration"})
_LEADS = frozenset({"pointer_declarator", "array_declarator"})


@dataclass(frozen=True)
class Word:
    """A variable, an element of it, or a member: what C calls a word."""

    name: bytes
    is_member: bool


def accesses(word: Word, units: CUnits) -> list[Node]:
    """Expressions that are a word."""
    if not word.is_member:
        return units.reads(word.name)
    fields = (node.parent for node in units.named(word.name) if node.type == "field_identifier")
    return [it for it in fields if it is not None and it.type == "field_expression"]


def _declarations(word: Word, units: CUnits) -> Iterator[Node]:
    """Declarations of a variable or member, and casts of a variable."""
    kinds = ("field_declaration",) if word.is_member else ("declaration", "cast_expression")
    for node in units.named(word.name):
        if word.is_member and node.type != "field_identifier":
            continue
        for around in ancestors(node):
            if around.type in kinds:
                yield around
            if around.type.endswith(("declaration", "statement")):
                break


def types_of(word: Word, units: CUnits) -> set[bytes]:
    """Names of types that a word has, or points to."""
    kinds = (it.child_by_field_name("type") for it in _declarations(word, units))
    return {name for kind in kinds if kind is not None for name in type_names(kind)}


def types_where(node: Node, units: CUnits) -> set[bytes]:
    """Names of types that an expression has, or leads to, in the function that it stands in."""
    node = strip_parentheses(node)
    argument = node.child_by_field_name("argument")
    if node.type == "cast_expression":
        kind = node.child_by_field_name("type")
        return type_names(kind) if kind is not None else set()
    if node.type in ("subscript_expression", "pointer_expression") and argument is not None:
        return types_where(argument, units)
    if node.type == "field_expression" and argument is not None:
        field = text_of(node.child_by_field_name("field") or node)
        blocks = types_where(argument, units)
        kinds = [it for name in blocks for body in bodies(name, units)
                 for it in _kinds_in(body, field)]  # fmt: skip
        if not kinds:
            return types_of(Word(field, True), units)
        return {name for kind in kinds for name in type_names(kind)}
    around = enclosing_function(node)
    if around is not None and is_local(around, text_of(node)):
        declared = local_declarations(around, text_of(node))
        types = (it.child_by_field_name("type") for it, _ in declared)
        return {name for kind in types if kind is not None for name in type_names(kind)}
    return types_of(Word(text_of(node), False), units)


def _kinds_in(body: Node, member: bytes) -> Iterator[Node]:
    """What stands for the type of a member in a struct's body."""
    for declaration in body.named_children:
        kind = declaration.child_by_field_name("type")
        names = map(declared_name, declaration.children_by_field_name("declarator"))
        if kind is not None and any(it is not None and text_of(it) == member for it in names):
            yield kind


def member_accesses(field: Node, units: CUnits) -> list[Node]:
    """Expressions that are the member which a declaration declares, as far as the types of what
    they are a member of say that."""
    struct = next((it for it in ancestors(field) if it.type == _STRUCT), None)
    tag = struct.child_by_field_name("name") if struct is not None else None
    around = struct.parent if struct is not None else None
    named = set() if tag is None else {text_of(tag)}
    if around is not None and around.type == "type_definition":
        named |= {text_of(it) for it in around.children_by_field_name("declarator")}
    homes = {name for it in named for name in aliases(it, units)}
    found = []
    for node in accesses(Word(text_of(field), True), units):
        base = node.child_by_field_name("argument")
        kinds = types_where(base, units) if base is not None else set()
        if not kinds or not homes or kinds & homes:
            found.append(node)
    return found


def is_pointer(word: Word, units: CUnits) -> bool:
    """Whether a variable is one, or an array of them, also by a type's name."""
    declarations = (it for it in _declarations(word, units) if it.type == "declaration")
    declarators = (it for of in declarations for it in of.children_by_field_name("declarator")
                   if text_of(declared_name(it) or it) == word.name)  # fmt: skip
    if any(node.type == "pointer_declarator" for it in declarators for node in walk(it)):
        return True
    names = (node for kind in types_of(word, units) for node in units.named(kind))
    return any(it.parent is not None and it.parent.type == "pointer_declarator" for it in names)


def declared_as(kind: bytes, units: CUnits) -> Iterator[Node]:
    """Names of the variables, parameters and members of a type, or that lead to it."""
    for node in units.named(kind):
        around = node.parent
        if around is not None and around.type == _STRUCT:
            around = around.parent
        is_prototype = (
            around is not None
            and around.type == "parameter_declaration"
            and (enclosing_function(around) is None)
        )
        if around is None or around.type not in _DECLARES or is_prototype:
            continue
        for declarator in around.children_by_field_name("declarator"):
            if all(it.type != "function_declarator" for it in walk(declarator)):
                name = declared_name(declarator)
                yield from () if name is None else (name,)


def otherwise_declared(types: Iterable[bytes], units: CUnits) -> Node | None:
    """Declares a variable under another type: elsewhere it has, or leads to, one of these."""
    own = {name for kind in types for name in aliases(kind, units)}
    places = [it for kind in own for it in declared_as(kind, units)]
    for variable in {text_of(it) for it in places if enclosing_function(it) is None}:
        for it in _declarations(Word(variable, False), units):
            if it.type != "declaration" or enclosing_function(it) is not None:
                continue
            kind = it.child_by_field_name("type")
            declared = (declared_name(node) for node in it.children_by_field_name("declarator"))
            names = {text_of(name) for name in declared if name is not None}
            if variable in names and kind is not None and not type_names(kind) & own:
                return it
    return None


def members_at(types: Iterable[bytes], offset: int, units: CUnits) -> set[Word]:
    """Members of these types at an offset in bytes."""
    found: set[Word] = set()
    for name in types:
        for place, member in (it for body in bodies(name, units) for it in _members(body)):
            if units.offset_of(name, member) == offset if offset else place == 0:
                found.add(Word(member, True))
    return found


def contained_in(variable: bytes, kinds: Collection[bytes], units: CUnits) -> bool:
    """Whether a variable is of one of these types, or has it in itself."""
    word, seen = Word(variable, False), set[bytes]()
    waiting = set() if is_pointer(word, units) else types_of(word, units)
    while waiting:
        name = waiting.pop()
        seen.add(name)
        if name in kinds:
            return True
        for member in (it for body in bodies(name, units) for it in body.named_children):
            kind = member.child_by_field_name("type")
            declared = member.children_by_field_name("declarator")
            is_inside = any(it.type != "pointer_declarator" for it in declared)
            if kind is not None and is_inside:
                waiting |= type_names(kind) - seen
    return False


def leads_to_pointers(word: Word, units: CUnits) -> bool:
    """Whether it is a pointer to pointers, or an array of pointers."""
    return any(
        node.type in _LEADS and any(it != node and it.type in _LEADS for it in walk(node))
        for declaration in _declarations(word, units)
        for node in walk(declaration)
    )


def type_names(kind: Node) -> set[bytes]:
    """Names in what stands for a type, none of C's own."""
    return {text_of(node) for node in walk(kind) if node.type == "type_identifier"}


def aliases(kind: bytes, units: CUnits, pointers: bool = True) -> set[bytes]:
    """All names of a type, with those of pointers to it or without them."""
    found: set[bytes] = set()
    waiting = [kind]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        for node in units.named(name):
            for around in ancestors(node):
                if around.type == "type_definition":
                    waiting += _defined_names(around, pointers)
                if around.type.endswith(("_list", "declaration", "definition", "statement")):
                    break
    return found


def _defined_names(definition: Node, pointers: bool) -> Iterator[bytes]:
    """Names of the type that a typedef is about."""
    kind = definition.child_by_field_name("type")
    declarators = definition.children_by_field_name("declarator")
    plain = [it for it in declarators if pointers or it.type == "type_identifier"]
    if not plain or any(it.type == "function_declarator" for it in declarators):
        return
    yield from (text_of(node) for it in plain for node in walk(it)
                if node.type == "type_identifier")  # fmt: skip
    tag = kind.child_by_field_name("name") if kind is not None else None
    if tag is not None:
        yield text_of(tag)
    elif kind is not None and kind.type == "type_identifier":
        yield text_of(kind)


def bodies(name: bytes, units: CUnits) -> Iterator[Node]:
    """The members of each struct of a tag or a typedef."""
    for node in units.named(name):
        parent = node.parent
        if parent is None or parent.type not in (_STRUCT, "type_definition"):
            continue
        kind = parent if parent.type == _STRUCT else parent.child_by_field_name("type")
        if kind is not None and kind.type == "type_identifier" and kind != node:
            yield from bodies(text_of(kind), units)
        if kind is None or kind.type != _STRUCT:
            continue
        body, tag = kind.child_by_field_name("body"), kind.child_by_field_name("name")
        if body is None and tag is not None and text_of(tag) != name:
            yield from bodies(text_of(tag), units)
        if body is not None and body.named_child_count:
            yield body


def _members(body: Node) -> Iterator[tuple[int, bytes]]:
    """With their place; the first of each declaration."""
    for place, declaration in enumerate(body.named_children):
        named = (it for it in walk(declaration) if it.type == "field_identifier")
        first = next(named, None)
        if first is not None:
            yield place, text_of(first)
