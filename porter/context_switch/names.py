"""What C knows about the names an assembler text mentions: prototypes and declarations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from porter.context_switch.kinds import INTEGER, OTHER, POINTER
from porter.context_switch.lift_state import Signature
from porter.context_switch.passing import Types, split_at_commas
from porter.context_switch.project_data import ProjectData

_LOOK_BACK = 200  # characters: no declaration's type is longer
_CPP_LINKAGE = re.compile(r'\bextern\s+"C"')
_VOID = re.compile(r"#[ \t]*define[ \t]+(\w+)[ \t]+void[ \t]*$|\btypedef\s+void\s+(\w+)\s*;", re.M)
_TYPE_MACRO = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([A-Za-z_]\w*(?:[ \t]+\w+)*[ \t]*\**)[ \t]*$", re.M
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\[^\S\n]*\n|[^\r\n])*", re.M)
_ATTRIBUTE = re.compile(r"\b__attribute(?:__)?\s*\(\((?:[^()]|\([^()]*\))*\)\)")
_DECLARATORS = re.compile(  # a type and functions in front of another, up to the comma
    r"(?:^|[;{}])\s*(?P<type>[A-Za-z_][\w\s]*?[\s*])\**\s*\w+\s*\([^()]*\)\s*,"
    r"(?:\s*\**\s*\w+\s*\([^()]*\)\s*,)*[\s*]*$"
)
_TYPE_WORDS = frozenset({"char", "short", "int", "long", "unsigned", "signed", "float", "double"})
_NO_TYPE = frozenset({"return", "else", "goto", "case", "sizeof", "do"})


@dataclass(frozen=True)
class Variable:
    """A declared object: POINTER, INTEGER or OTHER, and sizeof; `unsigned` only for INTEGER.
    `inner`: its declaration, where it stands only in some block."""

    kind: str
    size: int = 4
    unsigned: bool = True
    inner: str = ""


_GUEST = {"virt_mscratch": Variable(INTEGER)}  # what <fvm/guest.h> declares

Probe = Callable[[str], int | None]  # the value of a C constant expression in the unit, or None


def declarations_of(text: str) -> str:
    """C text that has no comments, without preprocessor lines: only declarations are looked for in
    it. Macros that may stand for a type are typedefs."""
    return _DIRECTIVE.sub("", _TYPE_MACRO.sub(r"typedef \2 \1;", _CPP_LINKAGE.sub("extern", text)))


def names_of_void(text: str) -> set[str]:
    """What a text calls void by macros and typedefs."""
    return {name for pair in _VOID.findall(text) for name in pair if name} - {"void"}


def with_plain_void(text: str, names: Iterable[str]) -> str:
    """The text with void for names of it."""
    alternatives = "|".join(sorted(names))
    return re.sub(rf"\b(?:{alternatives})\b", "void", text) if alternatives else text


class Names:
    """Looks names up in a preprocessed translation unit, and functions then in `elsewhere`: the
    text of the project's other files, because assembler text calls what C hasn't declared.
    `project` is what else these files say."""

    def __init__(self, unit: str, elsewhere: str, probe: Probe, project: ProjectData) -> None:
        self.project = project
        self._unit = unit
        self._elsewhere = elsewhere
        self._probe = cache(probe)
        self._has_endings = "noreturn" in unit.lower()
        self._types, self._types_elsewhere = Types(unit), Types(elsewhere)

    @property
    def texts(self) -> tuple[str, str]:
        """The translation unit, and the text elsewhere."""
        return self._unit, self._elsewhere

    def function(self, name: str) -> Signature | None:
        """Parameters and result of a function."""
        found = self.declared_function(name)
        if found is not None and self._has_endings:
            never = self._probe(f"__builtin_has_attribute({name}, __noreturn__)") == 1
            found = replace(found, never_returns=never)
        if found is None or found.unprototyped:
            return _signature(self._elsewhere, name, self._types_elsewhere) or found
        return found

    def declared_function(self, name: str) -> Signature | None:
        """The same, only if the translation unit itself declares it."""
        return _signature(self._unit, name, self._types)

    def prototype_behind(self, name: str, user: str) -> str | None:
        """The prototype of a function that the unit first mentions behind the definition of
        another one, its user; None if the user sees it."""
        definition = re.search(rf"\b{re.escape(user)}\s*\([^()]*\)\s*\{{", self._unit)
        if definition is None:
            return None
        if _signature(self._unit[: definition.start()], name, self._types) is not None:
            return None
        for match in _declarations(self._unit, name):
            if (words := _type_in_front(self._unit, match.start())) is not None:
                return f"{' '.join(words)} {name}({match['parameters']});".replace("* ", "*")
        return None

    def variable(self, name: str) -> Variable | None:
        """What kind of object a name declares, None if the unit doesn't declare it."""
        if name in _GUEST:
            return _GUEST[name]
        for match in re.finditer(rf"\b{re.escape(name)}\b\s*([\[;=,])", self._unit):
            if (words := _type_in_front(self._unit, match.start())) is not None:
                kind = OTHER if match.group(1) == "[" else _kind(words)
                found = self._measured(name, kind)
                if found.size == 0 and kind == POINTER and words[0] == "extern":
                    text = " ".join((*words, name)).replace("* ", "*")
                    return Variable(POINTER, inner=f"{text};")
                return found
        if self.function(name) is not None or self._probe(f"sizeof({name})") is None:
            return None
        # Declared in a way that the look at the text doesn't understand: int a, *b;
        return self._measured(name, INTEGER)

    def _measured(self, name: str, kind: str) -> Variable:
        """The text says what is declared, the compiler what a typedef hides and how large it is."""
        size = self._probe(f"sizeof({name})")
        if kind != INTEGER or size is None:
            return Variable(kind if size is not None else OTHER, size or 0)
        itself = f"__builtin_types_compatible_p(__typeof__(&*({name})), __typeof__({name}))"
        if self._probe(itself) == 1:
            return Variable(POINTER, size)
        whole = f"(__typeof__({name}))2.5f == 2"  # not of a bool or a float
        if self._probe(whole) != 1:
            return Variable(OTHER, size)
        return Variable(INTEGER, size, bool(self._probe(f"(__typeof__({name}))-1 > 0")))


