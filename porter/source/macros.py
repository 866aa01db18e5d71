"""Macro definitions and their expansion over tokens, as the C preprocessor does it.

One table answers for one translation unit when the compiler could be asked, else for what a file
may see of the project; then a name can have several bodies, and the first is used for expansion.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from porter.source.c_lexer import Directive, Token, lex_fragment, spelling, spelt_within
from porter.source.token_tools import matching

# `#define static` for a test build, say, which would change what every declaration means.
_KEYWORDS = frozenset(
    {b"static", b"extern", b"const", b"volatile", b"inline", b"register", b"if", b"else", b"for",
     b"while", b"do", b"return", b"struct", b"union", b"enum", b"int", b"char", b"void", b"asm"}
)  # fmt: skip
_LONG, _ROOM = 100, 1_000_000  # tokens of an expansion that is kept, and of all of them
_NAME = re.compile(rb"\s*([A-Za-z_$][A-Za-z0-9_$]*)")
_BEGINS_NAME = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$")
_EXPANSION_LIMIT = 20_000  # tokens; more than any real register macro, less than an attack needs


class Macro:
    """`parameters` is None for an object-like macro; the last one of a variadic macro takes what is
    left of the arguments: `__VA_ARGS__`, or the name in GNU's `name...`. `text`: the body's tokens
    as they are spelt. Nobody changes one."""

    __slots__ = ("_alone", "_given", "is_variadic", "name", "parameters", "text")

    def __init__(
        self,
        name: bytes,
        parameters: tuple[bytes, ...] | None,
        given: tuple[Token, ...] | Directive,
        is_variadic: bool = False,
        text: tuple[bytes, ...] | None = None,
    ) -> None:
        """`given`: the body, or the plain line that has it behind the name and the parameters."""
        self.name = name
        self.parameters = parameters
        self.is_variadic = is_variadic
        self._given = given
        self.text = tuple([it.text for it in self.body]) if text is None else text
        self._alone: tuple[Macro, ...] = ()

    @property
    def body(self) -> tuple[Token, ...]:
        """What it stands for, with offsets. Most don't ask for these: `text` is at hand."""
        if isinstance(self._given, tuple):
            return self._given
        return self._given.tokens[-len(self.text) :] if self.text else ()

    @property
    def words(self) -> list[bytes]:
        """The names in the body."""
        if isinstance(self._given, tuple):
            return [token.text for token in self._given if token.kind == "identifier"]
        return [text for text in self.text if text[0] in _BEGINS_NAME]

    @property
    def called(self) -> list[bytes]:
        """Words in the body with a parenthesis behind them."""
        text = self.text
        if b"(" not in text:
            return []
        begins = _BEGINS_NAME
        return [word for word, after in pairwise(text) if after == b"(" and word[0] in begins]

    def is_same(self, other: Macro) -> bool:
        """Whether another definition of the name says the same."""
        return self.text == other.text and self.parameters == other.parameters

    @property
    def alone(self) -> tuple[Macro, ...]:
        """It as the only definition of its name. Many tables have it so, and share this."""
        if not self._alone:
            self._alone = (self,)
        return self._alone

    def only_spells(self, position: int) -> bool:
        """Whether an argument is nowhere itself: it is pasted to other words, or becomes a string
        (C11, 6.10.3)."""
        if self.parameters is None or position >= len(self.parameters):
            return False
        places = [at for at, text in enumerate(self.text) if text == self.parameters[position]]
        padded = (b"", *self.text, b"")
        return bool(places) and all(
            padded[at] in (b"#", b"##") or padded[at + 2] == b"##" for at in places
        )


@dataclass
class Expansion:
    """What became of tokens: `texts`; `used` macros, in order; names and numbers that `##` made."""

    texts: tuple[bytes, ...] = ()
    used: dict[bytes, None] = field(default_factory=dict)
    pasted: set[bytes] = field(default_factory=set)
    budget: int = _EXPANSION_LIMIT


def parse_define(directive: Directive) -> Macro | None:
    """The macro of a #define line, or None if it is malformed."""
    if directive.name != b"define":
        return None
    if directive.macro is None:
        directive.macro = _macro(directive) or False
    return directive.macro or None


