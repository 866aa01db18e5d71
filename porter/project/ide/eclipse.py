"""Projects of Eclipse with GCC: STM32CubeIDE, and the plug-ins before it. The first configuration
of .cproject counts; .project beside it has files that are linked from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from porter.project.ide.project_file import (
    Element,
    ProjectFile,
    core_of,
    distinct,
    is_compiled,
    language_options,
    parsed,
    place,
)

_IN_WORKSPACE = re.compile(r"\$\{workspace_loc:/(?:\$\{ProjName\}|[^/}]+)/?([^}]*)\}")
_PARENT = re.compile(r"^PARENT-(\d+)-PROJECT_LOC")
_PROJECT = ("${ProjDirPath}/", "${PROJECT_LOC}/", "PROJECT_LOC/")
_CORE = re.compile(r"cortex-m\d+(?:plus)?")
_FILE, _FOLDER = "1", "2"  # kinds of a link
_LEVELS = {
    "none": "-O0", "o0": "-O0", "00": "-O0", "optimize": "-O1", "o1": "-O1", "01": "-O1",
    "more": "-O2", "o2": "-O2", "02": "-O2", "most": "-O3", "o3": "-O3", "03": "-O3",
    "size": "-Os", "os": "-Os", "0s": "-Os", "debug": "-Og", "og": "-Og", "0g": "-Og",
    "ofast": "-Ofast", "fast": "-Ofast",
}  # fmt: skip
_OF_ST = "com.st.stm32cube.ide."  # whose compiler isn't told a level where none is chosen: -O0


def read(path: Path, root: Element) -> ProjectFile | None:
    """What it says; None if it has no configuration."""
    found = root.xpath(".//storageModule[@moduleId='cdtBuildSystem']/configuration")
    if not found:
        return None
    chain = found[0].find("folderInfo/toolChain")
    if chain is None:
        return None
    folder, build = path.parent, path.parent / (found[0].get("name") or "Debug")
    tools = [tool for tool in chain.iterfind("tool") if _is_c(tool)]
    values = [option.get("value") or "" for option in chain.iterfind("option")]
    return ProjectFile(
        files=distinct((*_sources(folder, found[0]), *filter(is_compiled, _linked(folder, _FILE)))),
        linked=distinct(_linked(folder, _FOLDER)),
        include_dirs=distinct(
            _place(text, folder, build) for text in _list(tools, "includePath") if text
        ),
        defines=tuple(_list(tools, "definedSymbols")),
        core=_core(chain, values),
        has_fpu=any(value.endswith((".hard", ".softfp")) for value in values),
        optimize=_level(chain, tools),
        language=tuple(word for text in _texts(tools) for word in language_options(text)),
    )


def _level(chain: Element, tools: list[Element]) -> str:
    """The level of optimisation that the compiler's or the tool chain's options choose."""
    options = [option for part in (*tools, chain) for option in part.iterfind("option")]
    for option in options:
        if (option.get("superClass") or "").endswith("optimization.level"):
            chosen = (option.get("value") or "").rpartition(".")[2].lower()
            if chosen in _LEVELS:
                return _LEVELS[chosen]
    return "-O0" if any((it.get("superClass") or "").startswith(_OF_ST) for it in tools) else ""


def _texts(tools: list[Element]) -> Iterator[str]:
    """What is written by hand for the command line."""
    for tool in tools:
        for option in tool.iterfind("option"):
            if (option.get("superClass") or "").endswith((".other", ".otherflags")):
                yield option.get("value") or ""
                yield from (it.get("value") or "" for it in option.iterfind("listOptionValue"))


def _is_c(tool: Element) -> bool:
    return ".c.compiler" in (tool.get("superClass") or "")


def _list(tools: list[Element], kind: str) -> Iterator[str]:
    for tool in tools:
        for option in tool.iterfind("option"):
            if option.get("valueType") == kind:
                for item in option.iterfind("listOptionValue"):
                    yield (item.get("value") or "").strip().strip('"')


def _core(chain: Element, values: list[str]) -> str | None:
    """A core that an option names, or that of the chip."""
    named = next((found.group() for value in values if (found := _CORE.search(value))), None)
    if named is not None:
        return named
    options = chain.iterfind("option")
    parts = (o.get("value") or "" for o in options if (o.get("superClass") or "").endswith("mcu"))
    return next((core for part in parts if (core := core_of(part)) is not None), None)


def _sources(folder: Path, configuration: Element) -> Iterator[Path]:
    """Every source below the entries, without what they exclude; below the project's folder where
    it has no entries."""
    entries = configuration.find("sourceEntries")
    given = entries.iterfind("entry[@kind='sourcePath']") if entries is not None else ({},)
    for entry in given:
        top = place(entry.get("name") or ".", folder)
        if not top.is_relative_to(folder):
            continue
        without = [text for text in (entry.get("excluding") or "").split("|") if text]
        for file in sorted(top.rglob("*")):
            if (
                is_compiled(file)
                and file.is_file()
                and not _is_excluded(file.relative_to(top), without)
            ):
                yield file


def _is_excluded(file: Path, patterns: list[str]) -> bool:
    parts = PurePosixPath(file.as_posix())
    around = [str(parts), *(str(parent) for parent in parts.parents)]
    return any(fnmatch(name, pattern.rstrip("/")) for pattern in patterns for name in around)


def _linked(folder: Path, kind: str) -> Iterator[Path]:
    """Files or folders of other places that the project shows as its own."""
    root = parsed(folder / ".project")
    for link in root.iterfind("linkedResources/link") if root is not None else ():
        target = link.findtext("locationURI") or link.findtext("location") or ""
        if link.findtext("type") == kind and not target.startswith("virtual:"):
            yield _place(target, folder, folder)


def _place(text: str, folder: Path, build: Path) -> Path:
    """A path is counted from where the build runs, or from a place that it names."""
    if (found := _IN_WORKSPACE.search(text)) is not None:
        return place(found.group(1), folder)
    if (found := _PARENT.match(text)) is not None:
        return place("../" * int(found.group(1)) + text[found.end() :].lstrip("/"), folder)
    for name in _PROJECT:
        if text.startswith(name):
            return place(text[len(name) :], folder)
    return place(text, build)
