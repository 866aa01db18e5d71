"""Places of a source tree that the porter has to have a verdict for, by words and regular
expressions alone. It errs by asking too much: a person reads its misses."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.trees.assembler import assembler_places
from tests.trees.facts import (
    ASM_WORDS,
    BLOCKS,
    ENCODING,
    INTRINSICS,
    LIBRARY_CALLS,
    SYSTEM_ADDRESS,
)
from tests.trees.instructions import instructions_in
from tests.trees.place import Place
from tests.trees.words import Macro, Text, Word, read_text

C_SUFFIXES = frozenset({".c", ".h", ".inc", ".inl", ".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh",
                        ".hxx", ".ino"})  # fmt: skip
ASM_SUFFIXES = frozenset({".s", ".asm", ".sx", ".s79"})
_SKIPPED = frozenset({".git", ".svn", ".hg", "__pycache__", ".venv", "node_modules"})
_COPY = ".fvm-port.json"
_NOT_TYPES = frozenset({"return", "else", "do", "case", "goto", "throw", "co_return"})
_LONG = 40  # words: a longer macro is code
_SCRIPT = re.compile(r"(?m)^\s*(?:SECTIONS|MEMORY)\s*\{")


@dataclass(frozen=True)
class Tree:
    """What was read: lines of source, the places, and where macros with places are used."""

    lines: int
    files: int
    places: tuple[Place, ...]
    uses: Mapping[str, tuple[Place, ...]]


def read_tree(root: Path) -> Tree:
    """All places below a folder."""
    texts: dict[str, Text] = {}
    places: list[Place] = []
    lines = files = 0
    for path in sources(root):
        data = path.read_bytes().decode("latin-1")
        name = path.relative_to(root).as_posix()
        files, lines = files + 1, lines + data.count("\n")
        if path.suffix.lower() in ASM_SUFFIXES:
            places += assembler_places(name, data)
        elif not _SCRIPT.search(data):
            texts[name] = read_text(data)
    places += c_places(texts)
    macros = {place.macro for place in places if place.macro}
    return Tree(lines, files, tuple(sorted(set(places))), uses_of(texts, macros))


def sources(root: Path) -> Iterator[Path]:
    """Source files, none of ported copies; links to folders aren't followed."""
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(
            name for name in subfolders
            if name not in _SKIPPED and not Path(folder, name, _COPY).exists()
        )  # fmt: skip
        for name in sorted(names):
            path = Path(folder, name)
            if path.suffix.lower() in C_SUFFIXES | ASM_SUFFIXES and path.is_file():
                yield path


def c_places(texts: dict[str, Text]) -> Iterator[Place]:
    """Places in the C of a tree: macros of all files are known in each."""
    known = _Known(texts)
    for name, text in texts.items():
        for place in _in_words(name, text.code, known):
            yield place
        for macro in text.macros:
            if not known.names_register(macro) and not ENCODING.match(macro.name):
                for place in _in_words(name, macro.body, known):
                    yield place.within(macro.line, macro.last, macro.name)
                if call := known.named_by(macro):
                    yield Place(name, macro.line, macro.last, "call", call, macro.name)


def uses_of(texts: dict[str, Text], macros: set[str]) -> dict[str, tuple[Place, ...]]:
    """Where the code, or another macro that code uses, names one of these macros."""
    wanted = set(macros)
    found: dict[str, list[Place]] = {}
    for _ in range(8):  # macros of macros
        more: set[str] = set()
        for file, text in texts.items():
            for macro in text.macros:
                for word in macro.body:
                    if word.kind == "name" and word.text in wanted and word.text != macro.name:
                        place = Place(file, macro.line, macro.last, "use", word.text, macro.name)
                        found.setdefault(word.text, []).append(place)
                        more.add(macro.name)
        for file, text in texts.items():
            for word in text.code:
                if word.kind == "name" and word.text in wanted:
                    place = Place(file, word.line, word.last, "use", word.text)
                    found.setdefault(word.text, []).append(place)
        wanted = more - found.keys()
    return {name: tuple(dict.fromkeys(places)) for name, places in found.items()}


