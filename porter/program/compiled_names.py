"""Who refers to whom in what the preprocessor leaves of a program: macros are gone there, whoever
defined them, and so are the arms of #if that aren't compiled.

An item is what stands outside of all braces up to its `;` or `}`. It refers to every identifier in
it, and to the words of asm text. Headers say the same to each file that includes them, so an item
is looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_DIRECTIVE = re.compile(rb"(?m)^#.*$")
_RENAMES = re.compile(rb"(?m)^[ \t]*#[ \t]*pragma[ \t]+redefine_extname[ \t]+(\w+)[ \t]+(\w+)")
_EDGE = re.compile(rb'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[{};]', re.DOTALL)
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_JOINED = re.compile(rb'"\s*"')
_SPACE = re.compile(rb"\s*")
_WORD = re.compile(rb"(?<!\w)[A-Za-z_]\w*")
_ASM = re.compile(rb"\b(?:asm|__asm|__asm__)\b")
_PARENTHESES = rb"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"
_ATTRIBUTE = re.compile(
    rb"(?:\b__attribute(?:__)?\s*%s|\b__declspec\s*%s|\[\[.*?\]\])" % (_PARENTHESES, _PARENTHESES),
    re.DOTALL,
)
_INSIDE, _OPERATOR = re.compile(_PARENTHESES), re.compile(rb"\boperator\s*[^\w\s]+")
_LABEL = re.compile(rb'\b(?:asm|__asm|__asm__)\s*\(\s*((?:"[^"]*"\s*)+)\)')
_SECTION = re.compile(rb'\b(?:__)?section(?:__)?\s*\(\s*"([^"]*)"')
_KEPT = re.compile(
    rb"\b(?:__)?(?:retain|constructor|destructor|init_priority|alias|weakref|ifunc)(?:__)?\b"
)
_USED = re.compile(rb"\b(?:__)?used(?:__)?\b")
_CALLED = re.compile(rb"\b([A-Za-z_]\w*)\s*\(")
_OPENS_SCOPE = re.compile(rb'(?:\bextern\s*"C(?:\+\+)?"|\bnamespace\b[^;{}()]*)\s*\{\Z')
_TYPE = re.compile(rb"\b(?:struct|union|enum|class)\b[^()=;]*\Z")
_PRIVATE = re.compile(rb"\b(?:static|inline|__inline|__inline__)\b")
_KEYWORDS = frozenset(
    b"alignas alignof asm __asm __asm__ auto bool break case char const continue default do double "
    b"else enum extern float for goto if inline int long register return short signed sizeof "
    b"static struct switch typedef typeof __typeof__ union unsigned void volatile while".split()
)


@dataclass
class CompiledNames:
    """By name: `edges` of functions, `tables` of objects that begin with a value; `roots` are kept
    or referred to without either, `used` are functions that are said to be. `shared`: functions
    that other files may call; `sections`: names of sections that a declaration chooses, with what
    lies there."""

    edges: dict[str, set[str]] = field(default_factory=dict)
    tables: dict[str, set[str]] = field(default_factory=dict)
    roots: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)
    sections: dict[str, set[str]] = field(default_factory=dict)
    _seen: set[bytes] = field(default_factory=set)

    def add(self, text: bytes) -> None:
        """One file as the preprocessor leaves it."""
        for name, meaning in _RENAMES.findall(text):
            self.edges.setdefault(name.decode(), set()).add(meaning.decode())
        for item, opening in _items(_DIRECTIVE.sub(b"", text)):
            if item not in self._seen:
                self._seen.add(item)
                self._add(item, opening)

    def _add(self, item: bytes, opening: int) -> None:
        head = item if opening < 0 else item[:opening]
        plain = _LABEL.sub(b" ", _ATTRIBUTE.sub(b" ", head))
        begins = _begins_with_value(plain)
        called = None if begins else next(_names_called(plain), None)
        words = _words(plain)
        owner = called or (words[-1] if words else "")
        for attribute in _ATTRIBUTE.findall(head):
            if _KEPT.search(attribute):
                self.roots |= {*words, *_in_strings(attribute)}
            if _USED.search(attribute):
                is_function = opening >= 0 and called is not None
                found = self.used if is_function else self.roots
                found |= set(words)
            for section in _SECTION.findall(attribute):
                self.sections.setdefault(section.decode("latin-1"), set()).update(words)
        for label in _LABEL.findall(head):
            name = "".join(_in_strings(label))
            self.edges.setdefault(name, set()).add(owner)
            self.edges.setdefault(owner, set()).add(name)
        if _ASM.match(item.lstrip()):
            self.roots |= _in_strings(item)
        elif opening >= 0 and called is not None:
            self.edges.setdefault(called, set()).update(_references(item[opening:]))
            if not _PRIVATE.search(plain):
                self.shared.add(called)
        elif begins:
            before, _, _ = plain.partition(b"=")
            named = _words(before.split(b"[")[0])
            begun = self.tables.setdefault(named[-1], set()) if named else self.roots
            begun |= {*_words(item), *_in_asm(item)}
        elif opening >= 0 and not _TYPE.search(plain):
            self.roots |= _references(item)


def _items(text: bytes) -> Iterator[tuple[bytes, int]]:
    """Each item, and where in it its first brace is; -1 where it has none."""
    begin, depth, opening = 0, 0, -1
    for match in _EDGE.finditer(text):
        edge = text[match.start() : match.end()]
        if edge == b"{":
            if depth == 0:
                if _OPENS_SCOPE.search(text, begin, match.end()):
                    begin = match.end()
                    continue
                opening = match.start() if opening < 0 else opening
            depth += 1
        elif edge == b"}":
            if depth == 0:  # of a scope
                begin, opening = match.end(), -1
                continue
            depth -= 1
            if depth or _goes_on(text[begin:opening]):
                continue
            yield text[begin : match.end()].strip(), opening - begin - _blank(text, begin)
            begin, opening = match.end(), -1
        elif edge == b";" and depth == 0:
            blank = _blank(text, begin)
            yield text[begin : match.end()].strip(), -1 if opening < 0 else opening - begin - blank
            begin, opening = match.end(), -1
    if text[begin:].strip():
        yield text[begin:].strip(), -1 if opening < 0 else opening - begin - _blank(text, begin)


def _goes_on(head: bytes) -> bool:
    """Whether an item goes on behind its braces: an object's value, a type."""
    plain = _ATTRIBUTE.sub(b" ", head)
    return _TYPE.search(plain) is not None or _begins_with_value(plain)


