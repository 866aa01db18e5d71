"""One compiler call, as a build tool would run it: what it compiles and with which options."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PureWindowsPath
from shutil import which

from porter.project.compile_options import CompileOptions
from porter.project.given_options import Input, given_by
from porter.source.source_file import ASM_SUFFIXES, C_SUFFIXES, CPLUSPLUS_SUFFIXES

DEFAULT_COMPILER = "arm-none-eabi-gcc"
_RISCV_COMPILER = "riscv64-unknown-elf-gcc"
_COMPILER = re.compile(
    r"(?:.*-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|armclang|armcc|iccarm|as)(?:-[\d.]+)?(?:\.exe)?"
)
_CROSS = re.compile(r"^(?:arm|riscv|thumb)|armclang|armcc|iccarm", re.IGNORECASE)
_VENDORS = re.compile(r"_?x\w+\Z")  # the standard has no single letter x
_UNLESS_TOLD = re.compile(
    r"(?:.*-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|armclang)(?:-[\d.]+)?(?:\.exe)?"
)
"""Compilers that optimise nothing unless they are told to; armcc and iccarm aren't among them."""
_ASSEMBLER = re.compile(r"(.*-|)as((?:-[\d.]+)?(?:\.exe)?)")
_KNOWN_TO_BOTH = ("-mcpu=", "-march=", "-mthumb", "-mfpu=", "-mfloat-abi=", "-mabi=", "-m32")
"""Options of an assembler program that mean the same to a compiler."""
_WITH_PREPROCESSOR = "assembler-with-cpp"
_LANGUAGES = ("c", "c++", "assembler", _WITH_PREPROCESSOR)
_OTHER_LANGUAGES = frozenset(
    {".i", ".ii", ".m", ".mi", ".mm", ".mii", ".M", ".cp", ".adb", ".ads", ".go", ".rs",
     ".f", ".for", ".f90", ".f95", ".f03", ".f08", ".F", ".F90"}
)  # fmt: skip
"""Suffixes of other files that GNU's compiler makes code of."""
COMPILED = (C_SUFFIXES - {".h", ".inc", ".inl"}) | CPLUSPLUS_SUFFIXES | ASM_SUFFIXES
"""Suffixes of files that a build compiles by themselves."""


@dataclass(frozen=True)
class CompilerCommand:
    """A call that compiles `files` (absolute paths) and `others`, which nobody here can read: in
    another language than their suffix says, or options that aren't there."""

    files: tuple[Path, ...]
    options: CompileOptions
    others: tuple[Path, ...] = ()


def compiler_for(cpu: Iterable[str]) -> str:
    """GNU's compiler for a core, which is given by its options."""
    return _RISCV_COMPILER if any(it.startswith("-march=rv") for it in cpu) else DEFAULT_COMPILER


def is_for_riscv(options: CompileOptions) -> bool:
    """Whether a call names RISC-V by its compiler or by the core."""
    named = "riscv" in Path(options.compiler).name.lower()
    return named or compiler_for(options.cpu_flags) == _RISCV_COMPILER


def installed(options: CompileOptions) -> CompileOptions:
    """The same for the compiler of that name on PATH where a build names it by a path of another
    machine, and for GNU's where a vendor's for RISC-V isn't installed. Its extensions of the
    instruction set (`xw`) go: no C depends on them."""
    if which(options.compiler) is not None:
        return options
    name = PureWindowsPath(options.compiler).name.removesuffix(".exe")
    if which(name) is not None:
        return replace(options, compiler=name)
    if not is_for_riscv(options):
        return options
    flags = [_VENDORS.sub("", it) if it.startswith("-march=") else it for it in options.cpu_flags]
    if not any(it.startswith("-march=") for it in flags):
        flags = ["-march=rv32imac", "-mabi=ilp32", *flags]
    return replace(
        options, compiler=_RISCV_COMPILER, cpu_flags=(*dict.fromkeys((*flags, "-ffreestanding")),)
    )


def parse_command(words: Sequence[str], folder: Path) -> CompilerCommand | None:
    """The compiler call in a command line, or None if it is another command."""
    start = next(
        (i for i, word in enumerate(words[:4]) if _COMPILER.fullmatch(Path(word).name)), None
    )
    if start is None:
        return None
    given = given_by(words[start + 1 :], words[start], folder)
    flags, optimize, compiler = list(given.flags), given.optimize, words[start]
    files = tuple(it.path for it in given.inputs if _is_read(it))
    others = tuple(it.path for it in given.inputs if not _is_read(it) and _is_source(it))
    if not (files or others) or not is_for_target(compiler, flags):
        return None
    if not optimize and _UNLESS_TOLD.fullmatch(Path(compiler).name):
        is_code = any(file.suffix.lower() not in ASM_SUFFIXES for file in files)
        optimize = "-O0" if is_code else ""
    if (assembler := _ASSEMBLER.fullmatch(Path(compiler).name)) is not None:
        flags = [it for it in flags if it.startswith(_KNOWN_TO_BOTH)]
        compiler = _beside(compiler, assembler) if assembler[1] else compiler_for(flags)
    language = next((it.language for it in given.inputs if it.path in files), "")
    if language and not language.startswith("assembler"):
        flags += ["-x", language]
    is_plain = None
    if any(file.suffix == ".s" for file in files):
        is_plain = language != _WITH_PREPROCESSOR
    options = CompileOptions(
        given.folders, given.defines, tuple(flags), compiler, optimize, is_plain
    )
    return CompilerCommand(files, options, (*others, *given.absent))


def _is_read(given: Input) -> bool:
    """Whether a file is what its suffix says, in a language that is read here."""
    suffix = given.path.suffix.lower()
    of = ASM_SUFFIXES if given.language.startswith("assembler") else COMPILED - ASM_SUFFIXES
    is_known = not given.language or given.language in _LANGUAGES
    return suffix in COMPILED and is_known and (not given.language or suffix in of)


def _is_source(given: Input) -> bool:
    """Whether a compiler makes code of a file: by what it is told, or by the suffix."""
    return bool(given.language) or given.path.suffix in _OTHER_LANGUAGES


def _beside(assembler: str, name: re.Match[str]) -> str:
    """The compiler that comes with an assembler program, and preprocesses for it."""
    return f"{assembler.removesuffix(name[0])}{name[1]}gcc{name[2]}"


def compiles(name: str) -> bool:
    """Whether a compiler makes code of a file of that name."""
    path = Path(name)
    return path.suffix.lower() in COMPILED or path.suffix in _OTHER_LANGUAGES


def is_for_target(compiler: str, cpu_flags: Sequence[str]) -> bool:
    """Whether a call compiles firmware, not a tool that runs on the host during the build."""
    cross = _CROSS.search(Path(compiler).name) is not None
    return cross or any(flag.startswith(("-mcpu", "-mthumb", "-march")) for flag in cpu_flags)


def merge(options: Iterable[CompileOptions]) -> CompileOptions | None:
    """Every include folder and define of several calls, each once; flags of the first call, and how
    far most of those optimise of which that is known."""
    known = sorted(options, key=lambda one: one.plain_asm is not None)  # those of C first
    if not known:
        return None
    plain = {one.plain_asm for one in known} - {None}
    levels = Counter(one.optimize for one in known if one.optimize)
    return CompileOptions(
        tuple(dict.fromkeys(path for one in known for path in one.include_dirs)),
        tuple(dict.fromkeys(name for one in known for name in one.defines)),
        next((one.cpu_flags for one in known if one.cpu_flags), ()),
        known[0].compiler,
        next(iter(levels.most_common(1)), ("", 0))[0],
        plain == {True} if plain else None,
    )
