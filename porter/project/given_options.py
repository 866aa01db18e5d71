"""What the options of a compiler's command line give a file, in their order: where its headers are,
which macros it begins with, what else changes its meaning. What chooses outputs or tells the linker
something gives it nothing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

LANGUAGE = frozenset(
    {"-fshort-enums", "-fno-short-enums", "-funsigned-char", "-fsigned-char", "-fpack-struct",
     "-fwrapv", "-fno-wrapv", "-ftrapv", "-fno-strict-overflow", "-fno-strict-aliasing",
     "-fstrict-aliasing", "-fcommon", "-fno-common", "-fno-delete-null-pointer-checks",
     "-fstrict-volatile-bitfields", "-funsigned-bitfields", "-fshort-wchar", "-fno-builtin",
     "-fsingle-precision-constant", "-ffast-math", "-ffp-contract=off", "-ffreestanding",
     "-nostdinc", "-fexceptions", "-fno-exceptions", "-frtti", "-fno-rtti",
     "-fno-threadsafe-statics", "-fno-use-cxa-atexit"}
)  # fmt: skip
"""Options that change what a program means, and that a port is compiled with in turn."""

_GNU = re.compile(
    r"(?:.*-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|armclang|as)(?:-[\d.]+)?(?:\.exe)?"
)
_OF_ANY_COMPILER = (
    "-m", "-std=", "--specs=", "-specs=", "--sysroot=", "-ffixed-", "-fcall-used-", "-fcall-saved-"
)  # fmt: skip
_FOLDERS = ("-iquote", "-I", "-isystem", "-idirafter")
"""Options of include folders, in the order in which a compiler asks these."""
_OPTIMIZE = re.compile(r"-O(?:[0-3sgz]|fast)?")
_FILES = ("-include", "-imacros")
_LISTED_IN = frozenset({"--via", "-f", "--f"})
_PLACES = re.compile(r"(-isysroot|-B|--sysroot=|--?specs=|-fplugin=)(.+)")
WITH_VALUE = frozenset(
    {"-include", "-imacros", "-x", "-isysroot", "-iprefix", "-iwithprefix", "-iwithprefixbefore",
     "--param", "-target", "-arch", "-Xassembler"}
)  # fmt: skip
"""Options that are two words."""
_ELSEWHERE_WITH_VALUE = frozenset(
    {"-o", "-MF", "-MT", "-MQ", "-T", "-Xlinker", "-u", "-e", "-z", "-l", "-L", "-aux-info",
     "-dumpbase", "-dumpbase-ext", "-dumpdir", "-wrapper"}
)  # fmt: skip
_ELSEWHERE = re.compile(
    r"-(?:[cESvwrsPCHQLleuzTW]|CC|###|pipe|time|static|shared|rdynamic|symbolic|nostdlib"
    r"|nostartfiles|nodefaultlibs|nolibc|no-pie|pie|pedantic.*|pass-exit-codes|save-temps.*|d[A-Z]"
    r"|fsyntax-only|fdump.*|fstack-usage|fcallgraph.*|fdiagnostics.*|fmessage-length.*|fuse-.*|fopt-"
    r"info.*|f(?:no-)?lto.*|f(?:no-)?fat-lto-objects|f(?:no-)?whole-program|fverbose-asm|fanalyzer"
    r"|ftest-coverage|f(?:no-)?(?:function|data)-sections|f(?:file|debug|macro)-prefix-map.*"
    r"|frecord-gcc-switches|frandom-seed.*|ftime-report|fmem-report|fuse-linker-plugin)"
    r"|-(?:[gLleozMTW]|u(?!ndef)).*|--(?:verbose|help|version)"
)
"""What to make, where to put it, what to complain about, and what only the linker hears."""
_LISTINGS = re.compile(r"-a[a-z]*(?:=.*)?|--?(?:MD|o).*|-a[a-z]*=.*")


@dataclass(frozen=True)
class Input:
    """A file that a command takes in; `language`: what -x says of it, "" where nothing does."""

    path: Path
    language: str


@dataclass(frozen=True)
class Given:
    """`folders` of headers, in the order in which they are asked; `defines` without -D, those that
    are taken back aside; `flags`: all others; `optimize`: the last option that says how far;
    `absent`: files with options that aren't there."""

    folders: tuple[Path, ...]
    defines: tuple[str, ...]
    flags: tuple[str, ...]
    optimize: str
    inputs: tuple[Input, ...]
    absent: tuple[Path, ...] = ()


