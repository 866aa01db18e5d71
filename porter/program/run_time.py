"""Which code runs again once the machine is up, and because of whom.

What `main` calls on its way to its loop runs before anybody uses a device, once. Interrupt
handlers, functions whose address somebody has (tasks, callbacks), what stands in or behind a loop
without end, and all that these call may run at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from porter.program.c_text import CText
from porter.program.reachability import canonical
from porter.source.c_lexer import Token
from porter.source.evaluate import Evaluator
from porter.source.token_tools import matching
from porter.source.values import Number

_MEMBER = frozenset({b".", b"->"})
_LEAVES = frozenset({b"return", b"goto"})
_LOOPS = frozenset({b"while", b"for", b"do"})
_AT_ONCE = frozenset({b"array", b"pair", b"tuple"})
"""Templates of C++ that make what they hold when they are made."""


@dataclass(eq=False)
class RunTime:
    """Answers for the files of one program. `edges`: which names a function's or macro's body
    mentions; `handlers`: of interrupts; `started`: what start-up code alone calls, the last
    of it `entry`; `is_compiled`: whether a token takes part."""

    texts: Sequence[CText]
    edges: Mapping[str, Iterable[str]]
    handlers: Sequence[str]
    started: frozenset[str]
    entry: str
    is_compiled: Callable[[CText, Token], bool]

    def why(self, name: str, path: Path, start: int) -> str | None:
        """Who may run the function or macro `name` again, or the offset `start` of a file in it;
        None if it runs on the way to main's loop only."""
        for first, last, reason in self._loops.get(path, ()):
            if first <= start < last:
                return reason
        return self._again.get(name.rpartition("::")[2])

    def handler_of(self, name: str) -> str | None:
        """The interrupt handler that a function is, or that leads to it; None for others."""
        return self._in_handlers.get(name.rpartition("::")[2])

    @cached_property
    def _in_handlers(self) -> dict[str, str]:
        found = {name: name for name in sorted(self.handlers)}
        for caller, name in self._called(found):
            found[name] = found[caller]
        return found

    @cached_property
    def _again(self) -> dict[str, str]:
        why = {name: f"{name} is an interrupt handler" for name in sorted(self.handlers)}
        for text in self.texts:
            for name, reason in self._roots(text):
                if name not in self.started:
                    why.setdefault(name, reason)
        for caller, name in self._called(why, self.started):
            why[name] = f"called from {caller}: {why[caller]}"
        return why

    def _called(
        self, first: Iterable[str], but: frozenset[str] = frozenset()
    ) -> Iterator[tuple[str, str]]:
        """What some functions lead to, the nearest first, each once and behind who mentions it."""
        waiting = list(first)
        seen = {*waiting, *but}
        while waiting:
            caller = waiting.pop(0)
            for name in sorted(self.edges.get(caller, ())):  # the same reason in each run
                if name in self.edges and name not in seen:
                    seen.add(name)
                    yield caller, name
                    waiting.append(name)

    @cached_property
    def _loops(self) -> dict[Path, list[tuple[int, int, str]]]:
        found: dict[Path, list[tuple[int, int, str]]] = {}
        for text in self.texts:
            tokens = text.balanced
            for name, body, end in text.with_members if text.is_cplusplus else text.functions:
                is_entry = name.decode("latin-1") == self.entry
                for first, last in _loops(tokens, body, end, text.evaluator, is_entry):
                    place = f"{text.file.name}:{text.file.line(tokens[first].start)}"
                    reason = f"in or behind the loop of {name.decode('latin-1')}, {place}"
                    span = tokens[first].start, tokens[last - 1].end, reason
                    found.setdefault(text.file.path, []).append(span)
        return found

    def _roots(self, text: CText) -> Iterator[tuple[str, str]]:
        """Names that loops mention, and functions whose address is taken."""
        loops = self._loops.get(text.file.path, ())
        tokens = text.balanced
        for index, token in enumerate(tokens[:-1]):
            is_called = tokens[index + 1].text == b"("
            is_field = tokens[index - 1].text in _MEMBER and not (text.is_cplusplus and is_called)
            if token.kind != "identifier" or is_field:
                continue
            name = canonical(token.text, text.evaluator.macros)
            if name not in self.edges or not self.is_compiled(text, token):
                continue
            is_type = text.is_cplusplus and text.evaluator.types.spelt(token.text) != b""
            if is_type and tokens[index + 1].text in (b"*", b"&"):
                continue  # makes no object
            for first, last, reason in loops:
                if first <= token.start < last:
                    yield name, reason
            place = f"{text.file.name}:{text.file.line(token.start)}"
            if not is_called and not is_type and token.text not in text.evaluator.macros:
                yield name, f"the address of {name} is taken in {place}"
            elif is_type and (holder := _held_by(tokens, index)) and holder not in _AT_ONCE:
                yield name, f"{holder.decode('latin-1')} makes objects of {name} later, {place}"


