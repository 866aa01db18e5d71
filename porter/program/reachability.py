"""Which functions can run in the ported machine: a call graph of names, on tokens.

An identifier in a body counts as a reference whatever it is used for, and a macro passes on what
its body mentions, an object what its initialiser does: the graph has too many edges rather than too
few. What stands in an arm of #if that isn't compiled refers to nothing. Functions out of reach are
dropped by the linker (one section a function).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, takewhile

from porter.program.c_text import CText
from porter.program.classes import made_with
from porter.program.closure import closure
from porter.program.compiled_names import CompiledNames
from porter.program.functions import head_of
from porter.program.made_functions import made_in
from porter.program.tables import owner_of
from porter.source.c_lexer import Token, lex
from porter.source.c_strings import decode_strings
from porter.source.edit import Edit
from porter.source.inline_asm import ASM_WORDS
from porter.source.macros import Macro, MacroTable, parse_define, uses_in
from porter.source.source_file import SourceFile
from porter.source.token_tools import matching

_ENTRY_POINTS = frozenset({"main", "SystemInit", "_init", "_fini", "__libc_init_array"})
_IMPLICIT = frozenset({"begin", "end", "get"})  # what loops and bindings of C++ call
_USED = frozenset({b"used", b"__used__", b"__used"})
_KEPT = frozenset({b"constructor", b"__constructor__", b"alias"})
_STORAGE = frozenset({b"static", b"extern", b"inline", b"__inline", b"__inline__"})
_WORD = re.compile(rb"[A-Za-z_]\w*")


@dataclass
class CallGraph:
    """References by name; `roots` are referenced from outside any function, `tables` by objects
    that begin with them, `external` are the defined functions that other files may call, `same` are
    names of one body: of heads in several arms of #if, and what a macro makes of a name; `pasted`
    are put together by macros; `rewritten` are functions whose text is another in the port; `used`
    are said to be needed by what the compiler doesn't see."""

    edges: dict[str, set[str]] = field(default_factory=dict)
    tables: dict[str, set[str]] = field(default_factory=dict)
    same: dict[str, set[str]] = field(default_factory=dict)
    roots: set[str] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)
    external: set[str] = field(default_factory=set)
    pasted: set[str] = field(default_factory=set)
    rewritten: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)

    def add_c(
        self,
        text: CText,
        ported: Iterable[Edit] = (),
        compiled: Callable[[Token], bool] = lambda _: True,
    ) -> None:
        """Functions, macros and initialisers of a C file; of the `ported` functions counts what
        their new text mentions. `compiled`: whether a token is in an arm of #if that is."""
        edits = [edit for edit in ported if edit.start < edit.end]
        macros = text.evaluator.macros
        tokens = text.balanced
        self.roots |= _IMPLICIT if text.is_cplusplus else set()
        outside = 0
        bodies: dict[int, set[str]] = {}
        heads = Counter(start for _, start, _ in text.functions)
        self.pasted |= set(_pasted(tokens, macros))
        for name, start, end in text.functions:
            self._note_outside(tokens[outside:start], text, compiled)
            self.roots |= set(_pasted(tokens[outside:start], macros))
            outside = end
            body = [token for token in tokens[start:end] if compiled(token)]
            new = [e.replacement for e in edits if e.start <= tokens[start].start < e.end]
            references = (
                {match.decode("latin-1") for match in _WORD.findall(b"\n".join(new))}
                if new
                else _references(body, macros) | set(_pasted(body, macros))
            )
            if new:
                self.rewritten |= {canonical(name, macros), name.decode("latin-1")}
            declaration = head_of(tokens, start)
            if name in macros and name not in macros.aliases():
                self.roots |= references  # `TASK(name, argument) {`: whose body it is isn't known
                continue
            if _has_no_type(declaration, name):  # of a library that isn't here, or an int's
                self.roots |= references | {name.decode("latin-1")}
            if end == len(tokens) and matching(tokens, start) is None:
                self.roots |= references  # where it ends isn't known: others may be in it
            function = canonical(name, macros)
            if text.is_cplusplus and _is_member(tokens, start):
                self.roots.add(function)  # constructors and operators are called without a name
                self.roots |= references
            self.defined.add(function)
            self.edges.setdefault(function, set()).update(references)
            bodies.setdefault(start, set()).update((function, name.decode("latin-1")))
            if any(_says(_KEPT, token, text) for token in declaration):
                self.roots.add(function)
            if any(_says(_USED, token, text) for token in declaration):
                self.used.add(function)
            if [it.text for it in declaration].count(b"static") < heads[start]:
                self.external.add(function)
        for names in bodies.values():
            for function in names if len(names) > 1 else ():
                self.same.setdefault(function, set()).update(names - {function})
        self._note_outside(tokens[outside:], text, compiled)
        self.roots |= set(_pasted(tokens[outside:], macros))
        if text.is_cplusplus:  # what members mention is a root already
            for name, start, end in text.with_members:
                references = _references(tokens[start:end], macros)
                self.edges.setdefault(canonical(name, macros), set()).update(references)
            for name, parts in made_with(tokens):
                made = {canonical(part, macros) for part in parts}
                self.edges.setdefault(canonical(name, macros), set()).update(made)
        for name, words in made_in(text):
            mentioned = {canonical(word, macros) for word in words}
            self.edges.setdefault(canonical(name, macros), set()).update(mentioned)
        for directive in text.lexed.directives:
            if (macro := parse_define(directive)) is not None:
                names = self.edges.setdefault(macro.name.decode("latin-1"), set())
                names |= (
                    _references(macro.body, macros)
                    if _has_strings(macro)
                    else {canonical(word, macros) for word in macro.words}
                )
            elif directive.name == b"pragma":  # weak f = g, required = f
                pragma = text.file.data[directive.start : directive.end]
                self.roots |= {canonical(word, macros) for word in _WORD.findall(pragma)}

    def add_compiled(self, names: CompiledNames, outside: Collection[str]) -> None:
        """What the preprocessor leaves of all files, once they were added: there a name is what is
        compiled. `outside`: functions that libraries have; a compiler calls some without a word,
        and those of its own, and then the program's if it has one of that name."""
        for name, references in names.edges.items():
            if name not in self.rewritten:
                self.edges.setdefault(name, set()).update(references)
        for name, references in names.tables.items():
            self.tables.setdefault(name, set()).update(references)
        self.roots |= names.roots
        self.used |= names.used
        self.roots |= {it for it in names.shared if it.startswith("__") or it in outside}

    def add_part(self, data: bytes, macros: MacroTable) -> None:
        """What a file includes that is none of C by its name: every word of it is a reference, and
        what the includer's `macros` put together of them."""
        names = {word.decode("latin-1") for word in _WORD.findall(data)}
        names |= set(_pasted(lex(data).tokens, macros))
        self.roots |= names
        self.pasted |= names  # no more than these are they found where code is looked at

    def add_asm(
        self, file: SourceFile, without: Iterable[range] = (), wanted: Iterable[str] = ()
    ) -> None:
        """Every word of an assembler file counts as a reference, but in places that it loses, and
        so does what is `wanted` where its macros put the name together."""
        places = list(without)
        written = {match.decode("latin-1") for match in _WORD.findall(file.data)}
        self.roots |= set(wanted) - written
        self.roots |= {
            match.group().decode("latin-1")
            for match in _WORD.finditer(file.data)
            if not any(match.start() in it for it in places)
        }

    def reached(self, entries: Iterable[str]) -> set[str]:
        """Names that the entry points and assembler files lead to, with objects and what is kept
        without a name. A function that is said to be used, and that one of C has in its asm
        statements, is by that one."""
        whole, tables = self.whole, self.tables
        unseen = {it for it in self.used if set(self.callers.get(it, ())) <= {it}}
        first = self.roots | unseen | _ENTRY_POINTS | set(entries)
        return closure(first, lambda it: (*whole.get(it, ()), *tables.get(it, ())))

    @cached_property
    def outside(self) -> set[str]:
        """Names that something outside of functions has; asked for when all files are in."""
        return self.roots.union(self.used, *self.tables.values())

    @property
    def whole(self) -> dict[str, set[str]]:
        """The edges, with those between names of one body."""
        names = {*self.edges, *self.same}
        return {it: self.edges.get(it, set()) | self.same.get(it, set()) for it in names}

    @cached_property
    def callers(self) -> dict[str, list[str]]:
        """Functions and macros that mention each name; asked for when all files are in."""
        found: dict[str, list[str]] = {}
        for caller, names in self.edges.items():
            for name in names:
                found.setdefault(name, []).append(caller)
        return found

    def unmentioned(self) -> set[str]:
        """Functions of C that other files may call and none does."""
        return self.external.difference(self.outside, *self.edges.values())

    def _note_outside(
        self, tokens: list[Token], text: CText, compiled: Callable[[Token], bool]
    ) -> None:
        """Names in initialisers and attributes, and macros, which may make functions; declarations
        alone refer to nothing. In C++ an initialiser may stand in parentheses, `Task task(run);`,
        and a function in a template's arguments."""
        macros, cplusplus = text.evaluator.macros, text.is_cplusplus
        depth = made = begin = 0
        initialising = False
        names = self.roots
        for number, token in enumerate(tokens):
            depth += (token.text == b"{") - (token.text == b"}")
            if token.text in macros and not depth and number >= made:
                made = _behind_use(tokens, number)
            if cplusplus:
                depth += (token.text == b"(") - (token.text == b")")
                around = {it.text for it in tokens[max(0, number - 1) : number + 2]}
                if token.kind == "identifier" and not around.isdisjoint((b"<", b">", b",")):
                    self.roots.add(canonical(token.text, macros))
            if depth == 0 and token.text in (b";", b"="):
                initialising, names = token.text == b"=", self.roots
                owner = owner_of(tokens[begin:number], text) if initialising else None
                if owner is not None and not cplusplus:  # C++ may have to run what it begins with
                    names = self.tables.setdefault(owner.decode("latin-1"), set())
            if depth == 0 and token.text in (b";", b"}"):
                begin = number + 1
            if not compiled(token):
                continue
            if (depth or initialising or number < made) and token.kind == "identifier":
                names.add(canonical(token.text, macros))
            elif token.kind == "string":
                words = _WORD.findall(_text_from(tokens, number))
                self.roots |= {word.decode("latin-1") for word in words}


