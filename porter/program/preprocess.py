"""What the project's own compiler says about a file: its macros, types and compiled lines."""

from __future__ import annotations

import re
import tempfile
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from types import MappingProxyType

from porter.program.kept_elsewhere import definitions, known_by_extern
from porter.project.compile_options import CompileOptions
from porter.project.compiler_command import DEFAULT_COMPILER
from porter.project.compiler_run import ran
from porter.source.c_lexer import lex
from porter.source.c_tree import SyntaxTree
from porter.source.c_types import TypeTable
from porter.source.evaluate import Evaluator
from porter.source.grammar import CPLUSPLUS, C
from porter.source.macros import Macro, MacroTable, parse_define
from porter.source.source_file import CPLUSPLUS_SUFFIXES, HEADER_SUFFIXES

_WORKERS = 2
_MOST_DEFINITIONS = 8  # of a macro in one file: a list that is included with other macros has more
MARKER = re.compile(rb'# (\d+) "((?:[^"\\]|\\.)*)"')
_DIRECTIVE = re.compile(rb"(?m)^#(?:define|undef) .*$")
_NAME = re.compile(r"(?:\\.|[^\s\\])+")
_READ = {".c"} | CPLUSPLUS_SUFFIXES - HEADER_SUFFIXES
RUNTIME_INCLUDES = ("include", "arch/armv7m/include")
"""Folders of the runtime's headers."""


Lines = frozenset[int]
_Alike = dict[Lines, Lines]
"""Each set of lines once: of most headers, all units have the same."""


@dataclass
class TranslationUnit:
    """`lines`: per absolute path the lines of which something was compiled. `tree`: what the
    preprocessor made of them; `markers`: where in it which line of which file begins; `again`: the
    same of each other time that the file is compiled; `redefined`: what macros say, one after the
    other, that are defined in several ways: the evaluator has the last of each."""

    evaluator: Evaluator
    tree: SyntaxTree
    lines: dict[Path, Lines] = field(default_factory=dict)
    markers: list[tuple[int, Path | None, int]] = field(default_factory=list)
    again: tuple[TranslationUnit, ...] = ()
    redefined: dict[bytes, list[Macro]] = field(default_factory=dict)

    @property
    def readings(self) -> tuple[TranslationUnit, ...]:
        """All of them."""
        return (self, *self.again)

    def earlier(self, names: Iterable[bytes]) -> Iterator[Evaluator]:
        """Evaluators for places where one of these macros says something else than in the end; of
        one that says very many things, one that knows none of them."""
        asked = {name: self.redefined[name] for name in names if name in self.redefined}
        longest = min(max(map(len, asked.values()), default=1), _MOST_DEFINITIONS)
        for at in range(longest - 1):
            known = {name: (them[min(at, len(them) - 1)],) for name, them in asked.items()}
            yield self._with(known)
        if many := [it for it, them in asked.items() if len(them) > _MOST_DEFINITIONS]:
            yield self._with(dict.fromkeys(many, ()))

    def _with(self, definitions: Mapping[bytes, Sequence[Macro]]) -> Evaluator:
        return Evaluator(self.evaluator.macros.with_definitions(definitions), self.evaluator.types)

    def line_at(self, offset: int) -> tuple[Path | None, int]:
        """From which line of which file the preprocessor made what stands at an offset."""
        index = bisect_right(self.markers, offset, key=lambda marker: marker[0]) - 1
        start, path, line = self.markers[index]
        return path, line + self.tree.text.count(b"\n", start, offset)


def preprocess_all(
    units: Mapping[Path, CompileOptions],
    progress: Callable[[str], None] = lambda _message: None,
    again: Mapping[Path, Sequence[CompileOptions]] = MappingProxyType({}),
) -> dict[Path, TranslationUnit]:
    """One translation unit a file; those that the compiler can't preprocess are missing. `again`:
    other options of files that are compiled several times."""
    progress(f"preprocessing {len(units)} files")
    texts = preprocessed(units)[0]
    defined = definitions(texts.values())
    alike: _Alike = {}
    found = {}
    for number, (file, text) in enumerate(texts.items(), start=1):
        progress(f"reading {file.name} as it is preprocessed ({number} of {len(texts)})")
        found[file] = _read(text, file, known_by_extern(text, defined), alike)
    for number in range(max(map(len, again.values()), default=0)):
        more = {file: them[number] for file, them in again.items() if number < len(them)}
        for file, text in preprocessed(more)[0].items():
            unit = _read(text, file, known_by_extern(text, defined), alike)
            if (first := found.setdefault(file, unit)) is not unit:
                first.again += (unit,)
    return found


def preprocessed(
    units: Mapping[Path, CompileOptions],
) -> tuple[dict[Path, bytes], dict[Path, str]]:
    """The preprocessed text of each file of C or C++ with its #defines, and of those that the
    compiler refuses its first error."""
    wanted = {file: options for file, options in units.items() if file.suffix.lower() in _READ}
    with tempfile.TemporaryDirectory() as stubs, as_file(files("fvm-runtime")) as runtime:
        Path(stubs, "fvm_domain.h").write_text("", encoding="ascii")
        ours = [Path(stubs), *(Path(runtime, name) for name in RUNTIME_INCLUDES)]

        def run(item: tuple[Path, CompileOptions]) -> bytes | str:
            return _run(item[0], item[1], ours)

        with ThreadPoolExecutor(_WORKERS) as pool:
            found = dict(zip(wanted, pool.map(run, wanted.items()), strict=True))
    return (
        {file: text for file, text in found.items() if isinstance(text, bytes)},
        {file: error for file, error in found.items() if isinstance(error, str)},
    )


