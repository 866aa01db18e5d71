"""How a project is built: from its compile_commands.json, its Makefile, the project file of an IDE,
or a guess."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from porter.project.compile_options import CompileOptions
from porter.project.compiler_command import (
    DEFAULT_COMPILER,
    CompilerCommand,
    compiler_for,
    installed,
    merge,
    parse_command,
)
from porter.project.compiler_needs import with_needs, without_unknown
from porter.project.ide.choice import project_commands
from porter.project.linking import Linking, linkings, makes_library_alone
from porter.project.named_folders import named_folders
from porter.project.relocated import Relocated
from porter.project.source_tree import is_ported_copy
from porter.project.tree_copy import tree_copy
from porter.source.source_file import CPLUSPLUS_SUFFIXES

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_CUBE_IDE_FOLDERS = ("Debug", "Release")  # where STM32CubeIDE writes its makefiles
_MAKE_SECONDS = 120
_ENTERING = re.compile(r"make(?:\[\d+\])?: Entering directory '(.*)'")
_LEAVING = re.compile(r"make(?:\[\d+\])?: Leaving directory '(.*)'")
_PROGRAM = re.compile(r"([^\s:#%=$]+\.(?:elf|axf|out)):(?![=:])")
_DRY_RUN = ("--dry-run", "--always-make", "--print-directory", "--keep-going")
_STOPPED = re.compile(r"\*\*\* (.+?)\.?(?:  Stop\.)?$", re.MULTILINE)
GUESS = "guess"
_GUESSED_CPU = ("-mcpu=cortex-m4", "-mthumb")


@dataclass(frozen=True)
class Build:
    """`units`: options by compiled file, empty when nobody could tell; `options`: all together;
    `source`: who told; `complete`: whether `units` has every compiled file; `core_is_guess`: the
    files are known, and for which core they are compiled isn't; `moved`: folders of another machine
    and what was taken for them; `compilers`: the same of compilers that aren't here; `linked`: what
    is made of them, as far as make says it; `stopped`: why make couldn't say all, in its words;
    `missing`: files that are compiled and aren't there; `again`: other options of files that are
    compiled more than once; `refused`: options that no compiler here knows; `others`: files
    that are compiled and that nobody here can read."""

    units: dict[Path, CompileOptions]
    options: CompileOptions
    source: str
    complete: bool = True
    core_is_guess: bool = False
    moved: Mapping[str, Path] = field(default_factory=dict)
    compilers: Mapping[str, str] = field(default_factory=dict)
    linked: tuple[Linking, ...] = ()
    stopped: str = ""
    missing: tuple[Path, ...] = ()
    again: Mapping[Path, tuple[CompileOptions, ...]] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    others: tuple[Path, ...] = ()

    @property
    def flags(self) -> frozenset[str]:
        """The options of all files, each once."""
        ways = [self.options, *self.units.values(), *chain(*self.again.values())]
        return frozenset(flag for it in ways for flag in it.cpu_flags)

    @property
    def by_file(self) -> CompileOptions:
        """The options of all together, with each file's own."""
        own = {file: (options, *self.again.get(file, ())) for file, options in self.units.items()}
        real = {file.resolve(): them for file, them in own.items()}
        return replace(self.options, by_file={**real, **own})

    def each(self, change: Callable[[CompileOptions], CompileOptions]) -> Build:
        """The same with a change of all options."""
        return replace(
            self,
            units={file: change(options) for file, options in self.units.items()},
            options=change(self.options),
            again={file: tuple(map(change, them)) for file, them in self.again.items()},
        )

    @property
    def is_known(self) -> bool:
        """Whether the compiled files are known, so that the others are not part of the build."""
        return bool(self.units) and self.complete

    @property
    def is_guess(self) -> bool:
        """Whether nobody told for which core the files are compiled."""
        return self.source == GUESS or self.core_is_guess


def with_files(build: Build, files: Sequence[Path], said: CompileOptions | None = None) -> Build:
    """The same build with more compiled files, which get the options that a description says, or
    else those that all have together. A build that has none of the files is another program's where
    the description says how they are compiled."""
    if not build.units and said is None:
        return build
    known = {unit.resolve() for unit in build.units}
    more = {file: said or build.options for file in files if file.resolve() not in known}
    if said is not None and files and len(more) == len(files):
        return _checked(Build(more, said, "description"))
    return replace(build, units={**build.units, **more})


def with_folders(build: Build, folders: Sequence[Path]) -> Build:
    """The same build with include folders that nobody but the user knows, asked last."""

    def more(options: CompileOptions) -> CompileOptions:
        return replace(options, include_dirs=(*options.include_dirs, *folders))

    return build.each(more)


