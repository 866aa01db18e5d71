"""`python -m tests.upstream TREES`: the transcriber on public RTOS sources that a user has.

TREES is a folder of source trees as they are published. Every C and assembler file of a Cortex-M
port in it that touches PSP is transcribed, and of an RV32 port each that touches a trap's CSRs.
Each handler is listed as transcribed, or escalated with the reason; transcribed is what both
oracles proved. Headers that a tree leaves to a project's configuration are empty here, but for a
few that can't be. Nothing is written to the trees.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from porter.context_switch.project import transcribe_project
from porter.context_switch.result import ESCALATED, ROLE_OTHER, SwitchPort
from porter.project.compile_options import CompileOptions
from porter.project.compiler_command import compiler_for
from porter.source.assembler_text import included_names
from porter.source.source_file import ASM_SUFFIXES, SourceFile

_HARD = "-mfloat-abi=hard"
_CORES = (  # what a folder or file is called, and how its code is compiled
    (r"cm0|m0\b|m0plus|armv6|a6m", ("-mcpu=cortex-m0", "-mthumb", "-mfloat-abi=soft")),
    (r"cm3|m3\b", ("-mcpu=cortex-m3", "-mthumb", "-mfloat-abi=soft")),
    (r"cm7|m7\b", ("-mcpu=cortex-m7", "-mthumb", _HARD, "-mfpu=fpv5-sp-d16")),
    (
        r"cm4|m4f?\b|armv7|a7m|cortex_?m\b|cortexm",
        ("-mcpu=cortex-m4", "-mthumb", _HARD, "-mfpu=fpv4-sp-d16"),
    ),
)
_RISCV = re.compile(r"risc-?v|rv32|fe310")
_RISCV_CORE = ("-march=rv32imafc", "-misa-spec=2.2", "-mabi=ilp32f", "--specs=picolibc.specs")
_NOT_RISCV = re.compile(r"rv64|risc-?v64|k210|smp")
_CSR = re.compile(rb"\b(?:m(?:ret|epc|scratch|status)|CSR_(?:STATUS|EPC|SCRATCH))\b")
_NOT_THESE = re.compile(r"m[235]3|m[35]5|m85|armv8|cortex[_-][ar]|armv7-[ar]|_rvm|mpu")
_MISSING = re.compile(r"fatal error: ([\w./+-]+): No such file")
_STACK_POINTER = re.compile(rb"\b[pP][sS][pP]\b")
_MOST_HEADERS = 60
CONFIGURATION = Path(__file__).parent / "support" / "rtos_configuration"


def candidates(trees: Path) -> Iterator[tuple[Path, Path, tuple[str, ...]]]:
    """(tree, file, options of its core)."""
    for tree in sorted(path for path in trees.iterdir() if path.is_dir()):
        for file in sorted(tree.rglob("*")):
            suffix = file.suffix.lower()
            if not file.is_file() or (suffix != ".c" and suffix not in ASM_SUFFIXES):
                continue
            name = file.relative_to(tree).as_posix().lower()
            if _RISCV.search(name):
                if not _NOT_RISCV.search(name) and _CSR.search(file.read_bytes()):
                    yield tree, file, _RISCV_CORE
                continue
            cores = [cpu for words, cpu in _CORES if re.search(words, name)][:1]
            if "cortexm_common" in name:  # one file for all
                cores = [_CORES[0][1], _CORES[-1][1]]
            if _NOT_THESE.search(name) or not _STACK_POINTER.search(file.read_bytes()):
                continue
            for core in cores:
                yield tree, file, core


def transcribe(tree: Path, file: Path, cpu: tuple[str, ...], room: Path) -> list[SwitchPort]:
    """The file's functions; headers that aren't there become empty ones in `room`."""
    near = [folder for folder in file.parents if folder.is_relative_to(tree)][:3]
    headers = [it for it in sorted(tree.rglob("*.h")) if _is_beside(tree, it, file)]
    folders = dict.fromkeys(header.parent for header in headers)
    ordered = sorted(folders, key=lambda folder: (folder not in near, len(folder.parts)))
    options = CompileOptions(
        (file.parent, CONFIGURATION, *ordered[:80], room), (), cpu, compiler_for(cpu)
    )
    around = near[min(1, len(near) - 1)].rglob("*.c")
    siblings = [it for it in sorted(around) if it != file and _is_beside(tree, it, file)
                and not _is_instead(it.parent, file.parent)]  # fmt: skip
    read = [SourceFile.read(tree, it) for it in headers]
    names = included_names([SourceFile.read(tree, it) for it in (file, *siblings)], read)
    headers = [it.path for it in read if it.path.name.encode() in names]
    _completed(tree, [file], options, room)  # most of what is missing is missing there, too
    return _completed(tree, [file, *headers, *siblings], options, room)


def _completed(
    tree: Path, files: list[Path], options: CompileOptions, room: Path
) -> list[SwitchPort]:
    """The first file's functions, once `room` has every header that is missing."""
    ports: list[SwitchPort] = []
    for _ in range(_MOST_HEADERS):
        ports = [p for p in transcribe_project(tree, files, options) if p.file == files[0]]
        missing = {name for port in ports for name in _MISSING.findall(port.reason)}
        if not missing:
            break
        for name in missing:
            (room / name).parent.mkdir(parents=True, exist_ok=True)
            (room / name).touch()
    return ports


def _is_beside(tree: Path, other: Path, file: Path) -> bool:
    """Whether a project may have both: not a port for another machine or another use of it."""
    name = other.relative_to(tree).as_posix().lower()
    machine = _machine(name)
    own = _machine(file.relative_to(tree).as_posix().lower())
    return machine in ("", own) and not _NOT_THESE.search(name)


def _is_instead(other: Path, own: Path) -> bool:
    """Whether a folder has a port that a project takes in place of another: files of its names."""
    return other != own and any((other / it.name).is_file() for it in own.glob("*.c"))


def _machine(name: str) -> str:
    """Whose code is in a file; "" for anybody's."""
    if _RISCV.search(name):
        return "RISC-V"
    return "Arm" if any(re.search(words, name) for words, _ in _CORES) else ""


def main() -> int:
    """Exit status 2 where there is nothing to look at."""
    trees = Path(sys.argv[1]) if len(sys.argv) == 2 else None
    if trees is None or not trees.is_dir():
        print("usage: make test-upstream TREES=DIR, a folder of source trees", file=sys.stderr)
        return 2
    count: Counter[tuple[str, str]] = Counter()
    for tree, file, cpu in candidates(trees):
        with tempfile.TemporaryDirectory(prefix="fvmkit-upstream-") as folder:
            ports = transcribe(tree, file, cpu, Path(folder))
        for port in ports:
            if port.role == ROLE_OTHER and port.status != ESCALATED:
                continue
            count[(port.role, port.status)] += 1
            place = f"{tree.name}/{file.relative_to(tree)}"
            print(f"{port.status:9} {port.role:6} {place}: {port.name}: {port.reason}", flush=True)
    for role in sorted({role for role, _ in count}):
        done, left = count[(role, "rewritten")], count[(role, ESCALATED)]
        print(f"{role}: {done} of {done + left} transcribed, {left} escalated")
    return 0


if __name__ == "__main__":
    sys.exit(main())
