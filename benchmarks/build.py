"""Builds the application on bare metal, and ported in a virtual machine, with the same flags."""

from __future__ import annotations

import hashlib
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from benchmarks.counting import Image
from benchmarks.machines import Machine
from benchmarks.symbols import Symbols
from composer.build import make_environment
from composer.image.composed import read_composed
from composer.setup.freertos import FOLDER, PORTS_FOLDER
from scanner.report.errors import FvmError

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
FVMKIT = (sys.executable, "-m", "composer.cli")
# The guest has the block that raises the process's line: both ends of that way are to be its own.
# No description may say so (a neighbour could hold the line up), so this one isn't asked, and
# `verify` says so alone.
COMPOSE = """
import composer.description.check as check
check.check_neighbours = lambda system, chip: None
from composer.cli import main
main()
"""
HELD_UP = "REJECT neighbours"
PARTS = ("application", "guest", "native")
TEMPLATES = {
    "system.xml.j2": "system.xml",
    "application/Makefile.j2": "application/Makefile",
}


@dataclass(frozen=True)
class Configuration:
    """What is built: for one machine, at one level of optimisation."""

    machine: Machine
    level: str  # 2, 3 or s

    @property
    def name(self) -> str:
        """As in the results: the plain core's name means -O2."""
        return self.machine.core if self.level == "2" else f"{self.machine.core}-O{self.level}"

    @property
    def folder(self) -> Path:
        """Where all of it is built."""
        return ROOT / "build" / "bench" / self.name


def assemble(configuration: Configuration) -> None:
    """The application with the FreeRTOS kernel in it, and the description, in the folder."""
    folder = configuration.folder
    for part in PARTS:
        for source in sorted((HERE / part).rglob("*")):
            if source.is_file() and source.suffix != ".j2":
                _put(folder / source.relative_to(HERE), source.read_bytes())
    for source in (HERE / "boards" / configuration.machine.headers).iterdir():
        _put(folder / "application" / "inc" / source.name, source.read_bytes())
    port = Path("portable") / "GCC" / configuration.machine.port
    wanted = ("*.c", "include/*.h", f"{port}/*.[ch]", "portable/MemMang/heap_4.c")
    for kernel in (ROOT / FOLDER, ROOT / PORTS_FOLDER):
        for source in (found for pattern in wanted for found in kernel.glob(pattern)):
            target = folder / "application" / "FreeRTOS-Kernel" / source.relative_to(kernel)
            _put(target, source.read_bytes())
    templates = Environment(
        loader=FileSystemLoader(HERE),
        undefined=StrictUndefined,
        trim_blocks=True,
        autoescape=False,
    )
    for name, place in TEMPLATES.items():
        text = templates.get_template(name).render(
            machine=configuration.machine, level=configuration.level
        )
        _put(folder / place, text.encode())


def _put(target: Path, content: bytes) -> None:
    """Files that don't change keep their time stamps."""
    if not target.exists() or target.read_bytes() != content:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def build_bare(configuration: Configuration) -> Image:
    """The application on bare metal, by its own makefile."""
    project = configuration.folder / "application"
    _run("make", "-C", str(project))
    elf = project / "build" / "bare.elf"
    return bare_image(elf)


def build_virtual(configuration: Configuration) -> Image:
    """The same application, ported, in a composed and linked system."""
    folder = configuration.folder
    out = folder / "system"
    words = ("compose", str(folder / "system.xml"), "--out", str(out))
    _run(sys.executable, "-c", COMPOSE, *words)
    policy, ported = out / "guest.domain.json", out / "ported" / "guest"
    tools = [p for name in ("porter", "rtos-patches") for p in (ROOT / name).rglob("*.*")]
    inputs = [p for p in tools if p.suffix != ".pyc"]
    application = folder / "application"
    inputs += [p for p in application.rglob("*") if application / "build" not in p.parents]
    inputs.append(policy)
    state = _digest(p for p in inputs if p.is_file())
    stamp = out / "ported.sha256"
    if not ported.exists() or not stamp.exists() or stamp.read_text() != state:
        shutil.rmtree(ported, ignore_errors=True)
        _fvmkit("port", folder / "application", "--domain", policy, "--out", ported)
        stamp.write_text(state)
    _fvmkit("build", out, "--quiet")
    _fvmkit("link", out)
    return system_image(out)


def bare_image(elf: Path) -> Image:
    """A program on bare metal."""
    return _image(elf, elf, [("bare", elf)], range(0))


def system_image(folder: Path) -> Image:
    """The linked image of a composed system."""
    composed = read_composed(folder)
    elfs = [(part.name, composed.elf(part.name)) for part in composed.parts]
    kernel = folder / "kernel" / "kernel.elf"
    return _image(folder / "image" / "system.elf", kernel, elfs, _code(kernel))


def verify(configuration: Configuration) -> list[str]:
    """What is measured has to be an image that may be flashed; the reasons why it isn't."""
    system = configuration.folder / "system"
    try:
        _fvmkit(
            "verify", system / "image/system.hex", "--system", configuration.folder / "system.xml"
        )
    except FvmError as error:
        said = str(error).splitlines()
        lines = [line for line in said if line.startswith("REJECT")]
        wrong = [line for line in lines if not line.startswith(HELD_UP)]
        return [f"{configuration.name}: {line}" for line in (wrong if lines else said[:1])]
    return []


def _image(elf: Path, kernel: Path, parts: list[tuple[str, Path]], code: range) -> Image:
    with kernel.open("rb") as file:
        section = ELFFile(file).get_section_by_name(".vectors")
        if section is None:
            raise FvmError("has no section .vectors", file=kernel)
        content = section.data()
    entries: dict[int, int] = {}
    for number, (word,) in enumerate(struct.iter_unpack("<I", content[: len(content) // 4 * 4])):
        # The kernel has more than vectors in the section.
        if number > 0 and word & 1 and (not code or word in code):
            entries.setdefault(word & ~1, number)
    return Image(elf, Symbols(parts), entries, code)


def _code(elf: Path) -> range:
    with elf.open("rb") as file:
        found = [
            range(s["p_paddr"], s["p_paddr"] + s["p_filesz"])
            for s in ELFFile(file).iter_segments("PT_LOAD")
            if s["p_flags"] & 1
        ]
    return range(min(r.start for r in found), max(r.stop for r in found))


def _digest(files: Iterable[Path]) -> str:
    total = hashlib.sha256()
    for path in sorted(files):
        total.update(str(path).encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _fvmkit(*words: str | Path) -> None:
    _run(*FVMKIT, *map(str, words))


def _run(*command: str) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=make_environment()
    )
    if done.returncode != 0:
        raise FvmError(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