def read_build(
    root: Path,
    sources: Sequence[Path],
    stated_cpu: tuple[str, ...] = (),
    guessed_cpu: Callable[[], tuple[str, ...]] = tuple,
    wanted: Collection[Path] = (),
) -> Build:
    """Ask compile_commands.json, then make, then an IDE's project file; else every header's folder
    is an include folder, as are those from which #include lines have it, and the core, as compiler
    options, is what was stated, or a guess. `wanted`: files of the program that is asked for,
    where a folder may have project files of several."""
    return _checked(_read(root, sources, stated_cpu, guessed_cpu, wanted))


def _checked(build: Build) -> Build:
    """The same with options that compilers here know."""
    known = build.each(without_unknown)
    return replace(known, refused=tuple(sorted(build.flags - known.flags))).each(with_needs)


def _read(
    root: Path,
    sources: Sequence[Path],
    stated_cpu: tuple[str, ...],
    guessed_cpu: Callable[[], tuple[str, ...]],
    wanted: Collection[Path],
) -> Build:
    stopped = ""
    for source, read in _ASKED:
        told = read(root, wanted)
        stopped = told.stopped or stopped
        moved = Relocated(root)
        commands = list(map(moved.command, told.commands))
        compiled: dict[Path, dict[CompileOptions, None]] = {}
        for command in commands:
            for file in command.files:
                compiled.setdefault(file, {})[installed(command.options)] = None
        missing = [file for file in compiled if not file.is_file()]
        ways = {file: (*them,) for file, them in compiled.items() if file not in missing}
        units = {file: them[-1] for file, them in ways.items()}
        compilers = {
            command.options.compiler: units[file].compiler
            for command in commands
            for file in command.files
            if file in units and units[file].compiler != command.options.compiler
        }
        in_c_first = sorted(units, key=lambda file: file.suffix.lower() in CPLUSPLUS_SUFFIXES)
        options = merge(units[file] for file in in_c_first)
        if options is not None:
            linked = tuple(told.linked)
            build = Build(
                units,
                options,
                source,
                told.complete,
                False,
                {**told.moved, **moved.taken},
                compilers,
                linked,
                # What says all, or what it lacks, outranks what couldn't.
                "" if told.complete or told.missing else stopped,
                missing=tuple(dict.fromkeys((*told.missing, *missing))),
                others=tuple(dict.fromkeys(it for command in commands for it in command.others)),
                again={file: them[:-1] for file, them in ways.items() if len(them) > 1},
            )
            return _with_core(build, stated_cpu, guessed_cpu)
    folders = dict.fromkeys(path.parent for path in sources if path.suffix.lower() == ".h")
    guess = guessed_cpu() or _GUESSED_CPU
    cpu, source = (stated_cpu, "stated") if stated_cpu else (guess, GUESS)
    compiler = compiler_for(cpu)
    folders |= dict.fromkeys(named_folders(sources, compiler))
    if compiler != DEFAULT_COMPILER:  # where its C library is, nobody has told either
        cpu = (*cpu, "-ffreestanding")
    return Build({}, CompileOptions(tuple(folders), (), cpu, compiler), source, stopped=stopped)


def _with_core(
    build: Build, stated: tuple[str, ...], guessed: Callable[[], tuple[str, ...]]
) -> Build:
    """A build that names no core, such as the project file of a chip that isn't known, with what
    was stated, or with the guess that it is no Arm at all."""
    if any(flag.startswith(("-mcpu", "-march")) for flag in build.options.cpu_flags):
        return build
    cpu = stated or (guess if compiler_for(guess := guessed()) != DEFAULT_COMPILER else ())
    if not cpu:
        return build
    compiler = compiler_for(cpu)
    more = (*cpu, "-ffreestanding") if compiler != DEFAULT_COMPILER else cpu

    def on_core(options: CompileOptions) -> CompileOptions:
        return replace(options, cpu_flags=(*more, *options.cpu_flags), compiler=compiler)

    return replace(build.each(on_core), core_is_guess=not stated)


@dataclass(frozen=True)
class _Told:
    """What one of the ways to build a project says; `complete`: all that it compiles; `stopped`:
    why it couldn't say more, if it tried; `moved`: folders of another machine that are here;
    `missing`: files that it names and that aren't there."""

    commands: list[CompilerCommand]
    complete: bool
    linked: list[Linking] = field(default_factory=list)
    stopped: str = ""
    moved: Mapping[str, Path] = field(default_factory=dict)
    missing: tuple[Path, ...] = ()


def _compile_commands(root: Path, _wanted: Collection[Path]) -> _Told:
    return _Told(list(_compile_entries(root)), True)


def _compile_entries(root: Path) -> Iterator[CompilerCommand]:
    for place in (root, root / "build"):
        path = place / "compile_commands.json"
        if not path.is_file():
            continue
        try:
            entries = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        for entry in entries if isinstance(entries, list) else []:
            if not isinstance(entry, dict):
                continue
            folder = Path(str(entry.get("directory", place)))
            words = entry.get("arguments")
            if not isinstance(words, list):
                words = _words(str(entry.get("command", "")))
            command = parse_command([str(word) for word in words], folder)
            if command is not None:
                yield command


