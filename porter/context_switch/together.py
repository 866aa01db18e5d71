"""Which conditions of `#if` can hold together, where one asks for a part of another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

_TOKEN = re.compile(r"\s*(defined\(\w+\)|\|\||&&|!(?!=)|[()]|(?:[^()|&!]|!=)+)")
_MOST_QUESTIONS = 10


@dataclass(frozen=True)
class _Truth:
    """`word` is a question, or what joins the parts."""

    word: str
    parts: tuple[_Truth, ...] = ()

    def questions(self) -> Iterator[str]:
        """What decides it."""
        if not self.parts:
            yield self.word
        for part in self.parts:
            yield from part.questions()

    def holds(self, answers: Mapping[str, bool]) -> bool:
        """Whether it does, by the answers."""
        if not self.parts:
            return answers[self.word]
        values = [part.holds(answers) for part in self.parts]
        return {"!": not values[0], "&&": all(values), "||": any(values)}[self.word]


class _Reader:
    def __init__(self, text: str) -> None:
        self._tokens = [token.strip() for token in _TOKEN.findall(text) if token.strip()]

    def whole(self) -> _Truth:
        """All of the text. ValueError for what is none of these."""
        found = self._joined("||")
        if self._tokens:
            raise ValueError(self._tokens[0])
        return found

    def _joined(self, word: str) -> _Truth:
        parts = [self._part(word)]
        while self._tokens[:1] == [word]:
            self._tokens.pop(0)
            parts.append(self._part(word))
        return _Truth(word, tuple(parts)) if len(parts) > 1 else parts[0]

    def _part(self, word: str) -> _Truth:
        return self._joined("&&") if word == "||" else self._single()

    def _single(self) -> _Truth:
        token = self._tokens.pop(0) if self._tokens else ")"
        if token == "!":
            return _Truth("!", (self._single(),))
        if token == "(":
            found = self._joined("||")
            if self._tokens[:1] != [")"]:
                raise ValueError(token)
            self._tokens.pop(0)
            return found
        if token in (")", "&&", "||"):
            raise ValueError(token)
        return _Truth(token)


def _read(condition: str) -> _Truth:
    try:
        return _Reader(condition).whole()
    except ValueError:  # IS_ENABLED(X) and the like
        return _Truth(condition)


def possible(keys: list[tuple[str, ...]]) -> list[tuple[int, ...]]:
    """Choices of arms, one number for each #if, by its conditions: which of them holds, as many as
    there are for none."""
    truths = [[_read(condition) for condition in key] for key in keys]
    questions = sorted({it for key in truths for truth in key for it in truth.questions()})
    every = list(product(*(range(len(key) + 1) for key in keys)))
    if len(questions) > _MOST_QUESTIONS:
        return every
    found = set()
    for values in product((True, False), repeat=len(questions)):
        answers = dict(zip(questions, values, strict=True))
        found.add(tuple(_first(key, answers) for key in truths))
    return [choice for choice in every if choice in found]


def _first(key: list[_Truth], answers: Mapping[str, bool]) -> int:
    return next((number for number, it in enumerate(key) if it.holds(answers)), len(key))