def _behind_use(tokens: Sequence[Token], index: int) -> int:
    """Where a use of a macro ends, with its arguments if it has any."""
    has_arguments = index + 1 < len(tokens) and tokens[index + 1].text == b"("
    closing = matching(tokens, index + 1) if has_arguments else None
    return (index if closing is None else closing) + 1


def _says(words: frozenset[bytes], token: Token, text: CText) -> bool:
    made = text.expansion(token) if token.kind == "identifier" else None
    return token.text in words or (made is not None and not words.isdisjoint(made.texts))


def _has_no_type(declaration: Sequence[Token], name: bytes) -> bool:
    """Whether nothing but a storage class stands in front of a definition's name."""
    before = list(takewhile(lambda it: it.text != name, declaration))
    return all(token.text in _STORAGE for token in before)


def _is_member(tokens: list[Token], body: int) -> bool:
    """Whether the function that begins with this brace is defined for a class, or an operator."""
    head = head_of(tokens, body)
    texts = [token.text for token in head]
    return b"operator" in texts or (b":", b":") in pairwise(texts)


def _references(tokens: Iterable[Token], macros: MacroTable) -> set[str]:
    """Identifiers, and the words of asm templates."""
    names: set[str] = set()
    in_asm = False
    tokens = list(tokens)
    for number, token in enumerate(tokens):
        if token.kind == "identifier":
            in_asm = in_asm or token.text in ASM_WORDS
            names.add(canonical(token.text, macros))
        elif token.text == b";":
            in_asm = False
        elif token.kind == "string" and in_asm:
            words = _WORD.findall(_text_from(tokens, number))
            names |= {word.decode("latin-1") for word in words}
    return names


def _has_strings(macro: Macro) -> bool:
    return any(text.endswith(b'"') for text in macro.text)


def _text_from(tokens: Sequence[Token], index: int) -> bytes:
    """The text that begins with a string literal, of all those that C joins with it; "" in the
    middle of one."""
    if index and tokens[index - 1].kind == "string":
        return b""
    end = index
    while end < len(tokens) and tokens[end].kind == "string":
        end += 1
    return decode_strings(tokens[index:end]).text


def _pasted(tokens: Sequence[Token], macros: MacroTable) -> Iterator[str]:
    """Names that macros put together by `##`."""
    for use in uses_in(tokens, macros):
        if any(macros.pastes(token.text) for token in use):
            yield from (canonical(name, macros) for name in macros.traced(use).pasted)


def canonical(name: bytes, macros: MacroTable) -> str:
    """A name that is only a macro for another name, as that name."""
    return macros.aliases().get(name, name).decode("latin-1")
