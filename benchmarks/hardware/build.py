"""Builds the benchmark for a board: on bare metal, and as a system."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from benchmarks.build import ROOT, Configuration, build_bare, build_virtual
from benchmarks.counting import Image
from benchmarks.machines import NETDUINO
from benchmarks.scale.shape import put, put_freertos
from composer.verify.verify import verify
from scanner.report.errors import FvmError

HERE = Path(__file__).resolve().parent
APPLICATION = HERE.parent / "application"
ROUNDS = 10_016  # 10,000 and a warm-up
SHARED = ("cooperative", "interrupts", "main", "messages", "tick")  # sources of the other benchmark
PLACES = {"system.xml.j2": "system.xml", "Makefile.j2": "application/Makefile"}


@dataclass(frozen=True)
class Board(Configuration):
    """`hse`: the crystal, in MHz."""

    hse: int
    rounds: int = ROUNDS

    @property
    def folder(self) -> Path:
        """Where it is built."""
        return ROOT / "build" / "hw-bench"


@dataclass(frozen=True)
class Built:
    """Files to be flashed."""

    bare: Image
    virtual: Image


def build(hse: int, rounds: int = ROUNDS) -> Built:
    """Both images; FvmError if the system's is not accepted by verify."""
    board = Board(NETDUINO, "2", hse, rounds)
    folder = board.folder
    project = folder / "application"
    for name in SHARED:
        put(project / f"src/{name}.c", (APPLICATION / f"src/{name}.c").read_bytes())
    for name in ("FreeRTOSConfig.h", "core.h", "operations.h"):
        put(project / "inc" / name, (APPLICATION / "inc" / name).read_bytes())
    headers = HERE.parent / "boards" / NETDUINO.headers
    put(project / "inc/board.h", (headers / "board.h").read_bytes())
    put(project / "inc/counted_marks.h", (APPLICATION / "inc/marks.h").read_bytes())
    put(project / "inc/marks.h", (HERE / "application/marks.h").read_bytes())
    for source in (HERE / "application").glob("*.c"):
        put(project / "src" / source.name, source.read_bytes())
    for source in (APPLICATION / "startup").iterdir():
        put(project / "startup" / source.name, source.read_bytes())
    for source in (HERE / "guest").glob("*.c"):
        put(folder / "guest" / source.name, source.read_bytes())
    put_freertos(project, NETDUINO.port)
    templates = Environment(
        loader=FileSystemLoader(HERE), undefined=StrictUndefined, trim_blocks=True
    )
    for name, place in PLACES.items():
        text = templates.get_template(name).render(machine=NETDUINO, hse=hse, rounds=rounds)
        put(folder / place, text.encode())
    built = Built(build_bare(board), build_virtual(board))
    report = verify(built.virtual.elf, folder / "system.xml")
    if not report.ok:
        failed = ", ".join(check.id for check in (*report.failed, *report.open))
        raise FvmError(f"verify doesn't accept it: {failed}", file=built.virtual.elf)
    return built
