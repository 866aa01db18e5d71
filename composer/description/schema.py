"""Validation against schema.xsd, with each violation said in the words of the description."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

from lxml import etree

from composer.description.positions import Positions
from scanner.report.errors import FvmError

_SPACE = {"xs": "http://www.w3.org/2001/XMLSchema"}

# Schema type -> what a person should write.
_FORMS = {
    "size": "write bytes, or a number with K or M, as in 48K",
    "time": "write a whole number of up to nine digits with us, ms or s, as in 5ms",
    "rate": "write a number with Hz, kHz or MHz, as in 1000Hz",
    "count": "write a whole number up to 4294967295",
    "name": "use at most 23 of a-z, 0-9 and '-', a letter first",
    "label": "use at most 31 letters, digits, '_' and '-', a letter first",
    "symbol": "write the name of a C function",
    "path": "write a path with '/' between folders, without wildcards",
    "glob": "write a path with '/' between folders; '*' may stand for a part of a name",
    "define": "write NAME or NAME=VALUE",
    "standard": "write a language standard of the compiler, as in c11",
    "cxx-standard": "write a language standard of the C++ compiler, as in gnu++17",
    "number": "write a number, as in 13 or 0x0D",
    "numbers": "write up to eight numbers with one blank between them, as in 13 0x0A",
    "flags": "write options without quotes, of letters, digits and _-+=./,:@%; or use <define>",
}


def validate(tree: etree._Element, positions: Positions) -> None:
    """Raise the first violation, at its place; fill in the schema's default values."""
    options: dict[str, Any] = {"attribute_defaults": True}  # unknown to the stubs of lxml
    schema = etree.XMLSchema(_document(), **options)
    if schema.validate(tree.getroottree()):
        return
    elements = list(tree.iter(etree.Element))
    log: Any = schema.error_log
    entry = log[0]
    index = _element_index(tree, elements, entry)
    message = re.sub(r"^Element '[^']*'(?:, attribute '[^']*')?: ", "", entry.message)
    attribute = re.search(r"attribute '([^']*)'", entry.message)
    place = positions.element(index)
    if attribute is not None and "required but missing" not in entry.message:
        place = positions.attribute(index, attribute.group(1))
    what, hint = _words(elements[index], attribute.group(1) if attribute else None, message)
    raise FvmError(what, file=place.file, line=place.line, column=place.column, hint=hint)


def _element_index(
    tree: etree._Element, elements: list[etree._Element], entry: etree._LogEntry
) -> int:
    found = tree.getroottree().xpath(entry.path) if entry.path else []
    if isinstance(found, list) and found and isinstance(found[0], etree._Element):
        return elements.index(found[0])
    return next((i for i, e in enumerate(elements) if e.sourceline == entry.line), 0)


def _words(element: etree._Element, attribute: str | None, message: str) -> tuple[str, str]:
    """What is wrong, and what to do about it."""
    tag = element.tag
    if "is required but missing" in message:
        return f"<{tag}> has no '{attribute}'", f'add {attribute}="..."'
    if attribute is not None and "is not allowed" in message:
        owners = _siblings_with(str(tag), attribute)
        belongs = f"it belongs to {', '.join(owners)}: " if owners else ""
        return f"<{tag}> has no attribute '{attribute}'", f"{belongs}remove it or correct its name"
    parent = element.getparent()
    if "This element is not expected" in message and parent is not None:
        return f"<{tag}> is not allowed in <{parent.tag}>", f"allowed: {_children(parent.tag)}"
    if "No matching global declaration" in message:
        return f"the document starts with <{tag}>", "a description starts with <system>"
    if "Missing child element" in message:
        return f"<{tag}> is incomplete", f"add {_children(tag)}"
    if "character content" in message.lower():
        return f"<{tag}> contains text", "remove it; values stand in attributes"
    value = (element.get(attribute) if attribute else element.text) or ""
    subject = f"'{attribute}' of <{tag}>" if attribute else f"the text of <{tag}>"
    return f"{subject} is '{value}'", _form(message)


def _form(message: str) -> str:
    """How the value should look, from the schema's own words."""
    choices = re.search(r"not an element of the set \{(.*)\}", message)
    if choices:
        return "write one of " + choices.group(1).replace("'", "")
    for name, form in _FORMS.items():
        if f"'{name}'" in message:
            return form
    pattern = re.search(r"not accepted by the pattern '(.*)'", message, re.DOTALL)
    for name, form in _FORMS.items():
        if pattern and pattern.group(1) == _pattern(name):
            return form
    return f"it must match {pattern.group(1)}" if pattern else message


@cache
def _document() -> etree._Element:
    return etree.fromstring((files("composer.description") / "schema.xsd").read_bytes())


def _pattern(name: str) -> str | None:
    """The pattern of a named simple type."""
    found = _document().find(f"xs:simpleType[@name='{name}']/xs:restriction/xs:pattern", _SPACE)
    return None if found is None else str(found.get("value"))


def _children(tag: object) -> str:
    """The elements that may stand in <tag>."""
    element = _document().find(f".//xs:element[@name='{tag}']", _SPACE)
    inner = [] if element is None else _type(element).findall(".//xs:element", _SPACE)
    return ", ".join(f"<{e.get('name')}>" for e in inner) or "nothing"


def _siblings_with(tag: str, attribute: str) -> list[str]:
    """Elements that may stand beside <tag> and have an attribute of that name."""
    beside = _document().findall(f".//xs:element[@name='{tag}']/../xs:element", _SPACE)
    return [
        f"<{element.get('name')}>"
        for element in beside
        if _type(element).find(f"xs:attribute[@name='{attribute}']", _SPACE) is not None
    ]


def _type(element: etree._Element) -> etree._Element:
    """Where an element's content is declared: in its named type, or in itself."""
    found = _document().find(f"xs:complexType[@name='{element.get('type')}']", _SPACE)
    return element if found is None else found
