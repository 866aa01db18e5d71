"""How a call passes what a C declaration names.

Both procedure call standards, AAPCS and RISC-V's ilp32, put an integer of at most 32 bits, an enum
or a pointer into one argument register, and such a result into the first of them. That is all that
the transcriber's C says of a call; `Types` tells what is passed in any other way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

_ATTRIBUTE = re.compile(r"__attribute(?:__)?\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)")
_OF_A_SIZE = re.compile(r"\b(?:__)?(?:vector_size|mode)(?:__)?\b")  # attributes: not its words say
_BRACES = re.compile(r"[{};]")
_TYPEDEF = re.compile(r"\btypedef\b")
_WORD = re.compile(r"[A-Za-z_]\w*")
_POINTED = re.compile(r"\(\s*(?:\w+\s+)*\*[\s*]*(?:\w+\s+)*(\w+)")  # typedef void (*NAME)(void)
_INTEGERS = frozenset({"char", "short", "int", "long", "unsigned", "signed", "_Bool", "bool"})
_FLOATS = frozenset({"float", "double", "_Complex"})
_STANDARD = {  # as every C library has them
    **{f"{sign}int{kind}{bits}_t": "int" for sign in ("", "u") for bits in (8, 16, 32)
       for kind in ("", "_least", "_fast")},
    **{f"{sign}int{kind}_t": "long long" for sign in ("", "u")
       for kind in ("64", "_least64", "_fast64", "max")},
    **dict.fromkeys(("size_t", "ssize_t", "ptrdiff_t", "uintptr_t", "intptr_t", "wchar_t"), "int"),
}  # fmt: skip
POINTER = "*"
ANY_NUMBER = (
    "takes any number of arguments, and nothing says how many registers count: call a function of "
    "fixed arguments that calls it"
)
UNPROTOTYPED = (
    "is declared without saying what it takes, and no file here defines it in C: declare its "
    "parameters, or (void)"
)


class Types:
    """What the typedefs of a C text say. Of several typedefs of one name the first counts."""

    def __init__(self, text: str) -> None:
        self._text = text

    def problem(self, result: str, parameters: Sequence[str]) -> str:
        """Why a function can't be called with a word for each parameter, as the end of a sentence
        about it; "" where it can."""
        if any(text.strip() == "..." for text in parameters):
            return ANY_NUMBER
        for text in parameters:
            if what := self._problem(text):
                return f"takes '{_short(text)}', {what}"
        what = "" if result == "" else self._problem(result)
        return f"returns '{_short(result)}', {what}" if what else ""

    def _problem(self, text: str) -> str:
        text = _ATTRIBUTE.sub(" ", text)
        if any(mark in text for mark in "*[("):
            return ""
        kind = self._kind(_WORD.findall(text), frozenset())
        return "a type that no text here explains" if kind is None else kind

    def _kind(self, words: list[str], seen: frozenset[str]) -> str | None:
        """ "" for a word, else what it is; None where these words name no type."""
        for number, word in enumerate(words):
            if word in ("struct", "union"):
                return "a structure by value"
            if word == "enum":
                return ""
            if word in _INTEGERS or word in _FLOATS:
                return _built_in(words[number:])
            meaning = self._typedefs.get(word) or _STANDARD.get(word)
            if meaning is None or word in seen:
                continue  # a qualifier, or a macro that is none of these
            if meaning == POINTER:
                return ""
            if (found := self._kind(meaning.split(), seen | {word})) is not None:
                return found
        return None

    @cached_property
    def _typedefs(self) -> dict[str, str]:
        """POINTER or words, by name."""
        found: dict[str, str] = {}
        for statement in _typedef_statements(self._text):
            base = ""
            for number, text in enumerate(split_at_commas(statement)):
                if match := _POINTED.search(text):
                    found.setdefault(match.group(1), POINTER)
                    continue
                words = _WORD.findall(re.split(r"[\[(]", text)[0])
                if number == 0:
                    base = " ".join(words[:-1])
                if words:
                    found.setdefault(words[-1], POINTER if "*" in text or "[" in text else base)
        return found


def _built_in(words: list[str]) -> str:
    own = [word for word in words if word in _INTEGERS or word in _FLOATS]
    if set(own) & _FLOATS:
        return "a floating-point value"
    return "64 bits" if own.count("long") > 1 else ""


def _typedef_statements(text: str) -> Iterator[str]:
    """What stands between `typedef` and its semicolon, without what is in braces."""
    for match in _TYPEDEF.finditer(text):
        depth, start, parts = 0, match.end(), []
        for mark in _BRACES.finditer(text, match.end()):
            if depth == 0:
                parts.append(text[start : mark.start()])
            depth += (mark.group() == "{") - (mark.group() == "}")
            start = mark.end()
            if depth == 0 and mark.group() == ";":
                if not _OF_A_SIZE.search(whole := " ".join(parts)):
                    yield _ATTRIBUTE.sub(" ", whole)
                break


def split_at_commas(text: str) -> tuple[str, ...]:
    """The parts of a list that has parentheses in it."""
    if "(" not in text and ")" not in text:
        return tuple(text.split(","))
    found = [""]
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return tuple(found)


def _short(text: str) -> str:
    return " ".join(text.replace("extern", "").split())
