"""How the files of a project are compiled when neither make nor compile_commands.json can tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from porter.project.compile_options import CompileOptions

_CHIP = re.compile(r"\bSTM32[FLGHU]\d[0-9A-Z]{1,3}x[0-9A-Zx]\b")
_DEVICE_HEADER = re.compile(r"(stm32[a-z]\d[0-9a-z]{1,3})(x[0-9a-zx])\.h")
_PROJECT_FILES = ("*.uvprojx", "*.uvproj", "*.ewp", "*.ioc", ".cproject", "platformio.ini",
                  "CMakeLists.txt", "*.cmake")  # fmt: skip
_NO_SOURCE = re.compile(r"(?i)(?:^|[_-])templates?(?:[_.-]|$)")
_LARGEST = 1 << 20


def guessed_units(
    root: Path, options: CompileOptions, sources: Sequence[Path]
) -> dict[Path, CompileOptions]:
    """Every C file, with the macros that vendor headers ask for."""
    guesses = [*_chip(root, sources), *_library(sources)]
    defines = tuple(dict.fromkeys([*options.defines, *guesses]))
    options = replace(options, defines=defines)
    return {
        path: options
        for path in sources
        if path.suffix.lower() == ".c" and not _NO_SOURCE.search(path.name)
    }


def _chip(root: Path, sources: Iterable[Path]) -> Iterator[str]:
    """The chip's macro: as project files of other tools name it, or the only device header's."""
    for pattern in _PROJECT_FILES:
        for path in sorted((*root.glob(pattern), *root.glob(f"*/{pattern}"))):
            found = _CHIP.search(beginning_of(path))
            if found is not None:
                yield found.group()
                return
    headers = {m.group(1).upper() + m.group(2) for p in sources if (m := _header(p)) is not None}
    if len(headers) == 1:
        yield headers.pop()


def _header(path: Path) -> re.Match[str] | None:
    return _DEVICE_HEADER.fullmatch(path.name.lower())


def _library(sources: Iterable[Path]) -> Iterator[str]:
    """The macros that switch ST's driver libraries on."""
    names = {path.name.lower() for path in sources}
    if any(re.fullmatch(r"stm32\w+_hal_conf\.h", name) for name in names):
        yield "USE_HAL_DRIVER"
    elif any(re.fullmatch(r"stm32\w\d\w\w_ll_gpio\.h", name) for name in names):
        yield "USE_FULL_LL_DRIVER"
    elif any(re.fullmatch(r"stm32\w+_conf\.h", name) for name in names):
        yield "USE_STDPERIPH_DRIVER"


def beginning_of(path: Path) -> str:
    """As much of a file as names a chip; "" where it can't be read."""
    try:
        with path.open("rb") as stream:
            return stream.read(_LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""
