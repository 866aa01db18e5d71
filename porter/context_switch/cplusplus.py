"""The C++ of a project. Nobody follows what it does, so it is asked for its words: of each file as
the compiler gets it, with what the file includes and uses.

Of headers only functions count that the rest names, or that no word makes harmless: each file that
includes a chip's header has functions that wait, or ask for masks and stack pointers.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from porter.context_switch.armcc import suited
from porter.context_switch.asm_statements import template_of
from porter.context_switch.assemble import CompileError, preprocessed_by_file
from porter.context_switch.result import NotTranscribable
from porter.project.compile_options import CompileOptions
from porter.source.c_tree import Node, SyntaxTree, ancestors, captured, query, text_of
from porter.source.comments import blank, without_comments
from porter.source.grammar import CPLUSPLUS
from porter.source.source_file import CPLUSPLUS_SUFFIXES, HEADER_SUFFIXES

_HEADERS = HEADER_SUFFIXES - {".inc", ".inl"} | {""}  # "": the library's own
_WORD = re.compile(rb"\w+")
_ASM = re.compile(rb"\b(?:__)?asm(?:__)?\b")
_MISSING = re.compile(r"\b(\w+(?:/\w+)*): No such file or directory")
_MOST_MISSING = 40
_FUNCTIONS = query("(function_definition) @it")
_INLINE = re.compile(rb"\b(?:static|inline|__inline|__inline__|constexpr|consteval)\b")
_INLINE_AROUND = frozenset({"field_declaration_list", "template_declaration"})


@dataclass(frozen=True)
class _Function:
    """`name`: the last word of it. `is_inline`: whether a compiler makes it only where something
    names it by that."""

    node: Node
    name: bytes
    is_inline: bool

    @property
    def span(self) -> slice:
        """Where it is."""
        return slice(self.node.start_byte, self.node.end_byte)


@dataclass(frozen=True)
class CplusplusText:
    """Files that have a name, of which `file` is the first. `text`: as they are written, as the
    compiler gets them, and as the assembler does; `statements`: their asm; `unread`: why there may
    be more, or ""."""

    file: Path
    text: bytes
    statements: tuple[Node, ...]
    unread: str


class _Code:
    """`own`: without what only headers declare."""

    def __init__(self, own: bytes, problem: str = "") -> None:
        self.own, self._problem = own, problem

    @cached_property
    def _tree(self) -> SyntaxTree:
        return SyntaxTree(self.own, 0, grammar=CPLUSPLUS)

    @cached_property
    def words(self) -> frozenset[bytes]:
        """All of them."""
        return frozenset(_WORD.findall(self.own))

    @cached_property
    def defines(self) -> frozenset[bytes]:
        """The last words of the names of functions that have a body here, for others too."""
        return frozenset(self.definitions)

    @cached_property
    def definitions(self) -> dict[bytes, Node]:
        """These functions, one of several that have the same."""
        return {it.name: it.node for it in _functions(self._tree) if not it.is_inline}

    @cached_property
    def asm(self) -> tuple[list[Node], str]:
        """Asm statements, and why there may be more."""
        found, lost = [], self._problem
        for word in _asm_words(self._tree):
            if word.parent is not None and word.parent.type == "gnu_asm_expression":
                found.append(word.parent)
            else:
                lost = lost or "has asm that can't be read"
        return found, lost


class Cplusplus:
    """Looks at files of C++, headers among them, when somebody asks for a name."""

    def __init__(self, files: Iterable[Path], headers: list[Path], options: CompileOptions) -> None:
        files = [file for file in files if file.suffix.lower() in CPLUSPLUS_SUFFIXES]
        self._files = sorted(files, key=lambda file: file.suffix.lower() in HEADER_SUFFIXES)
        self._headers, self._options = headers, options
        self._code = cache(self._read)
        self._written = cache(lambda file: without_comments(file.read_bytes()))
        self.naming = cache(self._naming)

    def words(self) -> set[bytes]:
        """All of them but what only headers declare."""
        return {word for file in self._files for text in self._texts(file)
                for word in _WORD.findall(text)}  # fmt: skip

    def definitions(self, name: bytes) -> list[Node]:
        """Functions of a name, whatever stands in front of it."""
        found = (self._code(file).definitions.get(name) for file in self._files)
        return [it for it in found if it is not None]

    def _texts(self, file: Path) -> tuple[bytes, bytes]:
        return self._written(file), self._code(file).own

    def _naming(self, name: bytes) -> CplusplusText | None:
        """The files that have a name; where some of them define it, these and what they lead to."""
        word = re.compile(rb"\b%s\b" % re.escape(name))
        found = [it for it in self._files if any(map(word.search, self._texts(it)))]
        found = [it for it in found if name in self._code(it).defines] or found
        if not found:
            return None
        for file in found:
            names = self._code(file).words
            others = (it for it in self._files if it not in found)
            found += [it for it in others if not names.isdisjoint(self._code(it).defines)]
        asm = [self._code(file).asm for file in found]
        statements = tuple(statement for some, _ in asm for statement in some)
        texts = (text for file in found for text in self._texts(file))
        return CplusplusText(
            found[0],
            b"\n".join((*texts, *map(template_of, statements))),
            statements,
            next((why for _, why in asm if why), ""),
        )

    def _read(self, file: Path) -> _Code:
        if file.suffix.lower() in HEADER_SUFFIXES:
            return _Code(self._written(file))
        try:
            return _code_of(self._preprocessed(file))
        except (CompileError, NotTranscribable) as error:
            why = f"can't be preprocessed with the project's options ({error})"
            return _Code(self._written(file), why)

    def _preprocessed(self, file: Path) -> list[tuple[Path, str]]:
        """Runs of lines by file, of each time that it is compiled. Headers of the C++ library that
        no folder has are empty."""
        ways = self._options.readings(file)
        return [run for options in ways for run in self._runs(file, options)]

    def _runs(self, file: Path, own: CompileOptions) -> list[tuple[Path, str]]:
        with (
            tempfile.TemporaryDirectory(prefix="fvmkit-") as folder,
            suited(file, self._headers, own) as options,
        ):
            behind = (*options.cpu_flags, "-xc++", "-idirafter", folder)
            options = replace(options, cpu_flags=behind)
            for _ in range(_MOST_MISSING):
                try:
                    return preprocessed_by_file(file, options)
                except CompileError as error:
                    missing = _MISSING.search(str(error))
                    if missing is None:
                        raise
                    place = Path(folder, missing.group(1))
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.touch()
            return preprocessed_by_file(file, options)


def _code_of(runs: list[tuple[Path, str]]) -> _Code:
    whole, own, of_header = bytearray(), bytearray(), bytearray()  # the last: whether each byte is
    for file, run in runs:
        text, is_header = run.encode("latin-1", "replace") + b"\n", file.suffix.lower() in _HEADERS
        whole += text
        own += blank(text) if is_header else text
        of_header += bytes([is_header]) * len(text)
    tree = SyntaxTree(bytes(whole), 0, grammar=CPLUSPLUS)
    functions = [it for it in _functions(tree) if of_header[it.span.start]]
    for span in (*(it.span for it in functions if not it.is_inline), *_asm_outside(tree)):
        own[span] = tree.text[span]
    _take_used(own, tree.text, [it for it in functions if it.is_inline])
    return _Code(bytes(own))


def _take_used(own: bytearray, whole: bytes, possible: list[_Function]) -> None:
    """Functions of headers that what counts names, and so on."""
    words, before = set(_WORD.findall(own)), -1
    while len(words) != before:
        before = len(words)
        for it in possible:
            if it.name in words:
                own[it.span] = whole[it.span]
                words.update(_WORD.findall(whole[it.span]))


def _functions(tree: SyntaxTree) -> Iterator[_Function]:
    for it in captured(tree.root, _FUNCTIONS, "it"):
        declarator, body = it.child_by_field_name("declarator"), it.child_by_field_name("body")
        head = tree.text[it.start_byte : body.start_byte if body else it.end_byte]
        words = _WORD.findall(text_of(declarator).partition(b"(")[0]) if declarator else []
        is_inline = bool(words) and b"operator" not in words
        is_inline &= bool(_INLINE.search(head)) or any(
            around.type in _INLINE_AROUND for around in ancestors(it)
        )
        yield _Function(it, words[-1] if words else b"", is_inline)


def _asm_outside(tree: SyntaxTree) -> Iterator[slice]:
    """Asm in no function, and what may have some and isn't understood."""
    for word in _asm_words(tree):
        around = list(ancestors(word))
        kinds = {it.type for it in around}
        if not kinds & {"function_definition", "declaration", "field_declaration"}:
            whole = around[-2] if len(around) > 1 else word
            yield slice(whole.start_byte, whole.end_byte)


def _asm_words(tree: SyntaxTree) -> Iterator[Node]:
    for match in _ASM.finditer(tree.text):
        word = tree.smallest(*match.span())
        if word is not None and not word.type.startswith(("string", "escape", "raw", "comment")):
            yield word