def _macro(directive: Directive) -> Macro | None:
    if directive.is_plain:
        return _plain_macro(directive, *directive.left)
    tokens = directive.tokens
    if not tokens or tokens[0].kind != "identifier":
        return None
    name = tokens[0]
    if len(tokens) < 2 or tokens[1].text != b"(" or tokens[1].start != name.end:
        return Macro(name.text, None, tokens[1:])
    closing = next((at for at, it in enumerate(tokens) if it.text == b")"), 0)
    inside = tokens[2:closing]
    spelt = [it.text for it in inside]
    taken = _parameters(spelt) if all(it.kind != "string" for it in inside) else None
    if not closing or taken is None:
        return None
    return Macro(name.text, taken, tokens[closing + 1 :], b"..." in spelt)


def _plain_macro(line: Directive, text: bytes, start: int, end: int) -> Macro | None:
    found = _NAME.match(text, start, end)
    if found is None:
        return None
    name, behind = spelling(found[1]), found.end()
    if text[behind : min(behind + 1, end)] != b"(":
        return Macro(name, None, line, text=spelt_within(text, behind, end))
    closing = text.find(b")", behind, end)
    spelt = spelt_within(text, behind + 1, closing) if closing >= 0 else ()
    taken = _parameters(spelt) if closing >= 0 else None
    if taken is None:
        return None
    return Macro(name, taken, line, b"..." in spelt, spelt_within(text, closing + 1, end))


def _parameters(spelt: Sequence[bytes]) -> tuple[bytes, ...] | None:
    """The names between the parentheses; None where something else stands there."""
    found: list[bytes] = []
    for index, text in enumerate(spelt):
        if text == b"...":
            if index == 0 or spelt[index - 1][0] not in _BEGINS_NAME:
                found.append(b"__VA_ARGS__")
        elif text[0] in _BEGINS_NAME:
            found.append(text)
        elif text != b",":
            return None
    return tuple(found)


def usable_macro(directive: Directive) -> Macro | None:
    """The same, but none that hides a keyword."""
    macro = parse_define(directive)
    return macro if macro is not None and macro.name not in _KEYWORDS else None


def _matching(pattern: re.Pattern[bytes], names: Set[bytes]) -> Callable[[bytes], bool]:
    """Whether one of these names is of a form. All tables of a project have nearly the same names,
    so each name is looked at once, whatever table it is in."""
    known, found = _FORMS.setdefault(pattern, (set(), set()))
    new = names - known
    known |= new
    found |= set(filter(pattern.fullmatch, new))
    return found.__contains__


_FORMS: dict[re.Pattern[bytes], tuple[set[bytes], set[bytes]]] = {}

Get = Callable[[bytes], Macro | None]
"""The definition of a name."""


Definitions = MutableMapping[bytes, tuple[Macro, ...]]


class Layered(ChainMap[bytes, tuple[Macro, ...]]):
    """Few definitions in front of the many that nearly all files share. A ChainMap looks through
    any number of maps, and takes its time."""

    def __init__(self, own: Definitions, others: Definitions) -> None:
        super().__init__(own, others)
        self.own = own
        self.others = others

    def get(self, key: bytes, default: Any = None) -> Any:
        """The definitions of a name."""
        known = self.own.get(key)
        return self.others.get(key, default) if known is None else known

    def __contains__(self, key: object) -> bool:
        return key in self.own or key in self.others