def assembled_lines(file: Path, options: CompileOptions) -> frozenset[int] | None:
    """The lines of an assembler file of which the preprocessor leaves something; None where it
    can't be asked."""
    text = _run(file, options, [])
    if isinstance(text, str):
        return None
    types = TypeTable()
    unit = TranslationUnit(Evaluator(MacroTable(), types), types.add_text(b"", C))
    _note_lines(unit, text, file.parent, {})
    return unit.lines.get(file.resolve(), frozenset())


def files_read(file: Path, options: CompileOptions) -> frozenset[Path] | None:
    """What the compiler reads of a file and what it includes, were all headers that nobody has
    empty; None where it can't go on without them."""
    text = _run(file, options, [], ("-M", "-MG"))
    if isinstance(text, str):
        return None
    rule = text.decode("utf-8", "surrogateescape").partition(": ")[2].replace("\\\n", " ")
    names = (it.replace("\\ ", " ").replace("$$", "$") for it in _NAME.findall(rule))
    return frozenset(Path(file.parent, name).resolve() for name in names)


def _run(
    file: Path, options: CompileOptions, ours: list[Path], what: Sequence[str] = ("-E", "-dD")
) -> bytes | str:
    arguments = [
        *options.arguments,
        *(f"-D{name}" for name in options.defines),
        *(f"-I{path}" for path in (*options.include_dirs, *ours)),
        str(file),
    ]
    complaint = ""
    for compiler in dict.fromkeys((options.compiler, DEFAULT_COMPILER)):
        try:
            process = ran([compiler, *what, *arguments], folder=file.parent)
        except OSError as error:
            complaint = f"{compiler} can't be run: {error}"
            continue
        if process.returncode == 0:
            return process.stdout
        lines = process.stderr.decode("utf-8", "replace").splitlines()
        errors = (line.strip() for line in lines if "error" in line)
        complaint = next(errors, "the compiler refuses it")
    return complaint


def _read(text: bytes, file: Path, elsewhere: bytes, alike: _Alike) -> TranslationUnit:
    macros = MacroTable()
    redefined: dict[bytes, list[Macro]] = {}
    last: dict[bytes, Macro] = {}
    for line in _DIRECTIVE.findall(text):
        name, macro = _meaning(line)
        if macro is not None:
            if not macro.is_same(before := last.setdefault(macro.name, macro)):
                redefined.setdefault(macro.name, [before]).append(macro)
                last[macro.name] = macro
            macros.redefine(macro)
        elif name:
            macros.undefine(name)
    text = _DIRECTIVE.sub(b"#", text)  # nine tenths of it; a line with something, as it was
    types = TypeTable()
    grammar = CPLUSPLUS if file.suffix.lower() in CPLUSPLUS_SUFFIXES else C
    unit = TranslationUnit(Evaluator(macros, types), types.add_text(text, grammar))
    unit.redefined = redefined
    if elsewhere:
        types.add_text(elsewhere, grammar)
    _note_lines(unit, text, file.parent, alike)
    unit.lines.setdefault(file.resolve(), frozenset())  # of which nothing is compiled, it may be
    return unit


@lru_cache(maxsize=1 << 16)
def _meaning(line: bytes) -> tuple[bytes, Macro | None]:
    """The macro of a #define, or the name of an #undef. A chip's header says the same thousands to
    every file that includes it."""
    for directive in lex(b"\n" + line).directives:  # behind an end of line a #define is a plain one
        if directive.name == b"undef" and directive.subject:
            return directive.subject, None
        return b"", parse_define(directive)
    return b"", None


def _note_lines(unit: TranslationUnit, text: bytes, folder: Path, alike: _Alike) -> None:
    known: dict[bytes, Path | None] = {}
    lines: dict[Path, set[int]] = {}
    path: Path | None = None
    line = offset = 0
    unit.markers.append((0, None, 0))
    for content in text.split(b"\n"):
        offset += len(content) + 1
        marker = MARKER.match(content)
        if marker is None:
            if path is not None and content.strip():
                lines.setdefault(path, set()).add(line)
            line += 1
            continue
        line = int(marker.group(1))
        name = marker.group(2)
        if name not in known:
            known[name] = _path(name, folder)
        path = known[name]
        unit.markers.append((offset, path, line))
    for path, numbers in lines.items():
        found = frozenset(numbers)
        unit.lines[path] = alike.setdefault(found, found)


def _path(name: bytes, folder: Path) -> Path | None:
    if name.startswith(b"<"):
        return None
    text = re.sub(rb"\\(.)", rb"\1", name).decode("utf-8", "surrogateescape")
    return Path(folder, text).resolve()
