"""Compiles the kernel for this computer, 32 bits wide, with the sanitizers, and a driver around it.

The sources are the real ones. Only what touches the processor is replaced: files of
`tests/host/arch` stand in for those of the same name in `fvm-runtime/arch/armv7m`, and the tables
are the composer's, with every domain's memory at the address of an array of the description's
size. An access beside such an array ends the program.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from composer.sources import runtime_folder

HERE = Path(__file__).resolve().parent
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
MACHINE = ("-m32", "-no-pie", "-fno-pie", "-std=gnu11", "-g", "-O1", "-fno-omit-frame-pointer")
_WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-type-limits")


class CompileError(Exception):
    """The compiler's words."""


def sh(command: list[str]) -> str:
    """Standard output; CompileError with both outputs when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def _relocated(tables: str) -> str:
    """The tables with host addresses in place of the chip's."""
    for kind in ("flash", "ram"):
        parts = re.split(rf"(\.{kind}_base = )0x[0-9A-F]+u", tables)
        tables = parts[0]
        for domain, (prefix, rest) in enumerate(zip(parts[1::2], parts[2::2], strict=True)):
            tables += f"{prefix}(uint32_t)host_{kind}_{domain}{rest}"
    return re.sub(r"(\.own = \d+, \.address = )0x\w+", r"\1(uint32_t)&host_port[6]", tables)


def _memory(tables: str) -> tuple[str, str]:
    """Declarations and definitions of the domains' memory."""
    sizes = {
        kind: [int(s, 16) for s in re.findall(rf"\.{kind}_size = (0x[0-9A-F]+)u", tables)]
        for kind in ("flash", "ram")
    }
    arrays = [
        (f"host_{kind}_{n}", size) for kind, found in sizes.items() for n, size in enumerate(found)
    ]
    header = "".join(f"extern uint32_t {name}[{size // 4}];\n" for name, size in arrays)
    source = "".join(
        f"__attribute__((aligned(32))) uint32_t {name}[{size // 4}];\n" for name, size in arrays
    )
    source += "const struct host_memory host_memory[FVM_DOMAINS] = {\n"
    for n, (flash, ram) in enumerate(zip(sizes["flash"], sizes["ram"], strict=True)):
        source += f"    {{host_flash_{n}, host_ram_{n}, {flash}, {ram}}},\n"
    return header, source + "};\n"


def generated(folder: Path, description: Path) -> None:
    """Composes the description and fits what is generated for the kernel to this computer."""
    out = folder / "composed"
    sh([sys.executable, "-m", "composer.cli", "compose", str(description), "--out", str(out)])
    tables = (out / "kernel/fvm_tables.c").read_text()
    header, memory = _memory(tables)
    stubs = re.findall(r"void fvm_stub_(\d+)\(void\);", (out / "kernel/fvm_stubs.c").read_text())
    (folder / "host_memory.h").write_text(f"#include <stdint.h>\n{header}")
    (folder / "host_memory.c").write_text(
        '#include <stddef.h>\n#include "host_memory.h"\n#include "processor.h"\n'
        + memory
        + "".join(f"void fvm_stub_{line}(void);\n" for line in stubs)
        + "void (*const host_stub[FVM_IRQS])(void) = {\n"
        + "".join(f"    [{line}] = fvm_stub_{line},\n" for line in stubs)
        + "};\n"
    )
    (folder / "fvm_tables.c").write_text(
        '#include "host_memory.h"\n#include "processor.h"\n' + _relocated(tables)
    )
    shutil.copy(out / "kernel/fvm_stubs.c", folder)
    # Clocks and pins of the chip aren't here: the boot table has a test of its own.
    config = re.sub(r"(FVM_BOOT_OPS) \d+", r"\1 0", (out / "kernel/fvm_config.h").read_text())
    (folder / "fvm_config.h").write_text(config)


def architecture_sources(runtime: Path) -> list[Path]:
    """The host's files, and those of the real architecture that it has no other for."""
    own = {path.name: path for path in (HERE / "arch").glob("*.c")}
    real = {path.name: path for path in (runtime / "arch/armv7m").glob("*.c")}
    return sorted({**real, **own}.values())


def flags(folder: Path, runtime: Path) -> list[str]:
    """Options of every file."""
    includes = [folder, HERE / "machine", HERE / "arch/include", runtime / "include"]
    includes += [runtime / "arch/armv7m/include", runtime]
    return [*MACHINE, *_WARNINGS, *SANITIZERS, *(f"-I{path}" for path in includes)]


def _object(folder: Path, source: Path) -> Path:
    return folder / f"{source.parent.name}-{source.stem}.o"


def _compile(folder: Path, source: Path, target: Path, common: list[str]) -> None:
    words = ["-include", str(HERE / "machine/arm_words.h")]
    sh(["gcc", *common, *words, "-c", "-o", str(target), str(source)])


def compile_kernel(folder: Path) -> Path:
    """The driver program. `folder` has the output of `generated`."""
    runtime = runtime_folder()
    sources = [*(runtime / "kernel").glob("*.c"), *architecture_sources(runtime)]
    sources += [*(HERE / "machine").glob("*.c"), *folder.glob("*.c")]
    common = flags(folder, runtime)
    for source in sources:
        _compile(folder, source, _object(folder, source), common)
    return _link(folder, [_object(folder, source) for source in sources], common)


def _link(room: Path, objects: list[Path], common: list[str]) -> Path:
    driver = room / "driver"
    sh(["gcc", *common, "-o", str(driver), *map(str, sorted(objects))])
    return driver


def compile_changed(folder: Path, room: Path, name: str, text: str) -> Path:
    """The driver in `room`, of the kernel in `folder` with another text of one of its sources."""
    runtime = runtime_folder()
    changed = room / Path(name).parent.name / Path(name).name
    changed.parent.mkdir(parents=True)
    changed.write_text(text)
    common = [f"-I{room}", *flags(folder, runtime)]
    sources = [changed]
    if changed.suffix == ".h":
        header = f'#include "{name}"'
        sources = [path for path in runtime.glob("kernel/*.c") if header in path.read_text()]
    for source in sources:
        _compile(folder, source, _object(room, source), common)
    made = {_object(room, source).name for source in sources}
    others = [path for path in folder.glob("*.o") if path.name not in made]
    return _link(room, [*others, *(room / name for name in made)], common)
