"""What one C file, as the preprocessor leaves it, puts into fields of structs.

An object is known as long as all that is done with it is understood: its fields are read and get
constants, and pointers to it stay pointers to its type. With whatever else is done to it, or to a
pointer to it, others may write what they like there: the whole type is lost from sight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from porter.flow.filled import filled
from porter.flow.set_first import unset_fields
from porter.flow.static_types import Names, StaticTypes, called, decayed, is_null, name_of
from porter.flow.stores import WORD, Field, Stores, words_of_texts
from porter.program.preprocess import TranslationUnit
from porter.sites.local_names import declarations
from porter.source.c_tree import (
    Node,
    ancestors,
    arguments_of,
    captured,
    parts_of,
    query,
    strip_parentheses,
    text_of,
    walk,
)
from porter.source.c_types import UNKNOWN, CType
from porter.source.scoped_names import CLASSES
from porter.source.values import Number, Place

_UNIONS = query("(union_specifier) @it")
_QUALIFIERS = query("(type_qualifier) @it")
_ATTRIBUTES = frozenset(
    {"attribute_specifier", "attribute_declaration", "ms_declspec_modifier", "gnu_asm_expression"}
)
_HARMLESS = frozenset(
    word
    for name in (b"aligned", b"unused", b"used", b"packed", b"deprecated", b"constructor")
    for word in (name, b"__" + name + b"__")
) | {b"__attribute__", b"__attribute"}  # fmt: skip
_UNDERSTOOD = frozenset(
    {"translation_unit", "function_definition", "declaration", "parameter_declaration",
     "parameter_list", "init_declarator", "pointer_declarator", "array_declarator",
     "function_declarator", "parenthesized_declarator", "abstract_pointer_declarator",
     "abstract_array_declarator", "abstract_function_declarator",
     "abstract_parenthesized_declarator", "attribute_specifier", "type_descriptor",
     "type_identifier", "primitive_type", "sized_type_specifier", "struct_specifier",
     "enum_specifier", "enumerator_list", "enumerator", "type_qualifier",
     "storage_class_specifier", "variadic_parameter",
     "compound_statement", "expression_statement", "if_statement", "else_clause",
     "switch_statement", "case_statement", "while_statement", "do_statement", "for_statement",
     "return_statement", "break_statement", "continue_statement", "goto_statement",
     "labeled_statement", "statement_identifier", "comment",
     "assignment_expression", "update_expression", "call_expression", "cast_expression",
     "pointer_expression", "field_expression", "field_identifier", "subscript_expression",
     "conditional_expression", "binary_expression", "unary_expression", "comma_expression",
     "parenthesized_expression", "argument_list", "identifier", "compound_literal_expression",
     "sizeof_expression", "alignof_expression", "offsetof_expression", "number_literal",
     "char_literal", "character", "escape_sequence", "string_literal", "string_content",
     "concatenated_string", "true", "false", "null", "initializer_list", "initializer_pair",
     "field_designator", "subscript_designator", "subscript_range_designator",
     "gnu_asm_expression", "gnu_asm_qualifier", "gnu_asm_output_operand_list",
     "gnu_asm_output_operand", "gnu_asm_input_operand_list", "gnu_asm_input_operand",
     "gnu_asm_clobber_list"}
)  # fmt: skip
_TYPED = frozenset(
    {"field_expression", "subscript_expression", "pointer_expression", "call_expression",
     "binary_expression", "conditional_expression", "comma_expression", "assignment_expression"}
)  # fmt: skip
_WHOLE = ("statement", "declaration", "definition")
_UNEVALUATED = frozenset({"sizeof_expression", "alignof_expression", "offsetof_expression"})


class FileStores:
    """Reads one file into `stores`. `takes_part`: whether a function of a name, in a file, may
    run."""

    def __init__(
        self,
        unit: TranslationUnit,
        stores: Stores,
        takes_part: Callable[[bytes, Path | None], bool],
    ) -> None:
        self._unit = unit
        self._evaluator = unit.evaluator
        self._types = StaticTypes(unit.evaluator.types)
        self._stores = stores
        self._takes_part = takes_part
        self._names: Names = {}
        self._is_inside = False  # of a function
        self._result = UNKNOWN

    def read(self, seen: set[bytes]) -> None:
        """`seen`: declarations without values that an earlier file has too; they are added."""
        root = self._unit.tree.root
        self._stores.words |= words_of_texts(self._unit.tree.text)
        self._shared(root)
        for item in root.named_children:
            text = text_of(item)
            if item.type == "function_definition":
                self._function(item)
            elif text not in seen or b"=" in text:
                seen.add(text)
                self._outside_functions(item)

    def _outside_functions(self, item: Node) -> None:
        self._names, self._is_inside = {}, False
        if item.has_error or item.type == "ERROR":
            self._mentioned(item)
        elif item.type not in ("type_definition", *CLASSES, "enum_specifier"):
            self._code(item)

    def _function(self, item: Node) -> None:
        declarator = item.child_by_field_name("declarator")
        kind = item.child_by_field_name("type")
        name = name_of(declarator) if declarator is not None else b""
        self._stores.kept.add(name)
        if declarator is None or kind is None or not name:
            self._mentioned(item)
            return
        self._names, self._is_inside = {}, False
        self._declared(item, kind, declarator)
        if not self._takes_part(name, self._unit.line_at(item.start_byte)[0]):
            return
        self._stores.entered.add(name)
        self._names, self._is_inside = self._local_names(item), True
        returned = self._evaluator.types.of(kind, declarator)
        self._result = (returned.target or UNKNOWN) if returned.kind == "function" else UNKNOWN
        if item.has_error:
            self._mentioned(item)
        else:
            self._code(item)

    def _local_names(self, function: Node) -> Names:
        found: dict[bytes, tuple[Node, Node]] = {}
        for kind, declarator, _ in declarations(function):
            name = name_of(declarator)
            here = self._evaluator.types.of(kind, declarator)
            there = self._types.declared(name, found)
            if there is not None and self._types.shown(here) != self._types.shown(
                self._evaluator.types.of(*there)
            ):  # one name of two things
                self._lose(here)
                self._lose(self._evaluator.types.of(*there))
            found[name] = kind, declarator
        return found

    def _shared(self, root: Node) -> None:
        """Parts of unions, and what is volatile as a whole."""
        for node in captured(root, _UNIONS, "it"):
            for item in parts_of(node.child_by_field_name("body")):
                self._lose(self._types.described(item))
        for node in captured(root, _QUALIFIERS, "it"):
            around = node.parent
            if b"volatile" in text_of(node) and around is not None:
                self._lose(self._types.described(around))

    # --- code ------------------------------------------------------------------------------

    def _code(self, root: Node) -> None:
        skipped = -1
        for node in walk(root):
            if node.end_byte <= skipped:
                continue
            if node.type in _UNEVALUATED:
                skipped = node.end_byte
            elif node.is_named and node.type not in _UNDERSTOOD:
                self._mentioned(node)
            elif node.type in CLASSES and node.child_by_field_name("body") is not None:
                skipped = node.end_byte
                if self._is_inside:  # a type of its own, perhaps with another's name
                    self._mentioned(node)
            elif node.is_named:
                if node.type in _TYPED and self._types.of(node, self._names).kind == "unknown":
                    for child in node.named_children:
                        self._lose(self._types.of(child, self._names))
                if (handler := getattr(self, "_on_" + node.type, None)) is not None:
                    handler(node)

    def _on_declaration(self, node: Node) -> None:
        kind = node.child_by_field_name("type")
        if kind is None:
            self._mentioned(node)
            return
        for declarator in node.children_by_field_name("declarator"):
            value = None
            if declarator.type == "init_declarator":
                value = declarator.child_by_field_name("value")
                declarator = declarator.child_by_field_name("declarator") or declarator
            self._declared(node, kind, declarator, value)

    def _declared(
        self, item: Node, kind: Node, declarator: Node, value: Node | None = None
    ) -> None:
        name, type_ = name_of(declarator), self._evaluator.types.of(kind, declarator)
        stores, shown = self._stores, self._types.shown
        words = {text_of(it) for it in item.children if it.type == "storage_class_specifier"}
        stores.structs.setdefault(name, set()).update(self._reached(type_))
        if type_.kind == "function":
            given = self._types.parameters(declarator)
            reached = (it for taken in given or () for it in self._reached(taken))
            stores.structs[name].update(reached)
            if given is not None:
                sides = (shown(type_.target or UNKNOWN), *map(shown, given))
                stores.functions.setdefault(name, set()).add(sides)
            return
        is_static = b"static" in words
        if not self._is_inside or is_static or b"extern" in words:
            stores.objects.setdefault(name, set()).add(shown(type_))
            stores.shared |= set() if is_static else {name}
            if b"extern" not in words or value is not None:
                stores.kept.add(name)
        else:
            is_set = value is not None
            for owner, member in unset_fields(item, name, type_, self._types, is_set):
                self._stores.put((owner, member), None, UNKNOWN)
        for node in item.children:
            self._attributes(node, type_)
        if value is not None and value.type == "initializer_list":
            self._list(value, type_)
        elif value is not None:
            self._becomes(value, type_)

    def _attributes(self, node: Node, kind: CType) -> None:
        """A section, another name, a register: of most attributes nobody knows what becomes of the
        object."""
        if node.type in _ATTRIBUTES and not _HARMLESS.issuperset(WORD.findall(text_of(node))):
            self._lose(kind)

    def _on_parameter_declaration(self, node: Node) -> None:
        for child in node.children:
            self._attributes(child, self._types.described(node))

    def _on_assignment_expression(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign = node.child_by_field_name("operator")
        if left is None or right is None or sign is None:
            self._mentioned(node)
            return
        kind = self._types.of(left, self._names)
        if text_of(sign) == b"=":
            self._becomes(right, kind)
        plain = strip_parentheses(left)
        if plain.type == "field_expression" and kind.kind != "struct":
            is_given = text_of(sign) == b"=" and not self._is_part(plain)
            self._stores.put(self._field(plain), self._number(right) if is_given else None, kind)

    def _on_parenthesized_expression(self, node: Node) -> None:
        if any(it.type == "compound_statement" for it in node.named_children):
            self._mentioned(node)  # ({ ... })

    def _on_update_expression(self, node: Node) -> None:
        argument = strip_parentheses(node.child_by_field_name("argument") or node)
        if argument.type == "field_expression":
            self._stores.put(self._field(argument), None, UNKNOWN)

    def _on_pointer_expression(self, node: Node) -> None:
        """The address of a number in a struct leads to all that is beside it."""
        argument = strip_parentheses(node.child_by_field_name("argument") or node)
        if not text_of(node).startswith(b"&"):
            return
        kind = self._types.of(argument, self._names)
        while argument.type == "subscript_expression":
            argument = strip_parentheses(argument.child_by_field_name("argument") or node)
        if argument.type == "field_expression" and kind.kind != "struct":
            self._lose(self._types.member(argument, self._names)[0])

    def _on_cast_expression(self, node: Node) -> None:
        kind = self._types.of(node, self._names)
        if text_of(node.child_by_field_name("type") or node).strip() != b"void":
            self._becomes(node.child_by_field_name("value"), kind)

    def _on_conditional_expression(self, node: Node) -> None:
        kind = self._types.of(node, self._names)
        for name in ("consequence", "alternative"):
            self._becomes(node.child_by_field_name(name), kind)

    def _on_return_statement(self, node: Node) -> None:
        for value in parts_of(node):
            self._becomes(value, self._result)

    def _on_compound_literal_expression(self, node: Node) -> None:
        value = node.child_by_field_name("value")
        if value is not None:
            self._list(value, self._types.of(node, self._names))

    def _on_gnu_asm_expression(self, node: Node) -> None:
        self._mentioned(node)
        for operand in walk(node):
            if operand.type in ("gnu_asm_output_operand", "gnu_asm_input_operand"):
                value = strip_parentheses(operand.child_by_field_name("value") or operand)
                self._lose(self._types.of(value, self._names))
                if value.type == "field_expression":
                    self._stores.put(self._field(value), None, UNKNOWN)

    def _on_identifier(self, node: Node) -> None:
        """A function that isn't called here may be called from anywhere."""
        around, name = node.parent, text_of(node)
        if around is not None and around.child_by_field_name("function") == node:
            return
        found = self._types.declared(name, self._names)
        if found is None and self._evaluator.types.is_type(name):
            self._misread(node)
        is_function = found is not None and self._evaluator.types.of(*found).kind == "function"
        if is_function and around is not None and around.child_by_field_name("declarator") != node:
            self._stores.words.add(name)

    def _misread(self, node: Node) -> None:
        """`(T)&x`, where the parser takes the name of a type for a variable's."""
        around = next((it for it in ancestors(node) if it.type.endswith(_WHOLE)), node)
        self._mentioned(around)

    def _on_call_expression(self, node: Node) -> None:
        name = called(node)
        given = arguments_of(node)
        found = self._types.declared(name, self._names) if name else None
        if name == b"memset" and len(given) == 3 and is_null(given[1]):
            return
        self._stores.called.add(name)
        taken = self._types.parameters(found[1]) if found is not None else None
        is_plain = found is not None and self._evaluator.types.of(*found).kind == "function"
        for index, value in enumerate(given):
            known = taken is not None and is_plain and index < len(taken)
            self._becomes(value, taken[index] if known and taken is not None else UNKNOWN)

    # --- values ----------------------------------------------------------------------------

    def _becomes(self, value: Node | None, kind: CType) -> None:
        """A value gets into an object of a type: a pointer to something else than what it points
        to lets both be written as what they aren't."""
        if value is None or is_null(value):
            return
        given, taken = decayed(self._types.of(value, self._names)), decayed(kind)
        if self._types.shown(given) != self._types.shown(taken):
            self._lose(given)
            self._lose(taken)

    def _list(self, node: Node, kind: CType) -> None:
        for it in filled(node, kind, self._types):
            if it.value is None:
                self._lose(it.kind)
                continue
            self._becomes(it.value, it.kind)
            if it.owner is not None:
                number = None if it.is_part else self._number(it.value)
                self._stores.put((self._types.shown(it.owner), it.member), number, it.kind)

    def _number(self, node: Node) -> Number | None:
        """A constant; what a macro calls so that comes later is none."""
        if any(it.type == "call_expression" for it in walk(node)):
            return None
        found = self._evaluator.value(node, self._object)
        return found if isinstance(found, Number) else None

    def _object(self, name: bytes) -> Place | None:
        is_constant = name in self._evaluator.types.enumerators and name not in self._names
        return None if is_constant else Place(None, UNKNOWN)

    def _is_part(self, node: Node) -> bool:
        """Whether a field has some bits only."""
        base, name = self._types.member(node, self._names)
        member = self._evaluator.types.members(base).get(name)
        return member is None or member.part

    def _field(self, node: Node) -> Field:
        base, name = self._types.member(node, self._names)
        return self._types.shown(base), name

    def _lose(self, kind: CType) -> None:
        self._stores.lost |= self._reached(kind)

    def _reached(self, kind: CType) -> set[bytes]:
        return {self._types.shown(it) for it in self._types.structs(kind)}

    def _mentioned(self, node: Node) -> None:
        """What isn't understood may do anything with all that it names."""
        for name in map(text_of, _words(node)):
            if (found := self._types.declared(name, self._names)) is not None:
                self._lose(self._evaluator.types.of(*found))
                self._stores.words.add(name)
            for kind in self._evaluator.types.named_like(name):
                self._lose(kind)


def _words(node: Node) -> Iterable[Node]:
    names = ("identifier", "type_identifier", "field_identifier")
    return (it for it in walk(node) if it.type in names)
