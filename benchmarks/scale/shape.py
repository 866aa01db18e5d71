"""Systems of different sizes, and their images."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from benchmarks.build import ROOT, Configuration, build_virtual
from benchmarks.counting import Image, patched
from benchmarks.machines import MACHINES, NETDUINO
from composer.setup.freertos import FOLDER, PORTS_FOLDER

HERE = Path(__file__).resolve().parent
PARTS = ("application", "guest", "native")
COMMON = ("marks.h", "core.h", "FreeRTOSConfig.h")  # headers of the other benchmarks


# All on MPS2 boards, which have the same devices: instructions don't depend on the board.
CORES = {
    "cm3": MACHINES["cm3"],
    "cm4f": replace(
        MACHINES["cm3"],
        core="cm4f",
        chip="MPS2-AN386",
        board="mps2-an386",
        qemu="mps2-an386",
        port=NETDUINO.port,
        cpu=NETDUINO.cpu,
        fpu=True,
    ),
    "cm7": MACHINES["cm7"],
}


@dataclass(frozen=True)
class Shape(Configuration):
    """How large a system is: its virtual machines, and the virtual vectors of the first one."""

    vms: int
    vectors: int

    @property
    def folder(self) -> Path:
        """Where it is built."""
        return ROOT / "build/bench" / f"scale-{self.name}-{self.vms}-vms-{self.vectors}-vectors"


def put(target: Path, content: bytes) -> None:
    """Files that don't change keep their time stamps."""
    if not target.exists() or target.read_bytes() != content:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def put_common(folder: Path) -> None:
    """Headers that the applications share."""
    for header in COMMON:
        name = f"application/inc/{header}"
        put(folder / name, (HERE.parent / name).read_bytes())


def put_freertos(project: Path, port: str) -> None:
    """The FreeRTOS kernel in a project's folder."""
    wanted = ("*.c", "include/*.h", f"portable/GCC/{port}/*.[ch]", "portable/MemMang/heap_4.c")
    for kernel in (ROOT / FOLDER, ROOT / PORTS_FOLDER):
        for file in (found for pattern in wanted for found in kernel.glob(pattern)):
            put(project / "FreeRTOS-Kernel" / file.relative_to(kernel), file.read_bytes())


def describe(template: str, **values: object) -> bytes:
    """A description made from a template of this folder."""
    templates = Environment(
        loader=FileSystemLoader(HERE), undefined=StrictUndefined, trim_blocks=True
    )
    return templates.get_template(template).render(**values).encode()


def build(shape: Shape) -> Image:
    """The system of a shape."""
    folder = shape.folder
    for part in PARTS:
        for source in (HERE / part).rglob("*.[ch]"):
            put(folder / source.relative_to(HERE), source.read_bytes())
    put_common(folder)
    put_freertos(folder / "application", shape.machine.port)
    for template in ("system.xml", "application/Makefile"):
        put(folder / template, describe(f"{template}.j2", shape=shape, machine=shape.machine))
    return build_virtual(shape)


def with_constants(image: Image, folder: Path, values: dict[str, int]) -> Image:
    """The image with other values of constants that its parts define; a name may be in several."""
    words = {
        address: values[name]
        for (_, name), address in image.symbols.objects.items()
        if name in values
    }
    missing = set(values) - {name for _, name in image.symbols.objects}
    assert not missing, f"no constant {missing}"
    elf = patched(image.elf, folder / "constants.elf", words)
    return replace(image, elf=elf)
