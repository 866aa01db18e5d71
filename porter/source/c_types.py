"""Types as far as register addresses need them: sizes, struct layouts, enumerators (AAPCS)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from porter.source.blanking import ALIGNED_BY_MACRO, ARMS_OF_MEMBERS
from porter.source.c_tree import Node, SyntaxTree, text_of, walk
from porter.source.declarations import is_static, parameter_list
from porter.source.declared import Declared, Enumerator, Made, declared_name
from porter.source.grammar import C, Grammar
from porter.source.kept_addresses import Initialised, is_written
from porter.source.scoped_names import CLASSES, Scoped

POINTER_SIZE = 4
_SIZES = {
    b"char": 1, b"int8_t": 1, b"uint8_t": 1, b"bool": 1, b"_Bool": 1,
    b"short": 2, b"int16_t": 2, b"uint16_t": 2,
    b"int": 4, b"long": 4, b"unsigned": 4, b"signed": 4, b"int32_t": 4, b"uint32_t": 4,
    b"float": 4, b"size_t": 4, b"uintptr_t": 4, b"intptr_t": 4, b"ptrdiff_t": 4, b"vu32": 4,
    b"double": 8, b"int64_t": 8, b"uint64_t": 8,
    b"u8": 1, b"u16": 2, b"u32": 4, b"u64": 8, b"vu8": 1, b"vu16": 2,
}  # fmt: skip
_UNSIGNED = frozenset({b"unsigned", b"char", b"bool", b"_Bool", b"size_t"})
_NO_INTEGER = frozenset({b"float", b"double"})
_LINE_MARKER = re.compile(rb"(?m)^[ \t]*#[^\n]*")
_ALIGNMENT = re.compile(rb"[(,]\s*_*aligned_*\s*[),]|\w*align\w*\s*\(", re.IGNORECASE)
_PLAIN_ALIGNMENT = re.compile(
    rb"\b(?:aligned|__aligned__|_Alignas|alignas)\s*\(\s*(0[xX][0-9a-fA-F]+|[1-9]\d*)\s*\)"
)
_MARKS = frozenset(ARMS_OF_MEMBERS.values())
_ELSE = -1  # among the ends of arms
_MAX_DEPTH = 16  # typedef chains and nested structs
_WITHOUT_FIELD = frozenset(
    {"parenthesized_declarator", "abstract_parenthesized_declarator", "reference_declarator"}
)


@dataclass(frozen=True)
class CType:
    """`size` 0: unknown. `kind`: scalar, pointer, array, struct, function or unknown."""

    kind: str
    size: int = 0
    name: bytes = b""
    target: CType | None = None
    count: int = 0
    is_unsigned: bool = False
    is_integer: bool = True
    """Of a scalar."""


UNKNOWN = CType("unknown")
INT = CType("scalar", 4, b"int")


def pointer_to(target: CType) -> CType:
    """The type of a pointer."""
    return CType("pointer", POINTER_SIZE, b"", target)


@dataclass(frozen=True)
class Member:
    """A field of a struct or union; `offset` of a bit-field is that of its storage unit."""

    offset: int
    type: CType
    part: bool = False
    """A bit-field, or of a struct of which the layout isn't known."""


Count = Callable[[Node], int | None]
"""Evaluates the constant expression of an array size."""


