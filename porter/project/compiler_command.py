"""One compiler call, as a build tool would run it: what it compiles and with which options."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PureWindowsPath
from shutil import which

from porter.project.compile_options import CompileOptions
from porter.source.source_file import ASM_SUFFIXES, C_SUFFIXES, CPLUSPLUS_SUFFIXES

DEFAULT_COMPILER = "arm-none-eabi-gcc"
_RISCV_COMPILER = "riscv64-unknown-elf-gcc"
_COMPILER = re.compile(
    r"(?:.*-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|armclang|armcc|iccarm|as)(?:-[\d.]+)?(?:\.exe)?"
)
_CROSS = re.compile(r"^(?:arm|riscv|thumb)|armclang|armcc|iccarm", re.IGNORECASE)
_VENDORS = re.compile(r"_?x\w+\Z")  # the standard has no single letter x
_DIRECTORY_OPTIONS = ("-isystem", "-iquote", "-idirafter", "-I")
# Options that change what a program means.
# The core, the language, and where the headers of its C library are.
_MACHINE = (
    "-m", "-std=", "--specs=", "-specs=", "--sysroot=", "-ffixed-", "-fcall-used-", "-fcall-saved-"
)  # fmt: skip
LANGUAGE = frozenset(
    {"-fshort-enums", "-fno-short-enums", "-funsigned-char", "-fsigned-char", "-fpack-struct",
     "-fwrapv", "-fno-wrapv", "-ftrapv", "-fno-strict-overflow", "-fno-strict-aliasing",
     "-fstrict-aliasing", "-fcommon", "-fno-common", "-fno-delete-null-pointer-checks",
     "-fstrict-volatile-bitfields", "-funsigned-bitfields", "-fshort-wchar", "-fno-builtin",
     "-fsingle-precision-constant", "-ffast-math", "-ffp-contract=off", "-ffreestanding",
     "-nostdinc", "-fexceptions", "-fno-exceptions", "-frtti", "-fno-rtti",
     "-fno-threadsafe-statics", "-fno-use-cxa-atexit"}
)  # fmt: skip
_OPTIMIZE = re.compile(r"-O(?:[0-3sgz]|fast)?")
_UNLESS_TOLD = re.compile(
    r"(?:.*-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|armclang)(?:-[\d.]+)?(?:\.exe)?"
)
"""Compilers that optimise nothing unless they are told to; armcc and iccarm aren't among them."""
_ASSEMBLER = re.compile(r"(.*-|)as((?:-[\d.]+)?(?:\.exe)?)")
_KNOWN_TO_BOTH = ("-mcpu=", "-march=", "-mthumb", "-mfpu=", "-mfloat-abi=", "-mabi=", "-m32")
"""Options of an assembler program that mean the same to a compiler."""
_WITH_PREPROCESSOR = "assembler-with-cpp"
COMPILED = (C_SUFFIXES - {".h", ".inc", ".inl"}) | CPLUSPLUS_SUFFIXES | ASM_SUFFIXES
"""Suffixes of files that a build compiles by themselves."""


@dataclass(frozen=True)
class CompilerCommand:
    """A call that compiles `files` (absolute paths)."""

    files: tuple[Path, ...]
    options: CompileOptions


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
    includes: list[Path] = []
    defines: list[str] = []
    cpu_flags: list[str] = []
    files: list[Path] = []
    forced: list[str] = []
    optimize = language = ""
    rest = iter(words[start + 1 :])
    for word in rest:
        option = next((name for name in _DIRECTORY_OPTIONS if word.startswith(name)), None)
        if option is not None:
            includes.append(_absolute(word[len(option) :] or next(rest, "."), folder))
        elif word.startswith("-D"):
            defines.append(word[2:] or next(rest, ""))
        elif word == "-x":
            language = next(rest, "")
        elif word.startswith("-x"):
            language = word[2:]
        elif word in ("-o", "-MF", "-MT", "-MQ", "-T", "-Xlinker", "-u", "-U"):
            next(rest, None)
        elif word == "-include":
            forced.append(next(rest, ""))
        elif _OPTIMIZE.fullmatch(word):
            optimize = word
        elif word.startswith(_MACHINE) or word in LANGUAGE:
            cpu_flags.append(word)
        elif not word.startswith("-") and Path(word).suffix.lower() in COMPILED:
            files.append(_absolute(word, folder))
    if not files or not _is_for_target(words[start], cpu_flags):
        return None
    for name in forced:
        cpu_flags += ["-include", str(_first(name, (folder, *includes)))]
    if not optimize and _UNLESS_TOLD.fullmatch(Path(words[start]).name):
        is_code = any(file.suffix.lower() not in ASM_SUFFIXES for file in files)
        optimize = "-O0" if is_code else ""
    compiler = words[start]
    if (assembler := _ASSEMBLER.fullmatch(Path(compiler).name)) is not None:
        cpu_flags = [it for it in cpu_flags if it.startswith(_KNOWN_TO_BOTH)]
        compiler = _beside(compiler, assembler) if assembler[1] else compiler_for(cpu_flags)
    is_plain = None
    if any(file.suffix == ".s" for file in files):
        is_plain = language != _WITH_PREPROCESSOR
    options = CompileOptions(
        tuple(includes), tuple(defines), tuple(cpu_flags), compiler, optimize, is_plain
    )
    return CompilerCommand(tuple(files), options)


def _first(name: str, folders: Iterable[Path]) -> Path:
    """The file that `-include` means: of the folder where the compiler runs, and of those for
    headers, the first that has it."""
    places = [_absolute(name, folder) for folder in folders]
    return next((place for place in places if place.is_file()), places[0])


def _beside(assembler: str, name: re.Match[str]) -> str:
    """The compiler that comes with an assembler program, and preprocesses for it."""
    return f"{assembler.removesuffix(name[0])}{name[1]}gcc{name[2]}"


def _is_for_target(compiler: str, cpu_flags: Sequence[str]) -> bool:
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


def _absolute(text: str, folder: Path) -> Path:
    path = Path(text)
    return path if path.is_absolute() else Path(*_normal(folder / path))


def _normal(path: Path) -> list[str]:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and len(parts) > 1:
            parts.pop()
        else:
            parts.append(part)
    return parts
