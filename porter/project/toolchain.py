"""What comes with a cross compiler: headers, their macros, and the functions of its libraries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from porter.project.compiler_run import ran

_LIBRARIES = ("libc.a", "libm.a", "libgcc.a", "libnosys.a", "librdimon.a", "libstdc++.a",
              "libsupc++.a")  # fmt: skip
_MAGIC = b"!<arch>\n"
_HEADER = 60  # bytes before each member of an archive
_LARGEST = 1 << 28
_UNDEFINED = re.compile(r"(?m)^\s+[Uw] (\w+)$")
_SYMBOL = re.compile(r"(?m)^[0-9a-f]* +([A-Za-z]) (\S+)$")
_BETWEEN = re.compile(r"search starts here:\n(.*?)End of search list", re.DOTALL)


@lru_cache(maxsize=8)
def header_folders(compiler: str) -> tuple[Path, ...]:
    """Where a compiler looks for headers by itself; () if it can't be asked."""
    text = _run([compiler, "-E", "-v", "-x", "c++", "-"], errors=True)
    found = (line.strip() for part in _BETWEEN.findall(text) for line in part.splitlines())
    return tuple(dict.fromkeys(Path(it) for it in found if it.startswith("/")))


@lru_cache(maxsize=8)
def library_functions(compiler: str) -> frozenset[str]:
    """Names that the C library and those of the compiler define."""
    return frozenset().union(*map(archive_symbols, _libraries(compiler)))


@lru_cache(maxsize=8)
def library_needs(compiler: str) -> frozenset[str]:
    """Names that those libraries use and somebody else may define: `_write`, `__malloc_lock`."""
    return frozenset().union(*(archive_needs(compiler, it) for it in _libraries(compiler)))


@lru_cache(maxsize=8)
def library_calls(compiler: str) -> Mapping[str, frozenset[str]]:
    """What each function of those libraries may come to at once: all that is asked for by the parts
    of the libraries that define it."""
    found: dict[str, set[str]] = {}
    for library in _libraries(compiler):
        for part in _symbols_of(compiler, library, "-g").split("\n\n"):
            symbols = _SYMBOL.findall(part)
            needed = {name for kind, name in symbols if kind in "Uw"}
            for name in (name for kind, name in symbols if kind not in "Uw"):
                found.setdefault(name, set()).update(needed)
    return {name: frozenset(needed) for name, needed in found.items()}


def _libraries(compiler: str) -> list[Path]:
    found = (_run([compiler, f"-print-file-name={library}"]).strip() for library in _LIBRARIES)
    return [Path(it) for it in found if it.startswith("/")]


def archive_needs(compiler: str, path: Path) -> frozenset[str]:
    """Names that parts of an archive use and don't define."""
    return frozenset(_UNDEFINED.findall(_symbols_of(compiler, path, "-u")))


def _symbols_of(compiler: str, path: Path, option: str) -> str:
    """What the compiler's nm says of an archive."""
    reader = _run([compiler, "-print-prog-name=nm"]).strip()
    return _run([reader, option, str(path)]) if reader else ""


@dataclass(frozen=True)
class Symbols:
    """Names that an object or an archive asks others for, those that it gives them, and the names
    of files that it says it was made of."""

    needed: frozenset[str]
    defined: frozenset[str]
    made_of: frozenset[str]


@lru_cache(maxsize=256)
def symbols_of(compiler: str, path: Path) -> Symbols | None:
    """Those of a file; None where it can't be read, or has what a compiler goes on with when it
    links."""
    reader = _run([compiler, "-print-prog-name=nm"]).strip()
    try:
        done = ran([reader, "-a", str(path)])
    except OSError:
        return None
    names = _SYMBOL.findall(done.stdout.decode("utf-8", "replace"))
    if done.returncode or any(name.startswith("__gnu_lto_") for _, name in names):
        return None
    return Symbols(
        frozenset(name for kind, name in names if kind in "Uwv"),
        frozenset(name for kind, name in names if kind.isupper() and kind not in "UWV"),
        frozenset(name for kind, name in names if kind == "a"),
    )


@lru_cache(maxsize=64)
def library_named(compiler: str, name: str) -> Path | None:
    """Where a compiler has a library of that name; None if it hasn't, or can't be asked."""
    found = _run([compiler, f"-print-file-name={name}"]).strip()
    return Path(found) if found.startswith("/") else None


def comes_with(compiler: str, path: Path) -> bool:
    """Whether an object or an archive is one of the compiler's own."""
    found = library_named(compiler, path.name)
    return found is not None and found.resolve() == path.resolve()


def header_macros(compiler: str, headers: Iterable[str]) -> frozenset[str]:
    """Macros of a compiler's own headers, `stdarg.h` for example."""
    return _header_macros(compiler, tuple(sorted(set(headers))))


@lru_cache(maxsize=8)
def _header_macros(compiler: str, headers: tuple[str, ...]) -> frozenset[str]:
    text = "".join(f"#if __has_include(<{it}>)\n#include <{it}>\n#endif\n" for it in headers)
    defines = _run([compiler, "-dM", "-E", "-x", "c", "-"], text)
    return frozenset(re.findall(r"(?m)^#define (\w+)", defines))


def archive_symbols(path: Path) -> frozenset[str]:
    """Names that an archive's index has; none where it has no index or can't be read."""
    try:
        if path.stat().st_size > _LARGEST:
            return frozenset()
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                return frozenset()
            header = file.read(_HEADER)
            if header[:2] not in (b"/ ",) or not header[48:58].strip().isdigit():
                return frozenset()
            index = file.read(int(header[48:58]))
    except OSError:
        return frozenset()
    names = index[4 + 4 * int.from_bytes(index[:4], "big") :].split(b"\0")
    return frozenset(name.decode("latin-1") for name in names if name)


def _run(command: list[str], text: str = "", errors: bool = False) -> str:
    try:
        process = ran(command, text)
    except OSError:
        return ""
    return (process.stderr if errors else process.stdout).decode("utf-8", "replace")