class _Layout:
    """Places the fields of a struct or union one behind the other (AAPCS32, 8.1)."""

    def __init__(self, members: dict[bytes, Member], is_union: bool) -> None:
        self.members = members
        self.alignment = 1
        self._is_union = is_union
        self._bits = 0
        self._end = 0
        self._arms: list[tuple[int, set[int]]] = []
        self.is_open = False
        """Whether the next field's place depends on which arm of an #if there was."""

    @property
    def size(self) -> int:
        """Bytes up to the end of the last field."""
        return _up(self._end, 8) // 8

    def add(self, kind: CType, alignment: int) -> int:
        """The offset of the next field."""
        offset = _up(self._bits, 8 * alignment) // 8
        self.alignment = max(self.alignment, alignment)
        self._move(8 * (offset + kind.size))
        return offset

    def add_bits(self, name: bytes, kind: CType, width: int, asked: int) -> None:
        """The next bit-field, in a storage unit of its type; one without width closes the unit."""
        unit = 8 * max(1, kind.size)
        self.alignment = max(self.alignment, min(8, unit // 8), asked)
        self._bits = _up(self._bits, 8 * asked) if asked > 1 else self._bits
        if not width or self._bits % unit + width > unit:
            self._bits = _up(self._bits, unit)
        if name:
            self.name(name, Member(self._bits // unit * unit // 8, kind, part=True))
        self._move(self._bits + width)

    def name(self, name: bytes, member: Member) -> None:
        """A field, whose place isn't known if arms of an #if have it at several."""
        is_sure = not self.is_open and self.members.get(name, member) == member
        self.members[name] = member if is_sure else replace(member, part=True)

    def choose(self, mark: bytes) -> None:
        """A directive between fields: each arm begins where the first does."""
        if mark == ARMS_OF_MEMBERS[b"if"]:
            self._arms.append((self._bits, set()))
            return
        if not self._arms:
            return
        start, ends = self._arms[-1]
        ends.add(self._bits)
        self._bits = start
        if mark == ARMS_OF_MEMBERS[b"else"]:
            self._arms[-1] = start, ends | {_ELSE}
        elif mark == ARMS_OF_MEMBERS[b"endif"]:
            self._arms.pop()
            ends = ends - {_ELSE} if _ELSE in ends else ends | {start}
            self._bits = max(ends)
            self.is_open = self.is_open or len(ends) > 1

    def _move(self, end: int) -> None:
        self._end = max(self._end, end)
        self._bits = 0 if self._is_union else end


class TypeTable:
    """Typedefs, struct tags, enumerators, global variables and functions of a translation unit."""

    def __init__(self) -> None:
        self._of_classes: frozenset[bytes] | None = None
        self._declared = Declared()
        self._layouts: dict[bytes, dict[bytes, Member]] = {}
        self._sizes: dict[bytes, int] = {}
        self._alignments: dict[bytes, int] = {}
        self._unclear: set[bytes] = set()
        self._texts: list[bytes] = []
        self._inside: dict[bytes, Node | None] = {}  # tags of functions
        self.count: Count = lambda node: None

    def add_text(self, text: bytes, grammar: Grammar = C) -> SyntaxTree:
        """Collect the declarations of a text without directives (line markers are skipped);
        returns its tree, in which every byte has kept its place."""
        clean = _LINE_MARKER.sub(lambda match: b" " * len(match.group()), text)
        tree = SyntaxTree(clean, 0, grammar=grammar)
        self.add_tree(tree)
        return tree

    def add_tree(self, tree: SyntaxTree) -> None:
        """Collect the declarations at the top level of a tree."""
        self.add(Declared.of(tree), [tree.text])

    def add(self, declared: Declared, texts: Iterable[bytes]) -> None:
        """Take what texts declare; what they declare again stays as it was."""
        self._declared.add(declared)
        self._texts += texts

    def add_inside(self, tagged: Node) -> None:
        """A struct that a function declares for itself; of a tag that others use for another one,
        those that are declared in a file's own scope, or nobody knows which."""
        name = tagged.child_by_field_name("name")
        if name is None or text_of(name) in self._declared.tags:
            return
        known = self._inside.setdefault(text_of(name), tagged)
        if known is not None and text_of(known) != text_of(tagged):
            self._inside[text_of(name)] = None

    def seen_with(self, first: Declared) -> TypeTable:
        """The same table for a file that sees these declarations instead of others."""
        table = TypeTable()
        table._declared = first.before(self._declared)
        table._texts = self._texts
        return table

    @property
    def enumerators(self) -> Mapping[bytes, Enumerator]:
        """Enumerators by name."""
        return self._declared.enumerators

    @property
    def globals(self) -> Mapping[bytes, tuple[Node, Node]]:
        """Type and declarator of variables outside functions, and of functions."""
        return self._declared.globals

    @property
    def initialised(self) -> Mapping[bytes, Initialised]:
        """Those of the variables that are declared with a value."""
        return self._declared.initialised

    @property
    def scoped(self) -> Mapping[bytes, list[Scoped]]:
        """What namespaces and classes have, by the last name."""
        return self._declared.scoped

    @property
    def made(self) -> Sequence[Made]:
        """What templates make of their arguments."""
        return self._declared.made

    @property
    def member_functions(self) -> Mapping[bytes, list[tuple[Node | None, Node]]]:
        """Type and declarator of functions of namespaces and classes."""
        return self._declared.member_functions

    @property
    def constant_functions(self) -> set[bytes]:
        """Functions that are constexpr, which have no effects."""
        return self._declared.constant_functions

    @property
    def named(self) -> Iterable[bytes]:
        """Names of types."""
        return (*self._declared.typedefs, *self._declared.tags)

    @property
    def of_classes(self) -> frozenset[bytes]:
        """Names of data that structs and classes have; in C++ their functions say them alone."""
        if self._of_classes is None:
            self._of_classes = frozenset(
                text_of(name)
                for tag in self._declared.tags.values()
                for item in walk(tag)
                if item.type == "field_declaration"
                for declarator in item.children_by_field_name("declarator")
                if (name := declared_name(declarator)) is not None
            )
        return self._of_classes

    def words(self, used: Iterable[bytes]) -> frozenset[bytes]:
        """What the values of constants spell that are no macros and that `used` leads to."""
        return self._declared.words(used)

    def spelt(self, name: bytes) -> bytes:
        """How a type of a name is declared; b"" if there is none."""
        if name in self._declared.typedefs:
            specifier, declarator = self._declared.typedefs[name]
            return text_of(specifier) + (text_of(declarator) if declarator is not None else b"")
        return text_of(self._declared.tags[name]) if name in self._declared.tags else b""

    def first_name(self, name: bytes) -> bytes:
        """The name of a struct that all others, by typedefs, are made of: `struct tag`, or that of
        the typedef with its body."""
        typedefs = self._declared.typedefs
        for _ in range(_MAX_DEPTH):
            specifier, _ = typedefs.get(name, (None, None))
            if specifier is None or specifier.type != "type_identifier":
                break
            name = text_of(specifier)
        return name

    def named_like(self, name: bytes) -> Iterator[CType]:
        """The types of a name, as a typedef and as a tag."""
        if name in self._declared.typedefs:
            yield self.of(*self._declared.typedefs[name])
        if name in self._declared.tags and self._declared.tags[name].type in CLASSES:
            yield self._struct(self._declared.tags[name], 0)

    def keeps_value(self, name: bytes) -> bool:
        """Whether an initialised variable never holds but what it is declared with."""
        return self.initialised[name].is_const or not is_written(name, self._texts)

    def given_by(self, function: bytes) -> CType:
        """What the functions of that name in classes and namespaces return, if all the same."""
        found = self.member_functions.get(function, ())
        kinds = {self.of(kind, it).target if kind is not None else None for kind, it in found}
        kind = kinds.pop() if len(kinds) == 1 else None
        return kind if kind is not None else UNKNOWN

    def definitions(self, function: bytes) -> list[Node]:
        """The definitions of functions of a name, in whatever scope."""
        heads = self._declared.overloads.get(function, ())
        return [it.parent for it in heads if it.parent and it.parent.type == "function_definition"]

    def takes_values(self, function: bytes) -> bool:
        """Whether all that a name may call is declared, in whatever scope, without references."""
        others: list[Node | None] = [self.globals[function][1]] if function in self.globals else []
        others += [it.declarator for it in self.scoped.get(function, ())]
        if any(parameter_list(it) is None for it in others):  # an object, which may be called too
            return False
        taken = [parameter_list(it) for it in self._declared.overloads.get(function, ())]
        return bool(taken) and not any(it is None or self._has_reference(it) for it in taken)

    def _has_reference(self, parameters: Node) -> bool:
        typedefs = self._declared.typedefs
        text = text_of(parameters)
        named = (typedefs[it][1] for it in re.findall(rb"\w+", text) if it in typedefs)
        return b"&" in text or any(it is not None and b"&" in text_of(it) for it in named)

    def is_type(self, name: bytes) -> bool:
        """Whether the name is the language's, its library's or a typedef's for a type."""
        return name in self._declared.typedefs or name in _SIZES

    def of(self, specifier: Node, declarator: Node | None, depth: int = 0) -> CType:
        """The type that a declaration gives to its declarator."""
        base = self._specifier(specifier, depth)
        return self._declare(base, declarator, depth)

    def _specifier(self, node: Node, depth: int) -> CType:
        if depth > _MAX_DEPTH:
            return UNKNOWN
        if node.type in CLASSES:
            return self._struct(node, depth)
        if node.type == "enum_specifier":
            return INT
        while node.type == "qualified_identifier" and (last := node.child_by_field_name("name")):
            node = last
        words = text_of(node).split()
        if not words:
            return UNKNOWN  # a type that the grammar missed
        tags, typedefs = self._declared.tags, self._declared.typedefs
        is_tag = words[0] in tags and words[0] not in typedefs
        if node.type == "type_identifier" and is_tag:  # in C++ the name of a type
            return self._struct(tags[words[0]], depth)
        if node.type == "type_identifier" and words[0] in typedefs:
            specifier, declarator = typedefs[words[0]]
            found = self.of(specifier, declarator, depth + 1)
            if found.kind == "struct" and not found.name.startswith(b"struct "):
                return replace(found, name=words[0])
            return found
        sizes = [_SIZES[word] for word in words if word in _SIZES]
        if not sizes:
            return CType("unknown", 0, words[-1])
        is_unsigned = b"signed" not in words and any(map(_is_unsigned, words))
        is_integer = _NO_INTEGER.isdisjoint(words)
        if words.count(b"long") == 2:
            return CType("scalar", 8, b"long long", is_unsigned=is_unsigned)
        size = 8 if b"double" in words else min(sizes)
        return CType("scalar", size, words[-1], is_unsigned=is_unsigned, is_integer=is_integer)

    def _struct(self, node: Node, depth: int) -> CType:
        name_node = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        name = text_of(name_node) if name_node is not None else b""
        known = self._declared.tags.get(name) or self._inside.get(name)
        if body is None:
            if known is None:
                return UNKNOWN
            node, body = known, known.child_by_field_name("body")
        # A struct without a tag is known by the place of its body, until a typedef names it; so is
        # one that a function has for itself, where others have another one of its tag.
        is_another = known is None or text_of(known) != text_of(node)
        is_named = name and not (is_another and name in self._inside)
        key = b"struct " + name if is_named else b"@%d" % node.id
        if key not in self._layouts and body is not None:
            self._lay_out(key, body, node, depth)
        return CType("struct", self._sizes.get(key, 0), key)

    def _lay_out(self, key: bytes, body: Node, node: Node, depth: int) -> None:
        self._layouts[key] = {}
        layout = _Layout(self._layouts[key], node.type == "union_specifier")
        outer = _aligned(node)
        unclear = outer is None or any(it.type == "base_class_clause" for it in node.children)
        for item in body.named_children:
            if item.type == "ERROR" and text_of(item) in _MARKS:
                layout.choose(text_of(item))
                continue
            kind = item.child_by_field_name("type")
            asked = _aligned(item)
            unclear = unclear or asked is None
            unclear = unclear or is_virtual(item)
            if item.type != "field_declaration" or kind is None or is_static(item):
                continue
            for declarator, width in _declarators(item):
                member = self.of(kind, declarator, depth + 1)
                if member.kind == "function":
                    continue
                unclear = unclear or self.is_unclear(member)
                name = declared_name(declarator) if declarator is not None else None
                text = text_of(name) if name is not None else b""
                if width is not None:
                    bits = self.count(width)
                    unclear = unclear or bits is None or not 0 <= bits <= 8 * member.size
                    layout.add_bits(text, member, bits or 0, asked or 1)
                    continue
                offset = layout.add(member, max(self._alignment(member), asked or 1))
                if text:
                    layout.name(text, Member(offset, member))
                elif member.kind == "struct":
                    for inner, place in self.members(member).items():
                        layout.name(inner, replace(place, offset=offset + place.offset))
        self._alignments[key] = max(layout.alignment, outer or 1)
        self._sizes[key] = _up(layout.size, self._alignments[key])
        if unclear or layout.is_open:
            self._unclear.add(key)
        if unclear:
            for text, found in layout.members.items():
                layout.members[text] = replace(found, part=True)

    def _alignment(self, kind: CType) -> int:
        if kind.kind == "array" and kind.target is not None:
            return self._alignment(kind.target)
        if kind.kind == "struct":
            return self._alignments.get(self._key(kind), 1)
        return max(1, min(4 if kind.size % 8 else 8, kind.size))

    def members(self, kind: CType) -> dict[bytes, Member]:
        """Fields of a struct type by name."""
        return self._layouts.get(self._key(kind), {})

    def is_unclear(self, kind: CType) -> bool:
        """Whether nobody knows where the fields of a struct, or of an array of them, are."""
        while kind.kind == "array" and kind.target is not None:
            kind = kind.target
        return kind.kind == "struct" and self._key(kind) in self._unclear

    def _key(self, kind: CType) -> bytes:
        if kind.name not in self._layouts and kind.name in self._declared.typedefs:
            specifier, _ = self._declared.typedefs[kind.name]
            found = self._specifier(specifier, 0).name
            if found not in self._layouts and found in self._declared.typedefs:
                return self._key(CType("struct", 0, found))
            return found
        return kind.name

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
            elif declarator.type in _WITHOUT_FIELD:
                inner = declarator.named_children[-1] if declarator.named_children else None
            declarator = inner
        return base


def is_virtual(member: Node) -> bool:
    """Whether a member of a class has the object carry a table of functions."""
    return any(child.type == "virtual" or text_of(child) == b"virtual" for child in member.children)


def _is_unsigned(word: bytes) -> bool:
    return word in _UNSIGNED or (word in _SIZES and word.lstrip(b"v").startswith(b"u"))


def _up(value: int, step: int) -> int:
    return -(-value // step) * step


def _declarators(item: Node) -> list[tuple[Node | None, Node | None]]:
    """The declarators of a field declaration, each with the width of a bit-field."""
    found: list[tuple[Node | None, Node | None]] = []
    named = {node.id for node in item.children_by_field_name("declarator")}
    open_name = False
    for child in item.children:
        if child.id in named:
            found.append((child, None))
            open_name = True
        elif child.type == "bitfield_clause":
            name = found.pop()[0] if open_name else None
            found.append((name, child.named_children[0] if child.named_children else child))
            open_name = False
        elif child.type == ",":
            open_name = False
    return found or [(None, None)]


def _aligned(node: Node) -> int | None:
    """The alignment that a declaration asks for (1: none); None if it can't be told."""
    text = b" ".join(_own_words(node))
    if _ALIGNMENT.search(text) is None:
        return 1
    numbers = [int(number, 0) for number in _PLAIN_ALIGNMENT.findall(text)]
    rest = _PLAIN_ALIGNMENT.sub(b"", text)
    if not numbers or _ALIGNMENT.search(rest) is not None:
        return None
    return max(numbers)


def _own_words(node: Node) -> list[bytes]:
    """The tokens of a declaration without those in a body or a comment."""
    if node.type in ("field_declaration_list", "comment"):
        return []
    if node.type == "ERROR" and text_of(node).strip() == ALIGNED_BY_MACRO:
        return [b"align("]
    if not node.children:
        return [text_of(node)]
    return [word for child in node.children for word in _own_words(child)]
