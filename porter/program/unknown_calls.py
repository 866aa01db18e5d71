"""Calls of functions that nobody here knows: no file of the project defines them, none of the
compiler's libraries, and there is no data on them. An archive in the tree may have them, of which
nobody can read what they do."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

from porter.libraries.data import Libraries
from porter.program.c_text import CText
from porter.program.constructed import constructed
from porter.program.defined_names import NO_CALL, defined_names
from porter.program.definitions import declared_weak
from porter.program.made_functions import made_functions
from porter.registers.intrinsics import INTRINSICS
from porter.source.asm_text import dialect_of, instructions, weak_names
from porter.source.c_lexer import LexedSource, Token
from porter.source.declared_objects import DECLARES_NOTHING, objects_in
from porter.source.inline_asm import ASM_WORDS
from porter.source.macros import parse_define, uses_in
from porter.source.source_file import SourceFile
from porter.source.token_tools import matching

_BUILT_IN = re.compile(
    r"__builtin_\w+|__sync_\w+|__atomic_\w+|__has_\w+|__c11_\w+|_Pragma|_Generic"
)
_ATTRIBUTES = frozenset({b"__attribute__", b"__attribute", b"__declspec", b"_Pragma", b"__pragma",
                         *ASM_WORDS})  # fmt: skip
_CALLS = frozenset({"bl", "blx", "call"})
_REGISTER = re.compile(r"r\d+|lr|ip|sp|pc|[ast]\d+|ra", re.IGNORECASE)
_QUALIFIERS = frozenset({b"const", b"volatile", b"restrict", b"__restrict"})
_LONGEST = 4  # tokens of a pointer's type: a star, qualifiers, the parenthesis
_FVM = re.compile(r"\b([A-Za-z_]\w*)\s*\(")


@dataclass(frozen=True)
class UnknownCall:
    """A function that is called `count` times, first at an offset of a file; `archive`: the name of
    the library in the tree that has it, compiled."""

    name: str
    count: int
    file: SourceFile
    offset: int
    archive: str = ""


@dataclass(frozen=True)
class _Call:
    """A call of a function that nobody is known to have but libraries. `text` and `end`: of what
    is C, where an #if may leave it out; `around`: the function or macro that makes it; `is_pasted`:
    a macro puts its name together, so that nothing can stand in its place; `is_here`: of these, a
    function of that name is defined; `is_weak`: undefined, the ported program calls nothing."""

    name: str
    file: SourceFile
    offset: int
    end: int = 0
    text: CText | None = None
    around: str | None = None
    is_pasted: bool = False
    is_here: bool = False
    is_weak: bool = False


@dataclass(eq=False)
class UnknownCalls:
    """Of `texts`, where `everything` that the project has may define functions. `provided`: names
    that somebody else defines; `archived`: in which archive of the tree names are; `assembled`:
    names that a file in assembler defines, by its macros too."""

    texts: Sequence[CText]
    asm: Sequence[SourceFile]
    provided: Callable[[], frozenset[str]]
    archived: Callable[[], Mapping[str, str]]
    is_compiled: Callable[[CText, int, int], bool]
    is_assembled: Callable[[SourceFile, int], bool]
    everything: Sequence[tuple[SourceFile, LexedSource]]
    assembled: Callable[[SourceFile], Collection[str]]
    _made: dict[Path, Collection[str]] = field(default_factory=dict, init=False)

    def found(self, libraries: Libraries, is_dead: Callable[[str], bool]) -> list[UnknownCall]:
        """Each function that no data of `libraries` is on, those called most first. Calls of
        functions and macros that nothing uses don't count."""
        calls: dict[str, list[_Call]] = {}
        for call in self._calls:
            if self._counts(call, libraries, is_dead):
                calls.setdefault(call.name, []).append(call)
        provided = self.provided() if calls else frozenset()
        archived = self.archived() if calls else {}
        return sorted(
            (
                UnknownCall(
                    name, len(all_of), all_of[0].file, all_of[0].offset, archived.get(name, "")
                )
                for name, all_of in calls.items()
                if name not in provided and (name in archived or not all_of[0].is_weak)
            ),
            key=lambda it: (-it.count, it.name),
        )

    def _counts(self, call: _Call, libraries: Libraries, is_dead: Callable[[str], bool]) -> bool:
        if libraries.known(call.name) is not None:
            if not call.is_pasted:
                return False
        elif call.is_here or libraries.is_harmless(call.name):
            return False
        if call.around is not None and is_dead(call.around):
            return False
        return call.text is None or self.is_compiled(call.text, call.offset, call.end)

    @cached_property
    def _calls(self) -> list[_Call]:
        """All that may be unknown, whatever libraries are used."""
        return list(self._all_calls())

    def _all_calls(self) -> Iterator[_Call]:
        weak_in_c = {name for text in self.texts for name in declared_weak(text)}
        for text in self.texts:
            objects = objects_in(text.lexed)
            made = constructed(text)
            for token, around in _called(text):
                name = token.text.decode("latin-1")
                if (
                    token.start in made
                    or token.text in objects
                    or text.evaluator.types.is_type(token.text)
                ):
                    continue  # an object that is made, a cast of C++
                if not self._is_here(name):
                    is_weak = name in weak_in_c
                    place = text.file, token.start, token.end
                    yield _Call(name, *place, text, around, is_weak=is_weak)
            for use, name in _pasted_calls(text):
                is_here = self._is_here(name)
                yield _Call(name, text.file, use.start, use.end, text, None, True, is_here)
        for file in self.asm:
            parts = list(instructions(file.data, dialect_of(file.data)))
            weak = weak_names(parts)
            for part in parts:
                name = part.operands[-1] if part.operands else ""
                is_call = part.base in _CALLS and name.isidentifier()
                if not is_call or _REGISTER.fullmatch(name) or self._is_here(name):
                    continue
                if self.is_assembled(file, part.start):
                    yield _Call(name, file, part.start, is_weak=name in weak)

    def _is_here(self, name: str) -> bool:
        return (
            name in self._defined
            or name in INTRINSICS
            or name in runtime_functions()
            or _BUILT_IN.fullmatch(name) is not None
            or self._is_assembled(name)
        )

    def _is_assembled(self, name: str) -> bool:
        """Whether a macro of an assembler file makes it: ENTRY(lock)."""
        naming = (file for file in self.asm if name.encode("latin-1", "replace") in file.data)
        for file in naming:
            if file.path not in self._made:
                self._made[file.path] = self.assembled(file)
            if name in self._made[file.path]:
                return True
        return False

    @cached_property
    def _defined(self) -> set[str]:
        return defined_names(self.everything, self.asm) | made_functions(self.texts)