def _make_commands(root: Path, _wanted: Collection[Path]) -> _Told:
    """Commands of a dry run of make, and whether they are all: what make printed before it failed
    says nothing about the files that it didn't reach."""
    folders = make_folders(root)
    if not folders:
        return _Told([], False)
    stopped = ""
    try:
        with tree_copy(root) as copy:
            for folder in folders:
                best = _made(root, copy, folder, [])
                if not best.linked:
                    # What a file of dependencies begins with, an object, is made where no target
                    # is named.
                    whole = _made(root, copy, folder, ["all"])
                    best = max(best, whole, key=lambda it: len(it.commands))
                if not best.commands and (program := _program(copy / folder.relative_to(root))):
                    best = _made(root, copy, folder, [program])
                if best.commands:
                    return best
                stopped = stopped or best.stopped
    except OSError as error:  # no room for a copy
        stopped = f"the project can't be copied for it: {error.strerror}"
    return _Told([], False, stopped=stopped)


def _made(root: Path, copy: Path, folder: Path, target: list[str]) -> _Told:
    lines, stopped = _say(copy / folder.relative_to(root), [*_DRY_RUN, *target])
    complete, stopped = not stopped, stopped.replace(str(copy), str(root.resolve()))
    lines = [line.replace(str(copy), str(root.resolve())) for line in lines]
    calls = list(_calls_of(lines, folder))
    compiled = [it for it in (parse_command(*call) for call in calls) if it is not None]
    linked = linkings(calls)
    if makes_library_alone(calls):  # somebody else's makefile builds the programs
        complete = complete and not any(_makefiles_below(folder))
    return _Told(compiled, complete, linked, stopped)


def _makefiles_below(folder: Path) -> Iterator[Path]:
    """Those of other programs; an earlier port's copy is none."""
    for name in _MAKEFILES:
        for it in folder.rglob(name):
            around = [folder / part for part in it.relative_to(folder).parents[:-1]]
            if around and not any(map(is_ported_copy, around)):
                yield it


def _project_file(root: Path, wanted: Collection[Path]) -> _Told:
    commands, complete, moved, missing = project_commands(root, wanted)
    return _Told(commands, complete, moved=moved, missing=missing)


def make_folders(root: Path) -> list[Path]:
    """Where a project's makefiles are, the most likely first."""
    folders = (root, *(root / name for name in _CUBE_IDE_FOLDERS))
    return [it for it in folders if any((it / name).is_file() for name in _MAKEFILES)]


def _program(folder: Path) -> str | None:
    """The one target of a makefile that is a linked program; None for none or several."""
    lines, _ = _say(folder, ["--print-data-base", "--question", "--no-builtin-rules"])
    names = {found[1] for line in lines if (found := _PROGRAM.match(line))}
    return names.pop() if len(names) == 1 else None


def _say(folder: Path, options: list[str]) -> tuple[list[str], str]:
    """What make says, and why it stopped, "" if it didn't."""
    try:
        process = subprocess.run(
            ["make", *options],
            cwd=folder,
            env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_MAKE_SECONDS,
            check=False,
        )
    except OSError as error:
        return [], str(error.strerror)
    except subprocess.TimeoutExpired:
        return [], f"it took more than {_MAKE_SECONDS} s"
    text = process.stdout.decode("utf-8", "surrogateescape")
    lines = re.sub(r"\\\n", " ", text).splitlines()
    if process.returncode == 0:
        return lines, ""
    said = process.stderr.decode("utf-8", "replace")
    why = _STOPPED.search(said)
    return lines, why.group(1) if why is not None else f"status {process.returncode}"


def _calls_of(lines: Sequence[str], root: Path) -> Iterator[tuple[list[str], Path]]:
    """Words of each command that make would run, and the folder that it would run in."""
    folders = [root]
    for line in lines:
        if (entering := _ENTERING.match(line)) is not None:
            folders.append(Path(entering.group(1)))
        elif _LEAVING.match(line) is not None and len(folders) > 1:
            folders.pop()
        else:
            yield from _calls_in(line, folders[-1])


def _calls_in(line: str, folder: Path) -> Iterator[tuple[list[str], Path]]:
    words: list[str] = []
    for word in [*_words(line), ";"]:
        if word not in (";", "&&", "||", "|"):
            words.append(word)
            continue
        if len(words) == 2 and words[0] == "cd":
            folder = folder / words[1]
        elif words:
            yield words, folder
        words = []


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:  # an unbalanced quote: no command that a shell would run
        return []


_ASKED = (
    ("compile_commands.json", _compile_commands),
    ("make", _make_commands),
    ("project file", _project_file),
)