class MacroTable:
    """Name to macro, and expansion."""

    def __init__(self) -> None:
        self._macros: Definitions = {}
        self._others: MacroTable | None = None
        self.assumed: set[bytes] = set()
        """Names that the project doesn't define, with what they mostly are."""
        self._changed: frozenset[bytes] = frozenset()  # what is defined otherwise there
        self._former: dict[bytes, tuple[Macro, ...]] = {}
        self._aliases: dict[bytes, bytes] | None = None  # filled when the table is complete
        self._users: dict[bytes, list[bytes]] | None = None  # the macros that mention a name
        self._pasting: dict[bytes, bool] = {}
        self._open: dict[bytes, bool] = {}
        self._kept: dict[tuple[bytes, ...], tuple[bytes, ...]] = {}  # expansions
        self._room = _ROOM
        self._matching: dict[re.Pattern[bytes], tuple[int, tuple[bytes, ...]]] = {}

    def with_definitions(self, visible: Mapping[bytes, Sequence[Macro]]) -> MacroTable:
        """The same table for a file that sees these definitions of some names."""
        table = MacroTable()
        table._macros = Layered({name: tuple(them) for name, them in visible.items()}, self._macros)
        table._former = self._former
        table.assumed = self.assumed
        table._others = self
        table._changed = frozenset(visible)
        return table

    def define(self, macro: Macro) -> None:
        """Add a definition; the same body twice is one definition."""
        known = self._macros.get(macro.name, ())
        if not any(macro.is_same(other) for other in known):
            self._macros[macro.name] = (*known, macro) if known else macro.alone
            self._forget()

    def redefine(self, macro: Macro) -> None:
        """Make this the only definition of its name."""
        self._macros[macro.name] = macro.alone
        self._forget()

    def undefine(self, name: bytes) -> None:
        """Forget a name, but for what used it before."""
        if (known := self._macros.pop(name, None)) is not None:
            self._former[name] = known
            self._forget()

    def define_text(self, text: str) -> None:
        """Add a definition in the form of the -D option: `NAME` or `NAME=VALUE`."""
        name, _, value = text.partition("=")
        if "(" not in name:
            body = lex_fragment(value.encode() if "=" in text else b"1")
            self.define(Macro(name.encode(), None, body))

    def add_lexed(self, directives: Iterable[Directive]) -> None:
        """Add every #define of a file, whatever its condition, but none that hides a keyword."""
        for directive in directives:
            if (macro := usable_macro(directive)) is not None:
                self.define(macro)

    def get(self, name: bytes) -> Macro | None:
        """The first definition of a name."""
        known = self._macros.get(name)
        return known[0] if known else None

    def all_of(self, name: bytes) -> Sequence[Macro]:
        """Every definition of a name."""
        return self._macros.get(name, ())

    def matching(self, pattern: re.Pattern[bytes]) -> Sequence[bytes]:
        """The names that are of a form."""
        if self._others is not None:  # which defines all of them, too
            return self._others.matching(pattern)
        if self._matching.get(pattern, (0, ()))[0] != len(self._macros):
            found = tuple(filter(_matching(pattern, self._macros.keys()), self._macros))
            self._matching[pattern] = len(self._macros), found
        return self._matching[pattern][1]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._macros)

    def __contains__(self, name: object) -> bool:
        return name in self._macros

    def aliases(self) -> dict[bytes, bytes]:
        """Object-like macros that are only another name, with the name they end at."""
        if self._aliases is None:
            self._aliases = {}
            names: Iterable[bytes] = self._macros
            if self._others is not None:  # most are what they are there
                names = self._others.users_of(self._changed)
                known = self._others.aliases()
                self._aliases = {it: known[it] for it in known.keys() - names}
            for name in names:
                macro = self.get(name)
                if macro is not None and macro.parameters is None and len(macro.text) == 1:
                    is_macro = macro.text[0] in self._macros
                    expanded = self.expanded(macro.text) if is_macro else macro.text
                    if len(expanded) == 1 and expanded[0].replace(b"_", b"a").isalnum():
                        self._aliases[name] = expanded[0]
        return self._aliases

    def words(self) -> set[bytes]:
        """All that macros' bodies spell."""
        return {it for macros in self._macros.values() for macro in macros for it in macro.text}

    def users_of(self, names: Iterable[bytes]) -> set[bytes]:
        """These names, and every macro that means something else when one of them does."""
        found, open_names = set(names), list(names)
        while open_names:
            for user in self._users_of(open_names.pop()):
                if user not in found:
                    found.add(user)
                    open_names.append(user)
        return found

    def _users_of(self, name: bytes) -> Iterator[bytes]:
        """The macros that mention a name. Tables that differ in few definitions share the rest."""
        if self._users is None:
            self._users = {}
            for own in self._macros if self._others is None else self._changed:
                for word in {word for macro in self._macros[own] for word in macro.words}:
                    self._users.setdefault(word, []).append(own)
        yield from self._users.get(name, ())
        if self._others is not None:
            yield from (it for it in self._others._users_of(name) if it not in self._changed)

    def is_open(self, name: bytes) -> bool:
        """Whether a macro, or one that it uses, has several definitions."""
        if name not in self._open:
            self._open[name] = False  # until it is known otherwise, for macros in circles
            known = self._macros.get(name, ())
            self._open[name] = len(known) > 1 or any(
                self.is_open(word) for macro in known for word in macro.text if word in self
            )
        return self._open[name]

    def _forget(self) -> None:
        """What was expanded before a definition changed."""
        self._kept.clear()
        self._room = _ROOM

    def expand(self, tokens: Sequence[Token]) -> tuple[bytes, ...]:
        """Fully expanded token texts; () if the expansion grows beyond all reason. Several judges
        ask for the same, so that long ones are kept."""
        return self.expanded(tuple([token.text for token in tokens]))

    def expanded(self, key: tuple[bytes, ...]) -> tuple[bytes, ...]:
        """The same of texts, such as those of a macro's body."""
        if len(key) < _EXPANSION_LIMIT and _has_none(self._macros, key):
            return key
        if (known := self._kept.get(key)) is not None:
            return known
        trace = self._traced(key, self.get)
        if _EXPANSION_LIMIT - trace.budget >= _LONG and self._room > 0:
            self._room -= len(key) + len(trace.texts)
            self._kept[key] = trace.texts
        return trace.texts

    def traced(self, tokens: Sequence[Token], get: Get | None = None) -> Expansion:
        """The same, with what it took. Macros that were undefined later count, unless `get` says
        otherwise."""
        return self._traced([token.text for token in tokens], get or self.ever)

    def _traced(self, words: Sequence[bytes], get: Get) -> Expansion:
        trace = Expansion()
        texts = self._expand([*words], frozenset(), trace, get)
        trace.texts = tuple(texts) if trace.budget > 0 else ()
        return trace

    def ever(self, name: bytes) -> Macro | None:
        """The definition of a name, be it that it was undefined later."""
        known = self._macros.get(name) or self._former.get(name)
        return known[0] if known else None

    def pastes(self, name: bytes) -> bool:
        """Whether a macro, or one that it uses, makes names by `##`."""
        if name not in self._pasting:
            self._pasting[name] = False  # until it is known otherwise, for macros in circles
            macro = self.ever(name)
            words = macro.text if macro is not None else ()
            self._pasting[name] = b"##" in words or any(map(self.pastes, words))
        return self._pasting[name]

    def _expand(
        self, texts: list[bytes], hidden: frozenset[bytes], trace: Expansion, get: Get
    ) -> list[bytes]:
        output: list[bytes] = []
        index = 0
        while index < len(texts) and trace.budget > 0:
            text = texts[index]
            trace.budget -= 1
            index += 1
            macro = get(text) if text not in hidden else None
            if macro is None:
                output.append(text)
                continue
            if macro.parameters is None:
                body = list(macro.text)
            else:
                arguments, after = _arguments(texts, index)
                if arguments is None:
                    output.append(text)
                    continue
                index = after
                body = self._substitute(macro, arguments, hidden, trace, get)
            trace.used[text] = None
            made = self._expand(_paste(body, trace.pasted), hidden | {text}, trace, get)
            last = get(made[-1]) if made and made[-1] not in hidden | {text} else None
            if (
                last is not None
                and last.parameters is not None
                and texts[index : index + 1] == [b"("]
            ):
                texts = [made.pop(), *texts[index:]]  # its arguments stand behind the macro
                index = 0
            output += made
        return output

    def _substitute(
        self,
        macro: Macro,
        arguments: list[list[bytes]],
        hidden: frozenset[bytes],
        trace: Expansion,
        get: Get,
    ) -> list[bytes]:
        values = _bind(macro, arguments)
        body = _with_optional(macro.text, values[macro.parameters[-1]]) if (
            macro.is_variadic and macro.parameters) else list(macro.text)  # fmt: skip
        output: list[bytes] = []
        for index, text in enumerate(body):
            if text not in values:
                output.append(text)
            elif output and output[-1] == b"#":
                output[-1] = b'"' + b" ".join(values[text]).replace(b'"', b'\\"') + b'"'
            elif (output and output[-1] == b"##") or body[index + 1 : index + 2] == [b"##"]:
                output += values[text] or [b""]
            else:
                output += self._expand(values[text], hidden, trace, get)
        return output