@lru_cache(maxsize=1)
def runtime_functions() -> frozenset[str]:
    """What ported code calls of the runtime."""
    runtime = files("fvm-runtime")
    own = (it / "include" for it in (runtime / "arch").iterdir())  # of each machine
    folders = (it / "fvm" for it in (runtime / "include", *own) if (it / "fvm").is_dir())
    headers = (it for folder in folders for it in folder.iterdir() if it.name.endswith(".h"))
    texts = (it.read_text(encoding="utf-8") for it in headers)
    found = {name for text in texts for name in _FVM.findall(text)}
    return frozenset(found | {"fvm_virt_of_irq", "fvm_split_take"})


def _pasted_calls(text: CText) -> Iterator[tuple[Token, str]]:
    """Functions whose names a macro puts together by `##`, with the use of it."""
    macros = text.evaluator.macros
    for use in uses_in(text.lexed.tokens, macros):
        if not any(macros.pastes(token.text) for token in use):
            continue
        expansion = macros.traced(use)
        for name, after in pairwise(expansion.texts):
            if name in expansion.pasted and after == b"(":
                yield use[0], name.decode("latin-1")


def _called(text: CText) -> Iterator[tuple[Token, str | None]]:
    """Names that are called, with the function or macro around them."""
    tokens = text.balanced
    outside = 0
    for name, start, end in text.functions:
        if start < outside:
            continue  # another head of the same body
        yield from ((it, None) for it in _calls_in(tokens[outside:start], in_function=False))
        around = name.decode("latin-1")
        yield from ((it, around) for it in _calls_in(tokens[start:end], in_function=True))
        outside = end
    yield from ((it, None) for it in _calls_in(tokens[outside:], in_function=False))
    for directive in text.lexed.directives:
        macro = parse_define(directive)
        if macro is not None and macro.called:
            own = macro.parameters or ()
            around = macro.name.decode("latin-1")
            for token in _calls_in(macro.body, in_function=True):
                if token.text not in own:
                    yield token, around


def _calls_in(tokens: Sequence[Token], in_function: bool) -> Iterator[Token]:
    """Calls; outside functions those in initialisers, and macros that stand for a whole line."""
    skip = 0
    depth = 0
    for index, token in enumerate(tokens):
        if index < skip:
            continue
        if token.kind == "punctuator":
            depth += (token.text == b"{") - (token.text == b"}")
            continue
        if token.kind != "identifier" or index + 1 >= len(tokens):
            continue
        if token.text in _ATTRIBUTES:
            opening = index + 1
            while opening < len(tokens) and tokens[opening].kind == "identifier":
                opening += 1
            if opening < len(tokens) and tokens[opening].text == b"(":
                closing = matching(tokens, opening)
                skip = len(tokens) if closing is None else closing + 1
            continue
        if tokens[index + 1].text != b"(" or token.text in NO_CALL:
            continue
        if _is_pointed_to(tokens, index + 2):
            continue
        before = tokens[index - 1] if index else None
        if _is_call(before, in_function or depth > 0):
            yield token


def _is_pointed_to(tokens: Sequence[Token], inside: int) -> bool:
    """Whether a parenthesis makes a pointer's type: `status_t (*)(int)`."""
    texts = [token.text for token in tokens[inside : inside + _LONGEST]]
    rest = [it for it in texts if it not in _QUALIFIERS]
    return rest[:2] == [b"*", b")"]


def _is_call(before: Token | None, in_code: bool) -> bool:
    if before is None or before.text in (b";", b"}"):
        return True
    if before.text in (b".", b"->", b"~", b"#", b"##", b">"):
        return before.text == b">" and in_code
    if before.kind == "identifier":
        return in_code and before.text in DECLARES_NOTHING
    return in_code or before.text == b"="
