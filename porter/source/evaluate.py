"""Evaluates C expressions to numbers and to addresses of registers, through macros and types."""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from porter.source.arithmetic import binary, character, converted, literal, unary, word
from porter.source.c_lexer import lex_fragment
from porter.source.c_tree import (
    Node,
    arguments_of,
    index_of,
    operands,
    parse_expression,
    strip_parentheses,
    text_of,
    walk,
)
from porter.source.c_types import POINTER_SIZE, UNKNOWN, CType, TypeTable, pointer_to
from porter.source.cplusplus_casts import functional_cast, named_cast, sole_value
from porter.source.macros import Macro, MacroTable
from porter.source.possible import LOWEST_MEMORY, LOWEST_PERIPHERAL, one_of
from porter.source.scoped_names import names_in
from porter.source.scoped_values import ScopedValues, typed_place
from porter.source.values import Initial, Number, Place, Pointer, Value

_MAX_DEPTH = 40  # macros within macros
_MASK = 0xFFFF_FFFF
_NAME = re.compile(rb"(?<![0-9A-Za-z_.])[A-Za-z_$\"'@`]")  # or a string
_LONGEST_TABLE = 1000  # nodes; what is longer is data
_NEAR = 0x100  # bytes that an unknown index or offset is taken to stay within

Scope = Callable[[bytes], Value | None]
"""Local names: parameters, locals, file-scope variables."""


def no_scope(_name: bytes) -> Value | None:
    """A scope without names."""
    return None