def _has_none(macros: Definitions, words: tuple[bytes, ...]) -> bool:
    """Whether none of the words is defined."""
    while isinstance(macros, Layered):
        if not macros.own.keys().isdisjoint(words):
            return False
        macros = macros.others
    return macros.keys().isdisjoint(words)


def uses_in(tokens: Sequence[Token], macros: MacroTable) -> Iterator[Sequence[Token]]:
    """Uses of macros with their arguments, those within the arguments of others aside."""
    index = 0
    while index < len(tokens):
        macro = macros.ever(tokens[index].text) if tokens[index].kind == "identifier" else None
        is_call = index + 1 < len(tokens) and tokens[index + 1].text == b"("
        closing = matching(tokens, index + 1) if macro is not None and is_call else None
        end = index + 1 if closing is None else closing + 1
        if macro is not None and (macro.parameters is None or closing is not None):
            yield tokens[index:end]
            index = end
        else:
            index += 1


def _bind(macro: Macro, arguments: list[list[bytes]]) -> dict[bytes, list[bytes]]:
    names = macro.parameters or ()
    values: dict[bytes, list[bytes]] = {}
    for position, name in enumerate(names):
        if macro.is_variadic and position == len(names) - 1:
            rest: list[bytes] = []
            for argument in arguments[position:]:
                rest += [b",", *argument] if rest else argument
            values[name] = rest
        else:
            values[name] = arguments[position] if position < len(arguments) else []
    return values