def _begins_with_value(head: bytes) -> bool:
    """Whether a declaration has a `=` of its own, none of an argument or an operator's name."""
    return b"=" in head and b"=" in _OPERATOR.sub(b" ", _INSIDE.sub(b" ", head))


def _blank(text: bytes, begin: int) -> int:
    """How much white space begins there."""
    match = _SPACE.match(text, begin)
    return 0 if match is None else match.end() - begin


def _names_called(head: bytes) -> Iterator[str]:
    """What stands before parentheses, keywords apart."""
    for word in _CALLED.findall(head):
        if word not in _KEYWORDS:
            yield word.decode("latin-1")


def _words(text: bytes) -> list[str]:
    text = _STRING.sub(b" ", text)
    return [word.decode("latin-1") for word in _WORD.findall(text) if word not in _KEYWORDS]


def _in_strings(text: bytes) -> set[str]:
    """Words of its strings, of which those side by side are one."""
    strings = _STRING.findall(_JOINED.sub(b"", text))
    return {word.decode("latin-1") for string in strings for word in _WORD.findall(string)}


def _references(body: bytes) -> set[str]:
    return {*_words(body), *_in_asm(body)}


def _in_asm(body: bytes) -> set[str]:
    """Words of asm text."""
    found: set[str] = set()
    for match in _ASM.finditer(body):
        end = body.find(b";", match.end())
        while end >= 0 and body.count(b'"', match.end(), end) % 2:
            end = body.find(b";", end + 1)
        found |= _in_strings(body[match.end() : len(body) if end < 0 else end])
    return found