class _Known:
    """Names of a tree that stand for a place."""

    def __init__(self, texts: dict[str, Text]) -> None:
        self._macros: dict[str, list[Macro]] = {}
        self._system: dict[str, bool] = {}
        defined: set[str] = set()
        for text in texts.values():
            for macro in text.macros:
                self._macros.setdefault(macro.name, []).append(macro)
            defined |= set(_defined(text.code))
        self.calls = INTRINSICS | (LIBRARY_CALLS - defined - self._macros.keys())
        self.registers = {
            name for name, macros in self._macros.items() if any(map(self.names_register, macros))
        }

    def named_by(self, macro: Macro) -> str:
        """The call that a macro is another name of; "" where it isn't one."""
        words = [it.text for it in macro.body if it.text not in "()"]
        is_alias = not macro.has_arguments and len(words) == 1 and words[0] in self.calls
        return words[0] if is_alias else ""

    def names_register(self, macro: Macro) -> bool:
        """Whether a macro is no code but one register of the system by its address."""
        texts = [word.text for word in macro.body]
        is_expression = not {";", "{", "=", "->"} & set(texts)
        return is_expression and "*" in texts and self._reaches_system(macro)

    def _reaches_system(self, macro: Macro) -> bool:
        """Whether a number of the system is in a macro, or in one that it uses."""
        return any(
            SYSTEM_ADDRESS.match(word.text) is not None
            or (word.kind == "name" and self._names_system(word.text))
            for word in macro.body
        )

    def _names_system(self, name: str) -> bool:
        if name not in self._system:
            self._system[name] = False  # while it is looked for: a macro may name itself
            self._system[name] = any(
                self._reaches_system(it)
                for it in self._macros.get(name, ())
                if len(it.body) < _LONG
            )
        return self._system[name]


def _defined(words: Sequence[Word]) -> Iterator[str]:
    """Functions with a body: NAME ( ... ) {."""
    depth, name, opened = 0, "", ""
    for number, word in enumerate(words):
        if word.text == "(":
            if depth == 0 and number and words[number - 1].kind == "name":
                opened = words[number - 1].text
            depth += 1
        elif word.text == ")":
            depth = max(depth - 1, 0)
            name = opened if depth == 0 else name
        elif word.text == "{" and name:
            yield name
            name = ""
        elif depth == 0 and word.text not in ("const", "noexcept", "override"):
            name = ""


def _in_words(file: str, words: Sequence[Word], known: _Known) -> Iterator[Place]:
    for number, word in enumerate(words):
        if word.kind == "number" and SYSTEM_ADDRESS.match(word.text):
            yield Place(file, word.line, word.last, "address", word.text)
        if word.kind != "name":
            continue
        behind = words[number + 1].text if number + 1 < len(words) else ""
        is_prototype = [it.text for it in words[number + 1 : number + 4]] == ["(", "void", ")"]
        before = words[number - 1] if number else None
        if word.text in ASM_WORDS:
            yield from _asm(file, words, number)
        elif word.text in BLOCKS and behind == "->":
            yield Place(file, word.line, words[number + 1].last, "register", word.text)
        elif word.text in known.registers and not _is_declared(before):
            yield Place(file, word.line, word.last, "register", word.text)
        elif is_prototype:
            continue  # f(void), whatever macro is around it
        elif word.text in known.calls and behind == "(" and not _is_declared(before):
            yield Place(file, word.line, words[number + 1].last, "call", word.text)


def _is_declared(before: Word | None) -> bool:
    """Whether the word behind this one is being declared: it stands behind a type."""
    if before is None:
        return False
    return (before.kind == "name" and before.text not in _NOT_TYPES) or before.text == "~"


def _asm(file: str, words: Sequence[Word], number: int) -> Iterator[Place]:
    """Instructions of one statement, or of a function of Arm's compiler."""
    start = next(
        (n for n in range(number + 1, len(words)) if words[n].text in ("(", "{", ";")), len(words)
    )
    if start == len(words) or words[start].text == ";":
        return
    closing = _closing(words, start)
    if words[start].text == "(" and any(it.kind == "string" for it in words[start:closing]):
        for row in _strings(words[start:closing]):
            yield from instructions_in(file, row.text, row.line, row.last)
        return
    if words[start].text == "(":  # __asm void f(int) { ... }
        if closing + 1 >= len(words) or words[closing + 1].text != "{":
            return
        start, closing = closing + 1, _closing(words, closing + 1)
    by_line: dict[int, list[str]] = {}
    for word in words[start + 1 : closing]:
        by_line.setdefault(word.line, []).append(word.text)
    for line, texts in by_line.items():
        yield from instructions_in(file, " ".join(texts), line, line)


def _strings(words: Sequence[Word]) -> Iterator[Word]:
    """Lines of a statement's text; one may be made of several strings."""
    row: Word | None = None
    for word in [*words, None]:
        if word is not None and word.kind == "string":
            inner = word.text[word.text.find('"') + 1 :].removesuffix('"')
            text = inner if row is None else row.text + inner
            row = Word("string", text, word.line if row is None else row.line, word.last)
        ends = word is None or word.kind != "string" or row is None
        if row is not None and (ends or row.text.endswith(("\\n", "\\n\\t", ";"))):
            yield row
            row = None


def _closing(words: Sequence[Word], start: int) -> int:
    opening, ending = words[start].text, {"(": ")", "{": "}"}[words[start].text]
    depth = 0
    for number in range(start, len(words)):
        depth += (words[number].text == opening) - (words[number].text == ending)
        if depth == 0:
            return number
    return len(words)
