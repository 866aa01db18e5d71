"""`python -m tests.upstream_ports TREES`: whole ports of public RTOS sources, by the recipes.

TREES is a folder of source trees as they are published, several versions if you like. For every
port of a recipe that is in it: `fvmkit port` is asked for the diff, git applies it, the ported C is
compiled (GNU's dialect only), and the handlers must be proved. A port that has headers of the same
name for several chips is tried with each. A port whose files differ from another version's in
comments alone is tried once. Nothing is written to the trees.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from porter.context_switch.accept import with_runtime
from porter.context_switch.recipe import Recipe, RtosPort, recipes
from porter.judging.verdict import Status, Verdict
from porter.output.unified_diff import unified_diff
from porter.port import port_project
from porter.project.compile_options import CompileOptions
from porter.project.compiler_command import DEFAULT_COMPILER, compiler_for
from porter.result import PortResult
from tests.upstream import CONFIGURATION

_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/|(?m:^\s*;[^\n]*)", re.DOTALL)
_OPTIONAL = re.compile(r"mpu_wrappers")  # built for configENABLE_MPU alone
_RISCV = (  # Debian's compiler has no C library of its own; what a project's build would say
    "--specs=picolibc.specs",
    "-DportasmHANDLE_INTERRUPT=handle_interrupt",
)


@dataclass(frozen=True)
class Place:
    """One port of one version: its folder below `root`. `chip`: the folder with one chip's headers,
    where it has those of several."""

    recipe: Recipe
    port: RtosPort
    root: Path
    version: str
    files: tuple[Path, ...]
    chip: Path | None = None

    def __str__(self) -> str:
        new = "" if self.version in self.recipe.tried else " (new to the recipe)"
        first = self.files[0].relative_to(self.root)
        where = first if len(self.files) == 1 else first.parent
        chip = f", {self.chip.name}" if self.chip is not None else ""
        return f"{self.recipe.rtos} {self.version}{new} {where.as_posix()}{chip}"

    @property
    def headers(self) -> list[Path]:
        """Every header that it may include; not one of the same name for another core or chip."""
        ours = {file.parent for file in self.files}
        names = {file.name for file in self.files}
        if self.chip is not None:
            ours.add(self.chip)
            names.update(header.name for header in self.chip.glob("*.h"))
        return [
            header
            for header in sorted(self.root.rglob("*.h"))
            if header.parent in ours or header.name not in names
        ]

    @property
    def content(self) -> bytes:
        """What the files are without comments and white space."""
        files = (*self.files, *sorted(self.chip.glob("*.h") if self.chip is not None else ()))
        return b"".join(b"".join(_COMMENT.sub(b"", f.read_bytes()).split()) for f in files)


def places(trees: Path) -> Iterator[Place]:
    """Every port of a recipe below a folder."""
    for recipe in recipes():
        if not recipe.version_file:
            continue
        depth = len(Path(recipe.version_file).parts)
        published = [tree.resolve() for tree in sorted(trees.iterdir()) if tree.is_dir()]
        found_in = (sorted(tree.rglob(recipe.version_file)) for tree in published)
        for file in chain.from_iterable(found_in):
            root = file.parents[depth - 1]
            found = re.search(recipe.version_pattern, file.read_text(encoding="latin-1"))
            version = found.group(1) if found is not None else "of unknown version"
            for port in recipe.ports:
                folders: dict[Path, list[Path]] = {}
                for path in sorted(root.glob(port.files)):
                    if path.is_file() and not _OPTIONAL.search(path.name):
                        folders.setdefault(path.parent, []).append(path)
                for folder, files in folders.items():
                    place = Place(recipe, port, root, version, tuple(files))
                    chips = _chips(folder)
                    if chips:
                        yield from (replace(place, chip=chip) for chip in sorted(chips))
                    else:
                        yield place


def _chips(folder: Path) -> set[Path]:
    """Folders below a port's that have a header of the same name."""
    headers = sorted(folder.glob("*/**/*.h"))
    names = Counter(header.name for header in headers)
    return {header.parent for header in headers if names[header.name] > 1}


def attempt(place: Place, room: Path) -> str:
    """One line on what becomes of a port, and what a person would have to look at."""
    project = room / "project"
    for file in (*place.headers, *place.files):
        _copy(file, place.root, project)
    shutil.copytree(CONFIGURATION, project, dirs_exist_ok=True)
    _tell_build(place, project)
    result = port_project(project, cpu=place.port.cpu)
    assert not result.failures, "".join(result.failures[0].trace)
    diff = b"".join(unified_diff(file.file, file.edits, file.is_new) for file in result.files)
    own = {file.relative_to(place.root).as_posix() for file in place.files}
    verdicts = [
        verdict for file in result.files if file.file.name in own for verdict in file.verdicts
    ]
    words = [_handlers(verdicts), _sites(verdicts), _applied(project, diff, result)]
    if not any("can't" in word for word in words):
        words.append(_compiled(place, project, result))
    lines = [f"{place}: {', '.join(words)}", *(f"    {line}" for line in _open(verdicts))]
    return "\n".join(lines)