def _held_by(tokens: Sequence[Token], index: int) -> bytes | None:
    """The template that a class is an argument of; None if it is none's."""
    after = tokens[index + 1].text
    if after not in (b">", b",") or index < 2:
        return None
    place = index - 1
    while place and (tokens[place].text in (b",", b":") or tokens[place].kind == "identifier"):
        place -= 1
    is_argument = place > 0 and tokens[place].text == b"<"
    return tokens[place - 1].text if is_argument else None


def _loops(
    tokens: Sequence[Token], body: int, end: int, evaluator: Evaluator, is_entry: bool
) -> Iterator[tuple[int, int]]:
    """Loops of a function that end with the machine, with what stands behind those that something
    leaves: behind `if (error) { for (;;) {} }` only who didn't enter it goes on. In the entry a
    loop that waits for something that isn't known may be one."""
    labels: dict[bytes, int] = {}
    for index in range(body, end - 1):
        text, after = tokens[index].text, tokens[index + 1].text
        if tokens[index].kind == "identifier" and after == b":":
            labels.setdefault(text, index)
        elif text == b"goto" and after in labels:
            yield labels[after], end
        elif text in _LOOPS and _is_endless(tokens, index, evaluator, is_entry):
            closed = _is_endless(tokens, index, evaluator, if_unknown=False)
            yield index, _never_left(tokens, index, end, evaluator) if closed else end


def _never_left(tokens: Sequence[Token], index: int, end: int, evaluator: Evaluator) -> int:
    """Where a loop without end is over for who never enters it; `end` if one may leave it."""
    body = _body(tokens, index)
    if body is None:
        return end
    first, last = body
    inner: list[int] = []  # ends of loops and switches in it, which a `break` leaves instead
    for place in range(first, last):
        inner = [it for it in inner if it > place]
        text = tokens[place].text
        macro = evaluator.macros.get(text)
        words = {text} if macro is None else set(evaluator.macros.expanded(macro.text))
        if not words.isdisjoint(_LEAVES) or (b"break" in words and not inner):
            return end
        nested = _body(tokens, place) if text in (*_LOOPS, b"switch") else None
        if nested is not None:
            inner.append(nested[1])
    return last


def _body(tokens: Sequence[Token], index: int) -> tuple[int, int] | None:
    """First token of what a loop or a switch does and the one behind; None if it is unclear."""
    opening = index + 1
    if tokens[index].text != b"do":
        closing = matching(tokens, opening) if tokens[opening].text == b"(" else None
        if closing is None:
            return None
        opening = closing + 1
    if opening >= len(tokens):
        return None
    if tokens[opening].text == b"{":
        closing = matching(tokens, opening)
        return None if closing is None else (opening, closing + 1)
    last = next((at for at in range(opening, len(tokens)) if tokens[at].text == b";"), None)
    return None if last is None else (opening, last + 1)


def _is_endless(
    tokens: Sequence[Token], index: int, evaluator: Evaluator, if_unknown: bool
) -> bool:
    kind, opening = tokens[index].text, index + 1
    if kind == b"do":
        closing = matching(tokens, opening) if tokens[opening].text == b"{" else None
        if closing is None or tokens[closing + 1].text != b"while":
            return if_unknown
        opening = closing + 2
    closing = matching(tokens, opening) if tokens[opening].text == b"(" else None
    if closing is None:
        return False
    condition = [token.text for token in tokens[opening + 1 : closing]]
    if kind == b"for":
        parts = b" ".join(condition).split(b";")
        return len(parts) == 3 and not parts[1].strip()
    if tokens[closing + 1].text == b";" and kind == b"while":
        return False  # it does nothing, or ends a `do`, which was looked at
    value = evaluator.text(b" ".join(condition))
    return value.value != 0 if isinstance(value, Number) else if_unknown
