"""Which lines the preprocessor reads of a C file, as far as that is certain without a build."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter.source.c_lexer import Directive, Token

_OPENING = frozenset({b"if", b"ifdef", b"ifndef"})
# Defined by whoever translates assembler or C++ text, and never in C.
_NEVER_IN_C = frozenset(
    {b"__ASSEMBLER__", b"__ASSEMBLY__", b"__ASSEMBLER", b"_ASMLANGUAGE", b"__IASMARM__",
     b"__IAR_SYSTEMS_ASM__", b"__cplusplus"}
)  # fmt: skip


def held(directives: Sequence[Directive]) -> Iterator[Directive]:
    """The directives that aren't conditions, without those in arms that no C compiler reads."""
    stack: list[bool | None] = []  # what the condition of the arm is
    before: list[bool] = []  # whether an arm of the same #if surely was the one
    for directive in directives:
        if directive.name in _OPENING:
            stack.append(_asked(directive))
            before.append(False)
        elif directive.name in (b"elif", b"else") and stack:
            before[-1] = before[-1] or stack[-1] is True
            if before[-1]:
                stack[-1] = False
            else:
                stack[-1] = _asked(directive) if directive.name == b"elif" else None
        elif directive.name == b"endif" and stack:
            stack.pop()
            before.pop()
        elif False not in stack:
            yield directive


def _asked(directive: Directive) -> bool | None:
    if directive.name == b"ifdef":
        return _defined(directive.tokens[0]) if directive.tokens else None
    if directive.name == b"ifndef":
        return _not(_defined(directive.tokens[0])) if directive.tokens else None
    return _Condition(directive.tokens).value()


def _defined(name: Token) -> bool | None:
    return False if name.text in _NEVER_IN_C else None


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


class _Condition:
    """`!`, `&&`, `||`, `defined` and parentheses; None for whatever else there is."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._next = 0

    def value(self) -> bool | None:
        """What the condition is; None if it isn't certain."""
        found = self._any()
        return found if self._next == len(self._tokens) else None

    def _any(self) -> bool | None:
        values = [self._all()]
        while self._take(b"||"):
            values.append(self._all())
        if True in values:
            return True
        return None if None in values else False

    def _all(self) -> bool | None:
        values = [self._one()]
        while self._take(b"&&"):
            values.append(self._one())
        if False in values:
            return False
        return None if None in values else True

    def _one(self) -> bool | None:
        if self._take(b"!"):
            return _not(self._one())
        if self._take(b"("):
            found = self._any()
            return found if self._closes() else None
        if self._take(b"defined"):
            bracket = self._take(b"(")
            name = self._tokens[self._next] if self._next < len(self._tokens) else None
            self._next += 1
            if name is None or (bracket and not self._closes()):
                return None
            return _defined(name)
        if self._next < len(self._tokens) and self._tokens[self._next].kind == "number":
            text = self._tokens[self._next].text
            self._next += 1
            return bool(int(text)) if text in (b"0", b"1") else None
        name = self._tokens[self._next] if self._next < len(self._tokens) else None
        self._next += 1
        return False if name is not None and name.text in _NEVER_IN_C else None

    def _take(self, text: bytes) -> bool:
        taken = self._next < len(self._tokens) and self._tokens[self._next].text == text
        self._next += taken
        return taken

    def _closes(self) -> bool:
        """Whether a parenthesis closes; what comes isn't understood if none does."""
        closes = self._take(b")")
        self._next += 0 if closes else len(self._tokens) + 1
        return closes
