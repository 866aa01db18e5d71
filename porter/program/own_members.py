"""Functions of a project's classes and namespaces: where a name is one of theirs.

A library's function of the same name is another one. A name is a member's behind the name of its
scope (`Timer::sleep`), and by itself in what belongs to that scope, to a class that has it for a
base, or to a file that takes the scope's names for its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from porter.program.closure import closure
from porter.source.c_lexer import Token
from porter.source.declared_objects import DECLARES_NOTHING
from porter.source.token_tools import body_behind, is_qualified, matching, split_arguments

_CLASSES = frozenset({b"class", b"struct", b"union"})
_NO_NAME = frozenset({b"final", b"public", b"protected", b"private", b"virtual"})


@dataclass(frozen=True)
class _Scope:
    """What a brace opens: which scopes of names, with the bases of a class, or code."""

    names: tuple[bytes, ...] = ()
    bases: frozenset[bytes] = frozenset()
    is_class: bool = False
    is_code: bool = False


Members = dict[bytes, dict[bytes, set[int]]]
"""By scope and name: how many parameters the functions of that name take."""


@dataclass
class OwnMembers:
    """`bases` by class."""

    members: Members = field(default_factory=dict)
    bases: dict[bytes, set[bytes]] = field(default_factory=dict)

    def add(self, tokens: Sequence[Token]) -> None:
        """What a file defines, but in namespaces without a name, which are of this file alone."""
        for owner, named in _members(tokens).items():
            for name, counts in named.items() if owner else ():
                self.members.setdefault(owner, {}).setdefault(name, set()).update(counts)
        for _, scopes in _with_parentheses(tokens):
            for scope in scopes:
                for name in scope.names[-1:] if scope.bases else ():
                    self.bases.setdefault(name, set()).update(scope.bases)

    def meant(self, tokens: Sequence[Token]) -> set[int]:
        """Where in a file's tokens names are those of members. A name inside of their scope hides
        all outside; where it is only taken from there, a library's may be meant as well, and the
        arguments tell."""
        taken = _taken(tokens)
        unnamed = _members(tokens).get(b"", {})
        found: set[int] = set()
        for index, scopes in _with_parentheses(tokens):
            name = tokens[index].text
            is_global = [it.text for it in tokens[max(0, index - 2) : index]] == [b":", b":"]
            if is_qualified(tokens, index):
                around = {_qualifier(tokens, index)}
                counts: set[int] = set()
            elif is_global:
                continue
            else:
                around = {it for scope in scopes for it in scope.names}
                counts = self._counts(name, taken) | unnamed.get(name, set())
            is_unnamed = b"" in around and name in unnamed
            if is_unnamed or self._counts(name, around) or _count(tokens, index) in counts:
                found.add(index)
        return found

    def _counts(self, name: bytes, scopes: set[bytes]) -> set[int]:
        """How many parameters functions of a name take that scopes, or bases of them, have."""
        known = closure(scopes, lambda it: self.bases.get(it, ()))
        return {count for it in known for count in self.members.get(it, {}).get(name, ())}


def _count(tokens: Sequence[Token], name: int) -> int:
    """How many arguments or parameters a name has behind it."""
    closing = matching(tokens, name + 1)
    inside = tokens[name + 2 : closing]
    is_void = [token.text for token in inside] == [b"void"]
    return 0 if is_void else len(split_arguments(inside))


def _members(tokens: Sequence[Token]) -> Members:
    """Functions of a file by their scope, b"" for one without a name. Declared is enough in a
    class, which is the project's."""
    found: Members = {}
    for index, scopes in _with_parentheses(tokens):
        scope = scopes[-1] if scopes else _Scope()
        has_body = body_behind(tokens, index) is not None
        owners = scope.names[-1:]
        if is_qualified(tokens, index):
            owners = (_qualifier(tokens, index),) if has_body else ()
        elif not _is_declared(tokens, index) or not (scope.is_class or has_body):
            owners = ()
        for owner in () if scope.is_code else owners:
            named = found.setdefault(owner, {})
            named.setdefault(tokens[index].text, set()).add(_count(tokens, index))
    return found


def _taken(tokens: Sequence[Token]) -> set[bytes]:
    """The scopes whose names a file uses by themselves: `using namespace a::b;`, `using b::f;`."""
    found: set[bytes] = set()
    for index, token in enumerate(tokens[:-2]):
        if token.text != b"using":
            continue
        end = index + 1
        while end < len(tokens) and tokens[end].text != b";":
            end += 1
        if tokens[index + 1].text == b"namespace":
            found.add(tokens[end - 1].text)
        elif is_qualified(tokens, end - 1):
            found.add(_qualifier(tokens, end - 1))
    return found


def _with_parentheses(tokens: Sequence[Token]) -> Iterator[tuple[int, tuple[_Scope, ...]]]:
    """Names with parentheses behind them, and the scopes around each."""
    scopes: tuple[_Scope, ...] = ()
    bodies: dict[int, _Scope] = {}
    first = 0
    for index, token in enumerate(tokens):
        is_code = bool(scopes) and scopes[-1].is_code
        if token.text == b"{":
            opened = _Scope(is_code=True) if is_code else _opened(tokens[first:index])
            scopes += (bodies.get(index, opened),)
        elif token.text == b"}":
            scopes = scopes[:-1]
        elif token.kind == "identifier" and _text_at(tokens, index + 1) == b"(":
            if not is_code and (body := body_behind(tokens, index)) is not None:
                of = (_qualifier(tokens, index),) if is_qualified(tokens, index) else ()
                bodies.setdefault(body, _Scope(of, is_code=True))
            yield index, scopes
        if token.text in (b"{", b"}", b";"):
            first = index + 1


def _opened(head: Sequence[Token]) -> _Scope:
    """What the brace behind a head that is no function's opens."""
    texts = [token.text for token in head]
    if b"namespace" in texts:
        names = texts[texts.index(b"namespace") + 1 :]
        return _Scope(tuple(it for it in names if it != b":") or (b"",))
    keyword = max((at for at, it in enumerate(texts) if it in _CLASSES), default=None)
    if keyword is None or b"enum" in texts or b"=" in texts:
        return _Scope(is_code=texts[:1] != [b"extern"])
    rest = [token for token in head[keyword + 1 :] if token.text not in _NO_NAME]
    colon = next((at for at, token in enumerate(rest) if token.text == b":"), len(rest))
    names = [token.text for token in rest[:colon] if token.kind == "identifier"]
    bases = frozenset(token.text for token in rest[colon:] if token.kind == "identifier")
    return _Scope(tuple(names[-1:]), bases, is_class=True)


def _text_at(tokens: Sequence[Token], index: int) -> bytes:
    return tokens[index].text if index < len(tokens) else b""


def _qualifier(tokens: Sequence[Token], index: int) -> bytes:
    """The scope that stands before a name: A of `A::f` and of `A<T>::f`."""
    at = index - 3
    depth = 0
    while at > 0 and (depth or tokens[at].text == b">"):
        depth += (tokens[at].text == b">") - (tokens[at].text == b"<")
        at -= 1
    return tokens[max(at, 0)].text


def _is_declared(tokens: Sequence[Token], index: int) -> bool:
    """Whether a type stands before a name."""
    before = tokens[index - 1] if index else None
    if before is None:
        return False
    is_typed = before.kind == "identifier" or before.text in (b"*", b"&", b">")
    return is_typed and before.text not in DECLARES_NOTHING
