"""Types as far as register addresses need them: sizes, struct layouts, enumerators (AAPCS)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from porter.source.c_tree import Node, SyntaxTree, text_of
from porter.source.kept_addresses import Initialised, initialised, is_written

POINTER_SIZE = 4
_SIZES = {
    b"char": 1, b"int8_t": 1, b"uint8_t": 1, b"bool": 1, b"_Bool": 1,
    b"short": 2, b"int16_t": 2, b"uint16_t": 2,
    b"int": 4, b"long": 4, b"unsigned": 4, b"signed": 4, b"int32_t": 4, b"uint32_t": 4,
    b"float": 4, b"size_t": 4, b"uintptr_t": 4, b"intptr_t": 4, b"ptrdiff_t": 4, b"vu32": 4,
    b"double": 8, b"int64_t": 8, b"uint64_t": 8,
    b"u8": 1, b"u16": 2, b"u32": 4, b"u64": 8, b"vu8": 1, b"vu16": 2,
}  # fmt: skip
_LINE_MARKER = re.compile(rb"(?m)^[ \t]*#[^\n]*")
_MAX_DEPTH = 16  # typedef chains and nested structs


@dataclass(frozen=True)
class CType:
    """`size` 0: unknown. `kind`: scalar, pointer, array, struct, function or unknown."""

    kind: str
    size: int = 0
    name: bytes = b""
    target: CType | None = None
    count: int = 0


UNKNOWN = CType("unknown")
INT = CType("scalar", 4, b"int")


def pointer_to(target: CType) -> CType:
    """The type of a pointer."""
    return CType("pointer", POINTER_SIZE, b"", target)


@dataclass(frozen=True)
class Member:
    """A field of a struct or union."""

    offset: int
    type: CType


Count = Callable[[Node], int | None]
"""Evaluates the constant expression of an array size."""


class TypeTable:
    """Typedefs, struct tags, enumerators, global variables and functions of a translation unit."""

    def __init__(self) -> None:
        self._typedefs: dict[bytes, tuple[Node, Node]] = {}
        self._tags: dict[bytes, Node] = {}
        self._layouts: dict[bytes, dict[bytes, Member]] = {}
        self._sizes: dict[bytes, int] = {}
        self.enumerators: dict[bytes, tuple[Node | None, bytes | None]] = {}
        self.globals: dict[bytes, tuple[Node, Node]] = {}
        self.initialised: dict[bytes, Initialised] = {}
        self._texts: list[bytes] = []
        self.count: Count = lambda node: None

    def add_text(self, text: bytes) -> None:
        """Collect the declarations of a text without directives (line markers are skipped)."""
        clean = _LINE_MARKER.sub(lambda match: b" " * len(match.group()), text)
        self.add_tree(SyntaxTree(clean, 0))

    def add_tree(self, tree: SyntaxTree, is_header: bool = True) -> None:
        """Collect the declarations at the top level of a tree. Static variables of what is no
        header mean nothing to other files."""
        self._texts.append(tree.text)
        for node in tree.root.children:
            kind = node.child_by_field_name("type")
            if kind is not None:
                self._note_specifier(kind)
            if node.type == "type_definition" and kind is not None:
                for declarator in node.children_by_field_name("declarator"):
                    if (name := declared_name(declarator)) is not None:
                        self._typedefs.setdefault(text_of(name), (kind, declarator))
            elif node.type in ("declaration", "function_definition") and kind is not None:
                for declarator in node.children_by_field_name("declarator"):
                    if (name := declared_name(declarator)) is not None:
                        self.globals.setdefault(text_of(name), (kind, declarator))
                        found = initialised(node, declarator)
                        if found is not None and (is_header or not found.is_static):
                            self.initialised.setdefault(text_of(name), found)
            elif node.type in ("struct_specifier", "union_specifier", "enum_specifier"):
                self._note_specifier(node)

    def _note_specifier(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        if body is None:
            return
        if node.type == "enum_specifier":
            self._note_enumerators(body)
        elif (name := node.child_by_field_name("name")) is not None:
            self._tags.setdefault(text_of(name), node)

    def _note_enumerators(self, body: Node) -> None:
        previous: bytes | None = None
        for item in body.named_children:
            name = item.child_by_field_name("name")
            if item.type != "enumerator" or name is None:
                continue
            value = item.child_by_field_name("value")
            self.enumerators.setdefault(text_of(name), (value, previous))
            previous = text_of(name)

    def keeps_value(self, name: bytes) -> bool:
        """Whether an initialised variable never holds but what it is declared with."""
        return self.initialised[name].is_const or not is_written(name, self._texts)

    def is_type(self, name: bytes) -> bool:
        """Whether a typedef made the name a type."""
        return name in self._typedefs

    def of(self, specifier: Node, declarator: Node | None, depth: int = 0) -> CType:
        """The type that a declaration gives to its declarator."""
        base = self._specifier(specifier, depth)
        return self._declare(base, declarator, depth)

    def _specifier(self, node: Node, depth: int) -> CType:
        if depth > _MAX_DEPTH:
            return UNKNOWN
        if node.type in ("struct_specifier", "union_specifier"):
            return self._struct(node, depth)
        if node.type == "enum_specifier":
            return INT
        words = text_of(node).split()
        if node.type == "type_identifier" and words[0] in self._typedefs:
            specifier, declarator = self._typedefs[words[0]]
            found = self.of(specifier, declarator, depth + 1)
            if found.kind == "struct" and not found.name.startswith(b"struct "):
                return replace(found, name=words[0])
            return found
        sizes = [_SIZES[word] for word in words if word in _SIZES]
        if words.count(b"long") == 2:
            return CType("scalar", 8, b"long long")
        return CType("scalar", min(sizes), words[-1]) if sizes else CType("unknown", 0, words[-1])

    def _struct(self, node: Node, depth: int) -> CType:
        name_node = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if body is None:
            if name_node is None or text_of(name_node) not in self._tags:
                return UNKNOWN
            node = self._tags[text_of(name_node)]
            body = node.child_by_field_name("body")
        # A struct without a tag is known by the place of its body, until a typedef names it.
        key = b"struct " + text_of(name_node) if name_node else b"@%d" % node.id
        if key not in self._layouts and body is not None:
            self._lay_out(key, body, node.type == "union_specifier", depth)
        return CType("struct", self._sizes.get(key, 0), key)

    def _lay_out(self, key: bytes, body: Node, union: bool, depth: int) -> None:
        members: dict[bytes, Member] = {}
        self._layouts[key] = members
        offset = size = 0
        alignment = 1
        for item in body.named_children:
            kind = item.child_by_field_name("type")
            if item.type != "field_declaration" or kind is None:
                continue
            declarators = item.children_by_field_name("declarator")
            for declarator in declarators if declarators else [None]:
                member = self.of(kind, declarator, depth + 1)
                align = max(1, min(4 if member.size % 8 else 8, self._alignment(member)))
                offset = -(-offset // align) * align
                alignment = max(alignment, align)
                name = declared_name(declarator) if declarator is not None else None
                if name is not None:
                    members[text_of(name)] = Member(offset, member)
                elif member.kind == "struct":
                    for inner, place in self.members(member).items():
                        members[inner] = Member(offset + place.offset, place.type)
                size = max(size, offset + member.size)
                offset = 0 if union else offset + member.size
        self._sizes[key] = -(-size // alignment) * alignment

    def _alignment(self, kind: CType) -> int:
        if kind.kind == "array" and kind.target is not None:
            return self._alignment(kind.target)
        if kind.kind == "struct":
            return max((self._alignment(m.type) for m in self.members(kind).values()), default=1)
        return kind.size or 1

    def members(self, kind: CType) -> dict[bytes, Member]:
        """Fields of a struct type by name."""
        if kind.name in self._layouts:
            return self._layouts[kind.name]
        if kind.name in self._typedefs:
            specifier, _ = self._typedefs[kind.name]
            key = self._specifier(specifier, 0).name
            return self._layouts.get(key, {})
        return {}

    def _declare(self, base: CType, declarator: Node | None, depth: int) -> CType:
        while declarator is not None:
            inner = declarator.child_by_field_name("declarator")
            if declarator.type in ("pointer_declarator", "abstract_pointer_declarator"):
                base = pointer_to(base)
            elif declarator.type in ("array_declarator", "abstract_array_declarator"):
                size = declarator.child_by_field_name("size")
                count = (self.count(size) if size is not None else None) or 0
                base = CType("array", base.size * count, b"", base, count)
            elif declarator.type in ("function_declarator", "abstract_function_declarator"):
                base = CType("function", 0, b"", base)
            elif declarator.type == "parenthesized_declarator":
                inner = declarator.named_children[0] if declarator.named_children else None
            declarator = inner
        return base


def declared_name(declarator: Node) -> Node | None:
    """The identifier inside a declarator."""
    node: Node | None = declarator
    while node is not None:
        if node.type in ("identifier", "field_identifier", "type_identifier", "primitive_type"):
            return node
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type == "parenthesized_declarator" and node.named_children:
            inner = node.named_children[0]
        node = inner
    return None