def _type_in_front(text: str, place: int) -> list[str] | None:
    """The words (stars among them) of a declaration in front of the name, None if it is none."""
    before = _ATTRIBUTE.sub(" ", text[max(0, place - _LOOK_BACK) : place])
    head = re.split(r"[;{}()=,#/\[\]&|<>?:!+-]", before)[-1]
    if not head.strip(" \n*") and (several := _DECLARATORS.search(before)):  # int f(int), *g(int);
        head = several["type"] + head
    words = head.replace("*", " * ").split()
    known = all(re.fullmatch(r"[A-Za-z_]\w*|\*", word) for word in words)
    if not words or words[0] == "*" or words[0] in _NO_TYPE or not known:
        return None
    return words


def _declarations(text: str, name: str) -> Iterator[re.Match[str]]:
    # The boundary is looked for behind the name: a search for a literal beginning is much faster.
    word = re.escape(name)
    pattern = re.compile(
        rf"{word}(?<!\w{word})\s*\((?P<parameters>[^()]*(?:\([^()]*\)[^()]*)*)\)"
        r"(?P<tail>[^;{}=]*)[;{]"
    )
    return pattern.finditer(text)


def _signature(text: str, name: str, types: Types) -> Signature | None:
    """The first that says what the function takes, else one that doesn't."""
    unprototyped = None
    for match in _declarations(text, name):
        words = _type_in_front(text, match.start())
        if words is None:
            continue
        returns = words[-1] != "void"
        texts = _old_style(text, match)
        if texts is None and not match["parameters"].strip() and not match.group().endswith("{"):
            unprototyped = unprototyped or Signature(
                (), returns, pointer=words[-1] == "*", unprototyped=True
            )
            continue
        texts = _parameters(match["parameters"]) if texts is None else texts
        pointers = tuple(any(mark in text for mark in "*[(") for text in texts)
        named = tuple(map(_parameter_name, texts))
        problem = types.problem(" ".join(words) if returns else "", texts)
        return Signature(pointers, returns, named, words[-1] == "*", problem)
    return unprototyped


def _old_style(text: str, match: re.Match[str]) -> tuple[str, ...] | None:
    """The parameters of a definition whose parentheses have only their names: void f(a) int a; {"""
    names = [part.strip() for part in match["parameters"].split(",")]
    begin = match.start("tail")
    behind, brace, _ = text[begin : begin + _LOOK_BACK * (len(names) + 1)].partition("{")
    if not brace or not match["tail"].strip() or "(" in behind or "}" in behind:
        return None
    declared: dict[str, str] = {}
    for statement in behind.split(";")[:-1]:
        first, *others = split_at_commas(statement)
        base = re.sub(r"[\w\]\[]+\s*$|\*.*", "", first)
        for declarator in (first, *(f"{base} {other}" for other in others)):
            if words := re.findall(r"\w+", declarator.split("[")[0]):
                declared[words[-1]] = declarator.strip()
    return tuple(declared[name] for name in names) if set(names) == set(declared) else None


def _parameter_name(text: str) -> str:
    """The last word, where a type stands in front of it."""
    words = re.findall(r"[A-Za-z_]\w*|\*", text.partition("[")[0])
    named = len(words) > 1 and words[-1] not in _TYPE_WORDS and words[-1] != "*"
    return words[-1] if named and "(" not in text and words[-2] not in ("struct", "union") else ""


def _kind(words: list[str]) -> str:
    if "*" in words:
        return POINTER
    return OTHER if {"struct", "union"} & set(words) else INTEGER


def _parameters(text: str) -> tuple[str, ...]:
    """The text of each parameter."""
    return () if text.strip() in ("", "void") else split_at_commas(text)
