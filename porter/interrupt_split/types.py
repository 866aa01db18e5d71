"""Types that a mid-section, which has none of the project's headers, can write."""

from __future__ import annotations

from porter.source.c_tree import Node, text_of
from porter.source.c_types import CType, TypeTable

_PLAIN = frozenset(
    {"char", "short", "int", "long", "unsigned", "signed", "bool", "_Bool", "int8_t", "uint8_t",
     "int16_t", "uint16_t", "int32_t", "uint32_t", "uintptr_t", "intptr_t", "size_t"}
)  # fmt: skip
_SHORT = {
    "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "vu8": "uint8_t", "vu16": "uint16_t",
    "vu32": "uint32_t", "_Bool": "bool", "unsigned": "unsigned int", "signed": "int",
}  # fmt: skip
_QUALIFIERS = frozenset({"volatile", "const", "register", "static", "extern", "inline"})


def primitive(types: TypeTable, node: Node, returns: bool = False) -> str:
    """The scalar type of a declaration, parameter, cast or function; "" for any other type."""
    specifier = node.child_by_field_name("type")
    if specifier is None:
        return ""
    declarator = node.child_by_field_name("declarator")
    kind = types.of(specifier, declarator)
    if returns and kind.kind == "function" and kind.target is not None:
        kind = kind.target
    return scalar_name(specifier, kind)


def scalar_name(specifier: Node, kind: CType) -> str:
    """How a scalar type is written without the project's headers; "" if it can't be."""
    written = text_of(specifier).decode("latin-1")
    if written == "void" and kind.kind == "unknown":
        return "void"
    if kind.kind != "scalar":
        return ""
    if specifier.type == "enum_specifier":
        return "int"
    words = [word for word in written.split() if word not in _QUALIFIERS]
    if words and all(word in _PLAIN for word in words):
        text = " ".join(words)
        return _SHORT.get(text, text)
    name = kind.name.decode("latin-1")
    name = _SHORT.get(name, name)
    return name if name in _PLAIN else ""
