"""Which headers a project's #include lines name, where they are, and which of them nobody has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path, PurePosixPath

from porter.program.arms import ImpossibleArms
from porter.program.closure import closure
from porter.program.preprocess import RUNTIME_INCLUDES
from porter.project.build import Build
from porter.project.compiler_command import DEFAULT_COMPILER, compiler_for
from porter.project.toolchain import header_folders
from porter.source.asm_text import dialect_of, without_remarks
from porter.source.assembler_text import taken_in
from porter.source.c_lexer import Directive, LexedSource, lex
from porter.source.conditions import ConditionMap
from porter.source.macros import parse_define
from porter.source.source_file import SourceFile, is_included

_WRITTEN_LATER = frozenset({"fvm_domain.h"})
_CPLUSPLUS = frozenset(
    b"""algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv
    chrono cinttypes ciso646 climits clocale cmath codecvt compare complex concepts
    condition_variable coroutine csetjmp csignal cstdarg cstdbool cstddef cstdint cstdio cstdlib
    cstring ctgmath ctime cuchar cwchar cwctype deque exception execution filesystem format
    forward_list fstream functional future initializer_list iomanip ios iosfwd iostream istream
    iterator latch limits list locale map memory memory_resource mutex new numbers numeric optional
    ostream queue random ranges ratio regex scoped_allocator semaphore set shared_mutex
    source_location span sstream stack stdexcept stop_token streambuf string string_view
    strstream syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map
    unordered_set utility valarray variant vector version""".split()
)
"""Headers of the C++ library, which not every cross compiler has beside it."""


@dataclass(frozen=True)
class Include:
    """An #include line. `name` is empty where only a macro says it; `target`: the file in the
    project or in its include folders; `word`: what takes it in."""

    file: Path
    offset: int
    name: str
    conditions: tuple[str, ...]
    target: Path | None = None
    is_found: bool = False
    word: str = "#include"


class Includes:
    """Answers for all C files of a project. `outside`: headers in its include folders that aren't
    part of it, and are read but never ported."""

    def __init__(
        self,
        build: Build,
        sources: Sequence[SourceFile],
        lexed: Mapping[Path, LexedSource],
        arms: ImpossibleArms,
        seen: Collection[Path] = (),
    ) -> None:
        """`seen`: what the compiler read of files and their headers, if it read all of them."""
        self._build = build
        self._arms = arms
        self._seen = seen
        self._by_name: dict[str, list[Path]] = {}
        for source in sources:
            self._by_name.setdefault(source.path.name, []).append(source.path.resolve())
        compilers = (build.options.compiler, compiler_for(build.options.cpu_flags),
                     DEFAULT_COMPILER)  # fmt: skip
        self._system = [it for name in dict.fromkeys(compilers) for it in header_folders(name)]
        self._macros = _header_names(lexed.values())
        self._there: dict[tuple[Path, str], Include | None] = {}
        self.outside: dict[Path, LexedSource] = {}
        self.by_file: dict[Path, list[Include]] = {}
        self._read(lexed)
        self._rule_out()

    def _read(self, lexed: Mapping[Path, LexedSource]) -> None:
        """Every file, and the headers outside the project that they lead to in this build: a
        vendor's header of one chip stands beside dozens of others."""
        waiting = dict(lexed)
        while waiting:
            path, text = waiting.popitem()
            self.by_file[path] = list(self._of(path, text))
            for include in self.by_file[path]:
                target = include.target
                is_new = target not in lexed and target not in self.outside
                if target is not None and is_new and not self._is_unseen(include):
                    self.outside[target] = waiting[target] = lex(_read(target))

    def missing(self, files: Iterable[Path]) -> Iterator[tuple[Include, bool]]:
        """What these files include, or what they do, that is nowhere; whether they certainly do."""
        files = list(files)
        compiled = (path for path in files if not is_included(path))
        certain = self.reached(compiled, is_certain=True)
        for path in sorted(self.reached(files)):
            for include in self.by_file.get(path, ()):
                if include.name and not include.is_found and not self._is_out(include):
                    yield include, path in certain and self._arms.all_hold(include.conditions)

    def missing_in_assembler(self, files: Iterable[SourceFile]) -> Iterator[tuple[Include, bool]]:
        """The same of lines in assembler files, which no compiler run was asked about."""
        for file in files:
            for include, is_certain in self._of_assembler(file):
                if include.name and not include.is_found and not self._is_out(include):
                    yield include, is_certain and self._arms.all_hold(include.conditions)

    def _of_assembler(self, file: SourceFile) -> Iterator[tuple[Include, bool]]:
        """What a file takes in by the preprocessor, which GNU's .s may not meet, and by its
        assembler."""
        path, dialect = file.path.resolve(), dialect_of(file.data)
        lexed = lex(without_remarks(file.data, dialect))
        is_open = path.suffix == ".s" and dialect == "gnu"
        plain = self._build.options.plain_asm if is_open else False
        if not plain:
            yield from ((it, plain is False) for it in self._of(path, lexed))
        conditions = ConditionMap(lexed)
        for it in taken_in(file.data):
            around = conditions.arm(it.offset).conditions
            include = Include(path, it.offset, it.name, around, word=it.word)
            yield self._resolved(include), it.is_certain

    def reached(self, files: Iterable[Path], is_certain: bool = False) -> set[Path]:
        """These files and what they include, arms aside that the build can't contain; or only what
        they certainly include."""

        def included(path: Path) -> Iterator[Path]:
            for include in self.by_file.get(path, ()):
                uncertain = is_certain and not self._arms.all_hold(include.conditions)
                if not uncertain and not self._is_out(include):
                    yield from self._targets(include)

        return closure(files, included)

    def toolchain(self, files: Iterable[Path]) -> set[str]:
        """Names of the compiler's own headers among what these files include."""
        return {
            include.name
            for path in files
            for include in self.by_file.get(path, ())
            if include.is_found and include.target is None
        }

    def _rule_out(self) -> None:
        """Tell the arms which headers are only included where the build can't come."""
        if any(not include.name for found in self.by_file.values() for include in found):
            return  # a macro says which: it may be any
        named = {
            path
            for found in self.by_file.values()
            for include in found
            for path in self._targets(include)
        }
        roots = {path for path in self.by_file if not is_included(path) or path not in named}
        reached = self.reached(roots)
        for path in named - reached:
            self._arms.rule_out(
                path, f"only included where {self._why_out(path)}: not in this build"
            )

    def _why_out(self, path: Path) -> str:
        for found in self.by_file.values():
            for include in found:
                if path in self._targets(include):
                    condition = self._arms.false_one(include.conditions)
                    if condition is not None:
                        return condition
        return "another header is, that isn't in this build either"

    def _is_out(self, include: Include) -> bool:
        return (
            self._arms.false_one(include.conditions) is not None
            or self._arms.never(include.file) is not None
        )

    def _targets(self, include: Include) -> Sequence[Path]:
        """Every file that may be meant: of one name there can be several."""
        if include.target is not None and include.target in self.outside:
            return (include.target,)
        return self._by_name.get(PurePosixPath(include.name).name, ())

    def _is_unseen(self, include: Include) -> bool:
        """Whether the compiler came past a line and not to its header."""
        return include.file in self._seen and include.target not in self._seen

    def _of(self, path: Path, lexed: LexedSource) -> Iterator[Include]:
        conditions = self._arms.conditions.get(path) or ConditionMap(lexed)
        if path.suffix.lower() == ".ino":
            yield self._resolved(Include(path, 0, "Arduino.h", ()))
        for directive in lexed.directives:
            if directive.name not in (b"include", b"include_next", b"import"):
                continue
            around = conditions.arm(directive.start).conditions
            names = list(self._names(directive))
            if not names:
                yield Include(path, directive.start, "", around)
            for name in names:
                yield self._resolved(Include(path, directive.start, name, around))

    def _names(self, directive: Directive) -> Iterator[str]:
        """The header of a line, or those that a macro may name."""
        tokens = directive.tokens
        if tokens and tokens[0].kind == "string":
            yield tokens[0].text.strip(b'"').decode("utf-8", "replace")
        elif tokens and tokens[0].text == b"<":
            text = b"".join(token.text for token in tokens)
            yield text[1:].partition(b">")[0].decode("utf-8", "replace")
        elif len(tokens) == 1 and tokens[0].kind == "identifier":
            yield from self._macros.get(tokens[0].text, ())

    def _resolved(self, include: Include) -> Include:
        key = (include.file.parent, include.name)
        if key not in self._there:
            self._there[key] = self._look(include)
        found = self._there[key]
        if found is None:
            return include
        return replace(include, target=found.target, is_found=True)

    def _look(self, include: Include) -> Include | None:
        name = include.name.replace("\\", "/")
        folders = [include.file.parent, *self._build.options.include_dirs]
        for folder in folders:
            candidate = folder / name
            if candidate.is_file():
                return Include(include.file, 0, name, (), candidate.resolve(), True)
        wanted = PurePosixPath(name).parts
        parts = [it for it in wanted if it not in (".", "..")]
        for path in self._by_name.get(PurePosixPath(name).name, ()):
            if list(path.parts[-len(parts) :]) == parts:
                return Include(include.file, 0, name, (), path, True)
        if (
            name in _WRITTEN_LATER
            or name.encode() in _CPLUSPLUS
            or any((it / name).is_file() for it in self._system)
        ):
            return Include(include.file, 0, name, (), None, True)
        with as_file(files("fvm-runtime")) as runtime:
            if any(Path(runtime, folder, name).is_file() for folder in RUNTIME_INCLUDES):
                return Include(include.file, 0, name, (), None, True)
        return None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _header_names(lexed: Iterable[LexedSource]) -> dict[bytes, list[str]]:
    """Macros that stand for the name of a header."""
    found: dict[bytes, list[str]] = {}
    for text in lexed:
        for directive in text.directives:
            macro = parse_define(directive)
            if macro is None or macro.parameters is not None or not macro.text:
                continue
            spelt = macro.text
            if len(spelt) == 1 and spelt[0].endswith(b'"'):
                name = spelt[0].strip(b'"').decode("utf-8", "replace")
                found.setdefault(macro.name, []).append(name)
            elif spelt[0] == b"<" and spelt[-1] == b">":
                name = b"".join(spelt[1:-1]).decode("utf-8", "replace")
                found.setdefault(macro.name, []).append(name)
    return found