class Evaluator:
    """Answers for one translation unit. `like`: an evaluator of the same types in which all macros
    but those in `unlike` mean the same; what is known there isn't worked out again."""

    def __init__(
        self,
        macros: MacroTable,
        types: TypeTable,
        like: Evaluator | None = None,
        unlike: Set[bytes] = frozenset(),
    ) -> None:
        self.macros = macros
        self.types = types
        self.like = like
        self.unlike = unlike
        self._names: dict[bytes, Value | None] = {}
        self.scopes = ScopedValues(types, self)
        self._types: dict[bytes, CType | None] = {}
        self._spent: frozenset[bytes] = frozenset()  # macros that an expansion has left over
        self._tables: dict[bytes, Pointer | None] = {}
        types.count = self.count

    def count(self, node: Node) -> int | None:
        """Value of a constant expression."""
        value = self.value(node)
        return value.value if isinstance(value, Number) else None

    def value(self, node: Node, scope: Scope = no_scope, depth: int = 0) -> Value | None:
        """The value of an expression node, or None."""
        if depth > _MAX_DEPTH:
            return None
        node = strip_parentheses(node)
        handler = getattr(self, "_" + node.type, None)
        found: Value | None = handler(node, scope, depth + 1) if handler is not None else None
        return found

    def number(self, node: Node, scope: Scope = no_scope) -> int | None:
        """The value of an expression as an unsigned 32-bit number."""
        value = self.value(node, scope)
        return value.value & _MASK if isinstance(value, Number) else None

    def number_of_name(self, name: bytes) -> int | None:
        """The value of a macro or enumerator."""
        value = self.name(name)
        return value.value if isinstance(value, Number) else None

    def text(self, text: bytes, scope: Scope = no_scope, depth: int = 0) -> Value | None:
        """The value of an expression given as text."""
        if depth == 0 and _NAME.search(text) is None:
            return _numbers(text)
        if depth > _MAX_DEPTH or (node := parse_expression(text)) is None:
            return None
        return self.value(node, scope, depth + 1)

    def name(self, name: bytes) -> Value | None:
        """The value of an object-like macro, enumerator or global."""
        if name not in self._names:
            if self.like is not None and self.means_the_same(name):
                return self.like.name(name)
            self._names[name] = None  # a name that is defined by itself has no value
            self._names[name] = self._lookup(name, 0)
        return self._names[name]

    def means_the_same(self, name: bytes) -> bool:
        """Whether a macro is what it is in `like`. Nobody knows what those that paste lead to."""
        if self.like is None or name in self.unlike or name not in self.macros:
            return False
        return not self.like.macros.pastes(name)

    def _lookup(self, name: bytes, depth: int) -> Value | None:
        macro = self.macros.get(name)
        if macro is not None:
            if macro.parameters is not None:
                return None
            return self.text(self._expanded(macro), no_scope, depth)
        if name in self.types.enumerators:
            value, previous = self.types.enumerators[name]
            if value is not None:
                return self.value(value, no_scope, depth)
            before = self.name(previous) if previous is not None else Number(-1)
            return binary(b"+", before, Number(1)) if isinstance(before, Number) else None
        if (kept := self._kept_address(name, depth)) is not None:
            return kept
        if name in self.types.globals:
            specifier, declarator = self.types.globals[name]
            kind = self.types.of(specifier, declarator)
            return Place(None, kind) if kind.kind in ("pointer", "struct", "array") else None
        return self.scopes.everywhere(name, depth)

    def initial(
        self, kind: CType, value: Node | None, scope: Scope, depth: int = 0
    ) -> Value | None:
        """What an object of a type begins with; what a reference refers to."""
        if value is None:
            return None
        if kind.kind not in ("array", "struct"):
            value = sole_value(value)
        begins = self.value(value, scope, depth)
        return converted(begins, kind) if isinstance(begins, Number) else begins

    def keeps_address(self, name: bytes) -> bool:
        """Whether a name is that of a variable outside functions that always holds one address."""
        if name in self.macros or name not in self.types.initialised:
            return False
        value = self.name(name)
        is_reference = isinstance(value, Place) and value.address is not None
        return is_reference or isinstance(value, Number | Pointer)

    def _kept_address(self, name: bytes, depth: int) -> Value | None:
        """What a variable outside functions always holds, if that may be an address."""
        kept = self.types.initialised.get(name)
        if kept is None:
            return None
        kind = self.types.of(kept.specifier, kept.declarator)
        value = self.value(sole_value(kept.value), no_scope, depth)
        if kept.declarator.type == "reference_declarator":
            return value if isinstance(value, Place) and value.address is not None else None
        if kind.kind == "unknown" and isinstance(value, Pointer):  # auto
            kind = pointer_to(value.type)
        if kind.kind == "pointer":
            held = self._cast(kind, value)
            known = isinstance(held, Pointer) and held.address is not None
            return held if known and self.types.keeps_value(name) else None
        number = converted(value, kind) if isinstance(value, Number) else None
        is_address = number is not None and number.value & _MASK >= LOWEST_PERIPHERAL
        return number if is_address and kept.is_const else None

    def _expanded(self, macro: Macro) -> bytes:
        return b" ".join(self.macros.expanded(macro.text))

    def call_text(self, node: Node) -> bytes | None:
        """The expansion of a call of a function-like macro; None if it is no such call."""
        function = node.child_by_field_name("function")
        if node.type != "call_expression" or function is None or function.type != "identifier":
            return None
        macro = self.macros.get(text_of(function))
        if macro is None or macro.parameters is None or text_of(function) in self._spent:
            return None
        return b" ".join(self.macros.expand(lex_fragment(text_of(node))))

    def _of_expansion(self, text: bytes, scope: Scope, depth: int) -> Value | None:
        """The value of what a macro call becomes. Macros that are left there, since they lead to
        themselves, are none any more (C11 6.10.3.4)."""
        before = self._spent
        self._spent = before.union(filter(self._is_call, text.split()))
        try:
            return self.text(text, scope, depth)
        finally:
            self._spent = before

    def _is_call(self, name: bytes) -> bool:
        macro = self.macros.get(name)
        return macro is not None and macro.parameters is not None

    def cast_argument(self, node: Node) -> Node | None:
        """The operand of a cast that is a call for the parser: one of C++, or `(T)(x)`."""
        if (named := named_cast(node)) is not None:
            return named[1]
        if (functional := self._functional(node)) is not None:
            return functional[1]
        return self.misread_cast(node)

    def misread_cast(self, node: Node) -> Node | None:
        """`(x)` of a `(T)(x)` that was parsed as a call, since T is the name of a type. What stands
        behind it, `(T)(x)->y`, belongs to x."""
        function = node.child_by_field_name("function")
        if node.type != "call_expression" or function is None:
            return None
        arguments = arguments_of(node)
        is_cast = function.type == "parenthesized_expression" and len(arguments) == 1
        if not is_cast or self._type_of(text_of(strip_parentheses(function))) is None:
            return None
        return arguments[0]

    def misread_dereference(self, node: Node, scope: Scope = no_scope) -> Place | None:
        """`*x` of a `(T)*x` that was parsed as a product, since T is the name of a type."""
        left, right = (node.child_by_field_name(name) for name in ("left", "right"))
        sign = node.child_by_field_name("operator")
        if left is None or right is None or sign is None or text_of(sign) != b"*":
            return None
        if left.type != "parenthesized_expression" or right.type == "number_literal":
            return None
        if self._type_of(text_of(strip_parentheses(left))) is None:
            return None
        return self._pointee(self.value(right, scope))

    def _functional(self, node: Node) -> tuple[CType, Node] | None:
        """The type and the operand of `T(x)` or `T{x}` where T names the type of a number or a
        pointer."""
        found = functional_cast(node)
        if found is None or text_of(found[0]) in self.macros:
            return None
        is_type = found[0].type != "identifier" or self.types.is_type(text_of(found[0]))
        kind = self.types.of(found[0], None) if is_type else UNKNOWN
        return (kind, found[1]) if kind.kind in ("scalar", "pointer") else None

    def _type_of(self, name: bytes) -> CType | None:
        """The type that a typedef or a macro names; None for what names something else."""
        if name not in self._types:
            macro = self.macros.get(name)
            plain = macro is not None and macro.parameters is None
            text = self._expanded(macro) if macro is not None and plain else name
            cast = parse_expression(b"(" + text + b") 0")
            descriptor = cast.child_by_field_name("type") if cast is not None else None
            is_type = self.types.is_type(text) or len(lex_fragment(text)) > 1
            found = self._described(descriptor) if descriptor is not None and is_type else None
            self._types[name] = found
        return self._types[name]

    def _described(self, descriptor: Node) -> CType | None:
        specifier = descriptor.child_by_field_name("type")
        if specifier is None:
            return None
        return self.types.of(specifier, descriptor.child_by_field_name("declarator"))

    # --- node types ------------------------------------------------------------------------

    def _identifier(self, node: Node, scope: Scope, depth: int) -> Value | None:
        name = text_of(node)
        found = scope(name)
        if found is None and (macro := self._using(name, scope)) is not None:
            return self.text(self._expanded(macro), scope, depth)
        return found if found is not None else self.name(name)

    def _using(self, name: bytes, scope: Scope) -> Macro | None:
        """The macro of a name, if it has names in it that are a scope's."""
        macro = self.macros.get(name) if scope is not no_scope else None
        if macro is None or macro.parameters is not None:
            return None
        words = self.macros.expanded(macro.text)
        is_used = any(scope(it) is not None for it in words if it[:1].isalpha() or it[:1] == b"_")
        return macro if is_used else None

    def _number_literal(self, node: Node, _scope: Scope, _depth: int) -> Value | None:
        text = text_of(node)
        sign = text[:1]  # the parser takes it for a part of the number
        if sign not in (b"-", b"+"):
            return literal(text)
        number = literal(text[1:])
        return unary(sign, number) if number is not None else None

    def _char_literal(self, node: Node, _scope: Scope, _depth: int) -> Value | None:
        return character(text_of(node))

    def _type_descriptor(self, node: Node, scope: Scope, depth: int) -> Value | None:
        """Of a template's argument, which is a type for the parser if it is a name."""
        only = node.named_children[0] if node.named_child_count == 1 else None
        is_name = only is not None and only.type in ("type_identifier", "qualified_identifier")
        return self.text(text_of(node), scope, depth) if is_name else None

    def _cast_expression(self, node: Node, scope: Scope, depth: int) -> Value | None:
        descriptor = node.child_by_field_name("type")
        inner = node.child_by_field_name("value")
        if descriptor is None or inner is None:
            return None
        kind = self._described(descriptor)
        return None if kind is None else self._cast(kind, self.value(inner, scope, depth))

    def _cast(self, kind: CType, cast: Value | None) -> Value | None:
        value = self._loaded(cast)
        if kind.kind == "pointer" and kind.target is not None:
            if isinstance(value, Number | Initial):
                return Pointer(value.value & _MASK, kind.target)
            if isinstance(value, Pointer):
                fields = value.fields if value.type == kind.target else ()
                return replace(value, type=kind.target, fields=fields)
            return Pointer(None, kind.target)
        if isinstance(value, Number):
            return converted(value, kind)
        return replace(value, type=UNKNOWN) if isinstance(value, Pointer) else value

    def _unary_expression(self, node: Node, scope: Scope, depth: int) -> Value | None:
        operand = node.child_by_field_name("argument")
        sign = node.child_by_field_name("operator")
        value = self.value(operand, scope, depth) if operand is not None else None
        if isinstance(value, Initial) and sign is not None:
            found = unary(text_of(sign), word(value.value))
            return Initial(found.value) if found is not None else None
        if isinstance(value, Number) and sign is not None:
            return unary(text_of(sign), value)
        return None

    def _sizeof_expression(self, node: Node, scope: Scope, depth: int) -> Value | None:
        descriptor = node.child_by_field_name("type")
        inner = node.child_by_field_name("value")
        kind = self._described(descriptor) if descriptor is not None else None
        if inner is not None:  # `sizeof(T)` of a typedef reads like `sizeof(x)`
            kind = self._type_of(text_of(strip_parentheses(inner)))
        if kind is None and inner is not None:
            value = self.value(inner, scope, depth)
            kind = value.type if isinstance(value, Place) else None
        if kind is None or not kind.size or self.types.is_unclear(kind):
            return None
        return word(kind.size)

    def _offsetof_expression(self, node: Node, _scope: Scope, _depth: int) -> Value | None:
        descriptor = node.child_by_field_name("type")
        member = node.child_by_field_name("member")
        kind = self._described(descriptor) if descriptor is not None else None
        found = self.types.members(kind).get(text_of(member)) if kind and member else None
        return word(found.offset) if found is not None and not found.part else None

    def _pointer_expression(self, node: Node, scope: Scope, depth: int) -> Value | None:
        operand = node.child_by_field_name("argument")
        sign = node.child_by_field_name("operator")
        if operand is None or sign is None:
            return None
        value = self.value(operand, scope, depth)
        if text_of(sign) == b"&":
            if not isinstance(value, Place):
                return None
            return Pointer(value.address, value.type, value.span, value.exact, value.part)
        return self._pointee(value)

    def _field_expression(self, node: Node, scope: Scope, depth: int) -> Value | None:
        operand = node.child_by_field_name("argument")
        field = node.child_by_field_name("field")
        if operand is None or field is None:
            return None
        if operand.type == "this":  # the same name by itself
            return self._identifier(field, scope, depth)
        value = self.value(self.misread_cast(operand) or operand, scope, depth)
        arrow = any(child.type == "->" for child in node.children)
        base = self._loaded(value) if arrow else value
        if not isinstance(base, Pointer | Place) or base.type.kind != "struct":
            return None
        name = text_of(field)
        members = self.types.members(base.type)
        member = members.get(self._renamed(name)) or members.get(name)
        if member is None:  # another chip's struct under the same name: which block is known
            span = max(base.span, 0 if base.address is None else _NEAR)
            part = base.part or self.types.is_unclear(base.type)
            exact = base.exact and not part
            return Place(base.address, UNKNOWN, base.type.name, name, span, exact, part)
        held = dict(base.fields).get(name) if arrow and isinstance(base, Pointer) else None
        if held is not None and member.type.target is not None:
            return Pointer(held, member.type.target)
        address = None if base.address is None else base.address + member.offset
        in_table = address is None and not arrow  # behind the arrow is what a pointer leads to
        if in_table and (kept := self._from_table(operand, member.type)) is not None:
            return kept
        part = base.part or member.part
        return Place(
            address,
            member.type,
            base.type.name,
            name,
            base.span,
            base.exact and not part,
            part,
        )

    def _renamed(self, name: bytes) -> bytes:
        """A member's name as the preprocessor leaves it, where a macro stands for another."""
        found = self.macros.expand(lex_fragment(name)) if name in self.macros else ()
        return found[0] if len(found) == 1 else name

    def _subscript_expression(self, node: Node, scope: Scope, depth: int) -> Value | None:
        operand = node.child_by_field_name("argument")
        index = index_of(node)
        if operand is None or index is None:
            return None
        value = self.value(self.misread_cast(operand) or operand, scope, depth)
        owner, member = (value.owner, value.member) if isinstance(value, Place) else (b"", b"")
        base = self._loaded(value)
        if not isinstance(base, Pointer):
            return None
        number = self.value(index, scope, depth)
        if base.address is None:
            kept = self._from_table(operand, base.type)
            return kept if kept is not None else Place(None, base.type, owner, member)
        if isinstance(number, Number):
            address = base.address + number.value * (base.type.size or 1) & _MASK
            return Place(address, base.type, owner, member, base.span, base.exact, base.part)
        array = value.type if isinstance(value, Place) else UNKNOWN
        span = array.size if array.kind == "array" else _NEAR
        exact = base.exact and bool(owner)
        span = max(span, base.span)
        return Place(base.address, base.type, owner, member, span, exact, base.part)

    def _from_table(self, operand: Node, kind: CType) -> Pointer | None:
        """What an integer in a table, or in a struct, may be if it is an address there."""
        if kind.kind != "scalar" or kind.size != POINTER_SIZE:
            return None
        while operand.type in ("field_expression", "subscript_expression"):
            argument = operand.child_by_field_name("argument")
            if argument is None:
                return None
            operand = argument
        kept = self.types.initialised.get(text_of(operand))
        if kept is None or kept.value.type != "initializer_list":
            return None
        name = text_of(operand)
        if name not in self._tables:
            self._tables[name] = None
            leaves = islice(walk(kept.value), _LONGEST_TABLE)
            names = [it for it in leaves if it.type in ("identifier", "number_literal")]
            values = [self.value(it, no_scope) for it in names]
            self._tables[name] = one_of(values) or one_of(values, lowest=LOWEST_MEMORY)
        return self._tables[name]

    def _binary_expression(self, node: Node, scope: Scope, depth: int) -> Value | None:
        if (parts := operands(node)) is None:
            return None
        left_node, sign, right_node = parts
        left = self._loaded(self.value(left_node, scope, depth))
        right = self._loaded(self.value(right_node, scope, depth))
        if isinstance(left, Pointer) and sign in (b"+", b"-"):
            return _moved(left, right, 1 if sign == b"+" else -1)
        if isinstance(right, Pointer) and sign == b"+":
            return _moved(right, left, 1)
        if not isinstance(left, Number | Initial) or not isinstance(right, Number | Initial):
            return _offset_address(left, right) if sign == b"+" else None
        numbers = [word(it.value) if isinstance(it, Initial) else it for it in (left, right)]
        result = binary(sign, *numbers)
        if result is not None and (isinstance(left, Initial) or isinstance(right, Initial)):
            return Initial(result.value)
        return result

    def _conditional_expression(self, node: Node, scope: Scope, depth: int) -> Value | None:
        condition = node.child_by_field_name("condition")
        value = self.value(condition, scope, depth) if condition is not None else None
        if isinstance(value, Number):
            arm = node.child_by_field_name("consequence" if value.value else "alternative")
            return self.value(arm, scope, depth) if arm is not None else None
        arms = [node.child_by_field_name(name) for name in ("consequence", "alternative")]
        values = [self._loaded(self.value(arm, scope, depth)) for arm in arms if arm is not None]
        kinds = {value.type for value in values if isinstance(value, Pointer)}
        return Pointer(None, kinds.pop()) if len(kinds) == 1 else one_of(values)

    def _call_expression(self, node: Node, scope: Scope, depth: int) -> Value | None:
        text = self.call_text(node)
        if text is not None:
            return self._of_expansion(text, scope, depth)
        function = node.child_by_field_name("function")
        if (named := named_cast(node)) is not None:
            described = self._described(named[0])
            value = self.value(named[1], scope, depth)
            return None if described is None else self._cast(described, value)
        if (functional := self._functional(node)) is not None:
            return self._cast(functional[0], self.value(functional[1], scope, depth))
        if function is not None and (inner := self.misread_cast(node)) is not None:
            kind = self._type_of(text_of(strip_parentheses(function)))
            value = self.value(inner, scope, depth)
            return value if kind is None else self._cast(kind, value)
        kind = self._called(function, scope, depth) if function is not None else UNKNOWN
        if kind.kind == "function" and kind.target:
            return typed_place(kind.target)
        member = _last_name(function) if function is not None else b""
        return typed_place(self.types.given_by(member))

    def _compound_literal_expression(self, node: Node, scope: Scope, depth: int) -> Value | None:
        found = self._functional(node)
        return None if found is None else self._cast(found[0], self.value(found[1], scope, depth))

    def _qualified_identifier(self, node: Node, scope: Scope, depth: int) -> Value | None:
        *path, name = names_in(node)
        if not path:
            return self.name(name)
        return self.scopes.qualified(name, tuple(path), depth)

    def _called(self, function: Node, scope: Scope, depth: int) -> CType:
        """The type of what is called: a function, or what a pointer leads to."""
        name = text_of(function)
        if name in self.types.globals and scope(name) is None:
            kind = self.types.of(*self.types.globals[name])
        else:
            value = self.value(function, scope, depth)
            kind = value.type if isinstance(value, Pointer | Place) else UNKNOWN
        return kind.target if kind.kind == "pointer" and kind.target else kind

    def _pointee(self, value: Value | None) -> Place | None:
        """What a pointer points to."""
        pointer = self._loaded(value)
        if not isinstance(pointer, Pointer):
            return None
        return Place(
            pointer.address,
            pointer.type,
            span=pointer.span,
            exact=pointer.exact,
            part=pointer.part,
        )

    @staticmethod
    def _loaded(value: Value | None) -> Value | None:
        """What reading an lvalue gives: an array decays, a pointer object points somewhere."""
        if not isinstance(value, Place):
            return value
        target = value.type.target
        if value.type.kind == "array" and target is not None:
            return Pointer(value.address, target, value.span, value.exact, value.part)
        if value.type.kind == "pointer" and target is not None:
            return Pointer(None, target)
        return None