def _copy(file: Path, root: Path, project: Path) -> None:
    target = project / file.relative_to(root)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)


def _tell_build(place: Place, project: Path) -> None:
    """A project of GNU's compiler says how it is built, so that arms of #if that are off are left
    alone."""
    commands = [
        {"directory": str(project), "arguments": [*_compiler(place, project), "-c", str(source)]}
        for source in _gnu_sources(place, project)
    ]
    if commands:
        (project / "compile_commands.json").write_text(json.dumps(commands))


def _gnu_sources(place: Place, project: Path) -> list[Path]:
    theirs = [project / file.relative_to(place.root) for file in place.files]
    return [file for file in theirs if "GCC" in file.parts and file.suffix in (".c", ".S")]


def _compiler(place: Place, project: Path) -> list[str]:
    folders = dict.fromkeys(header.parent for header in sorted(project.rglob("*.h")))
    compiler = compiler_for(place.port.cpu)
    also = _RISCV if compiler != DEFAULT_COMPILER else ()
    options = with_runtime(CompileOptions(tuple(folders), (), place.port.cpu, compiler))
    return [compiler, *place.port.cpu, *also, *(f"-I{it}" for it in options.include_dirs)]


def _handlers(verdicts: Iterable[Verdict]) -> str:
    """Functions that are transcribed."""
    proved: dict[str, bool] = {}
    for verdict in verdicts:
        if verdict.rule == "context-switch" and verdict.status is Status.REWRITTEN:
            proved[verdict.reason.partition(":")[0]] = "proved: equal" in verdict.reason
    return f"{sum(proved.values())} of {len(proved)} functions proved"


def _sites(verdicts: Sequence[Verdict]) -> str:
    done = sum(verdict.status is Status.REWRITTEN for verdict in verdicts)
    return f"{done} of {len(verdicts)} sites rewritten"


def _open(verdicts: Iterable[Verdict]) -> list[str]:
    """What a person has to look at, alike ones once."""
    lines = (f"[{v.rule}] {v.reason}" for v in verdicts if v.status is Status.ESCALATED)
    return [f"{number} x {line}" for line, number in Counter(lines).items()]


def _applied(project: Path, diff: bytes, result: PortResult) -> str:
    """git makes of the project what the porter says it does."""
    command = ["git", "apply", "--whitespace=nowarn", "-"]
    done = subprocess.run(command, cwd=project, input=diff, capture_output=True, check=False)
    same = all(file.file.path.read_bytes() == file.ported for file in result.files if file.edits)
    plus, minus = (
        sum(line.startswith(sign) and not line.startswith(sign * 3) for line in diff.splitlines())
        for sign in (b"+", b"-")
    )
    does = "applies" if done.returncode == 0 and same else "can't be applied"
    return f"diff +{plus} -{minus} {does}"


def _compiled(place: Place, project: Path, result: PortResult) -> str:
    """GNU's compiler accepts every C file of the port, and what was added."""
    added = [file.file.path for file in result.files if file.is_new]
    sources = [*added, *_gnu_sources(place, project)]
    for source in sources:
        command = [*_compiler(place, project), "-O2", "-c", "-o", "/dev/null", str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            errors = (line for line in done.stderr.splitlines() if "error" in line)
            return f"can't be compiled: {next(errors, done.stderr)}"
    return f"{len(sources)} files compile" if sources else "its C is another compiler's"


def main() -> int:
    """Exit status 1 where a diff doesn't apply or compile, 2 where there is nothing to look at."""
    trees = Path(sys.argv[1]) if len(sys.argv) == 2 else None
    if trees is None or not trees.is_dir():
        print("usage: make test-upstream TREES=DIR, a folder of source trees", file=sys.stderr)
        return 2
    seen: dict[tuple[str, bytes], Place] = {}
    broken = False
    for place in places(trees):
        before = seen.setdefault((place.port.files, place.content), place)
        if before is not place:
            print(f"{place}: the same as {before.version}", flush=True)
            continue
        with tempfile.TemporaryDirectory(prefix="fvmkit-upstream-") as folder:
            text = attempt(place, Path(folder))
        broken |= "can't" in text.splitlines()[0]
        print(text, flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