def _with_optional(body: Sequence[bytes], rest: Sequence[bytes]) -> list[bytes]:
    """A body with what its `__VA_OPT__(...)` stand for."""
    output: list[bytes] = []
    index = 0
    while index < len(body):
        if body[index] != b"__VA_OPT__" or (inner := _enclosed(body, index + 1)) is None:
            output.append(body[index])
            index += 1
            continue
        output += inner if rest else ()
        index += len(inner) + 3
    return output


def _enclosed(texts: Sequence[bytes], opening: int) -> Sequence[bytes] | None:
    """What stands between a parenthesis that is expected there and the one that closes it."""
    depth = 0
    for index in range(opening, len(texts)):
        depth += (texts[index] == b"(") - (texts[index] == b")")
        if depth == 0:
            return texts[opening + 1 : index] if index > opening else None
    return None


def _paste(texts: list[bytes], pasted: set[bytes]) -> list[bytes]:
    """Texts put together by `##`. A comma goes if nothing follows, and else stays one (GNU C)."""
    output: list[bytes] = []
    made: set[int] = set()  # which of the output
    index = 0
    while index < len(texts):
        if texts[index] == b"##" and output and index + 1 < len(texts):
            if output[-1] == b",":
                output.pop() if not texts[index + 1] else output.append(texts[index + 1])
                index += 2
                continue
            output[-1] += texts[index + 1]
            made.add(len(output) - 1)
            index += 2
        else:
            output.append(texts[index])
            index += 1
    pasted.update(output[index] for index in made)
    return [text for text in output if text]


def _arguments(texts: list[bytes], index: int) -> tuple[list[list[bytes]] | None, int]:
    """Arguments of a call whose `(` is expected at `index`, and the index after its `)`."""
    if index >= len(texts) or texts[index] != b"(":
        return None, index
    arguments: list[list[bytes]] = [[]]
    depth = 0
    for position in range(index, len(texts)):
        text = texts[position]
        if text in (b"(", b"[", b"{"):
            depth += 1
        elif text in (b")", b"]", b"}"):
            depth -= 1
        if depth == 0:
            return arguments, position + 1
        if depth == 1 and text == b",":
            arguments.append([])
        elif position > index:
            arguments[-1].append(text)
    return None, index