@lru_cache(maxsize=1 << 15)
def _numbers(text: bytes) -> Value | None:
    """The value of an expression without names, which is the same for everybody: headers of a
    family of chips have tens of thousands of few kinds."""
    node = parse_expression(text)
    return None if node is None else Evaluator(MacroTable(), TypeTable()).value(node, no_scope, 1)


def _last_name(function: Node) -> bytes:
    """`f` of `f(...)`, `a::f(...)` and `object.f(...)`."""
    if function.type == "qualified_identifier":
        return names_in(function)[-1]
    name = function.child_by_field_name("field") or function
    return text_of(name) if name.type in ("identifier", "field_identifier") else b""


def _moved(pointer: Pointer, by: Value | None, sign: int) -> Pointer:
    if pointer.address is None:
        return replace(pointer, fields=()) if pointer.fields else pointer
    if isinstance(by, Number):
        step = by.value * (pointer.type.size or 1) * sign
        return replace(pointer, address=pointer.address + step & _MASK)
    return replace(pointer, span=max(pointer.span, _NEAR), exact=False)


def _offset_address(left: Value | None, right: Value | None) -> Value | None:
    """A peripheral address kept as an integer, plus something unknown."""
    known = left if isinstance(left, Number | Initial) else right
    if isinstance(known, Number | Initial) and known.value & _MASK >= LOWEST_PERIPHERAL:
        return Pointer(known.value & _MASK, UNKNOWN, _NEAR, exact=False)
    return None