def given_by(words: Sequence[str], compiler: str, folder: Path) -> Given:
    """What the words behind a compiler's name say, which runs in a folder. Of compilers that aren't
    like GNU's only what means the same to GNU's counts."""
    is_gnu = _GNU.fullmatch(Path(compiler).name) is not None
    folders: dict[str, list[Path]] = {option: [] for option in _FOLDERS}
    macros: dict[str, str] = {}  # the last word on each
    flags: list[str] = []
    forced: list[tuple[str, str]] = []
    inputs: list[Input] = []
    absent: list[Path] = []
    optimize = language = ""
    rest = _spread(words, folder, absent)
    for word in rest:
        option = next((it for it in _FOLDERS if word.startswith(it)), None)
        named = next((it for it in _FILES if word.startswith(it)), None)
        if option is not None:
            folders[option].append(absolute(word[len(option) :] or next(rest, "."), folder))
        elif word[:2] in ("-D", "-U"):
            text = word[2:] or next(rest, "")
            macros.pop(name := re.split(r"[=(]", text)[0], None)
            macros[name] = word[:2] + text
        elif word.startswith("-x"):
            language = (word[2:] or next(rest, "")).removeprefix("none")
        elif named is not None:
            forced.append((named, word[len(named) :] or next(rest, "")))
        elif word == "--preinclude":
            forced.append(("-include", next(rest, "")))
        elif word in _ELSEWHERE_WITH_VALUE:
            next(rest, None)
        elif _OPTIMIZE.fullmatch(word):
            optimize = word
        elif not word.startswith("-"):
            inputs.append(Input(absolute(word, folder), language))
        elif not is_gnu:
            flags += [word] if word.startswith(_OF_ANY_COMPILER) or word in LANGUAGE else []
        elif word in WITH_VALUE:
            flags += [word, next(rest, "")]
        elif word in ("-B", "--sysroot"):
            joined = f"{word}={next(rest, '')}" if word == "--sysroot" else word + next(rest, "")
            flags += _here(joined, folder)
        elif word.startswith("-Wa,"):
            flags += _for_assembler(word)
        elif word == "--coverage":
            flags.append("-fprofile-arcs")
        elif len(word) > 1 and not _ELSEWHERE.fullmatch(word):
            flags += _here(word, folder)
    places = [it for option in _FOLDERS for it in folders[option]]
    flags += [it for it in macros.values() if it.startswith("-U")]
    for option, name in forced:
        flags += [option, str(_first(name, (folder, *places)))]
    defines = tuple(it[2:] for it in macros.values() if it.startswith("-D"))
    return Given(tuple(places), defines, tuple(flags), optimize, tuple(inputs), tuple(absent))


def _spread(words: Sequence[str], folder: Path, absent: list[Path]) -> Iterator[str]:
    """Words, with those of files with options (`@file`, Arm's `--via file`, IAR's `-f file`) and
    those for the preprocessor in their places."""
    waiting = iter(words)
    for word in waiting:
        if (file := _listing(word, waiting)) is not None:
            listed = folder / file
            if listed.is_file():
                yield from _spread(words_of(listed), folder, absent)
            else:
                absent.append(listed)
        elif word.startswith("-Wp,"):
            yield from word.split(",")[1:]
        elif word == "-Xpreprocessor":
            yield next(waiting, "")
        else:
            yield word


def _listing(word: str, rest: Iterator[str]) -> str | None:
    """The file that a word, or it and the next, names as one with options."""
    if word in _LISTED_IN:
        return next(rest, "")
    named = next((it for it in ("@", "--via=") if word.startswith(it) and word != it), None)
    return word[len(named) :] if named is not None else None


def words_of(file: Path) -> list[str]:
    """The options that a file has."""
    try:
        return shlex.split(file.read_text(errors="replace"))
    except ValueError:  # a quotation mark that nothing closes
        return []


def _for_assembler(word: str) -> list[str]:
    """An option that GCC hands on, without listings and other files that it writes."""
    parts = word.split(",")[1:]
    kept = [it for it in parts if not _LISTINGS.fullmatch(it)]
    return [",".join(("-Wa", *kept))] if kept else []


def _here(word: str, folder: Path) -> list[str]:
    """An option, whose file or folder is one from where the compiler runs."""
    if (place := _PLACES.fullmatch(word)) is not None and (folder / place[2]).exists():
        return [f"{place[1]}{absolute(place[2], folder)}"]
    return [word]


def _first(name: str, folders: Sequence[Path]) -> Path:
    """The file that `-include` means: of the folder where the compiler runs, and of those for
    headers, the first that has it."""
    places = [absolute(name, folder) for folder in folders]
    return next((place for place in places if place.is_file()), places[0])


def absolute(text: str, folder: Path) -> Path:
    """A path that is written from a folder on."""
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
