"""The demonstration for one RTOS on one core: its project, as a user would have it, and what it
says on bare metal and as a guest.

The folder of each RTOS has its shim, its configuration and `rtos.json`: which files of its trees
make a project (`sources`, `headers`, `includes`, `defines`), on which `cores`, what its `handlers`
are called, options that it has to be `linked` with on bare metal, whether its build lets the
preprocessor see files named .s (`preprocess`), and the `edits` that a person had to make, of which
there should be none, on all cores or on its own `cores`. What a core has of its own stands under
it: more of these lists, and words that are filled in for `{word}`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.rtos.trees import find, trees_folder
from tests.support.built import Built, build, change
from tests.support.until_passed import said_until_passed

HERE = Path(__file__).resolve().parent
BENCHMARK = HERE.parents[1] / "benchmarks" / "application"
FVMKIT = Path(sys.executable).with_name("fvmkit")
PATIENCE = 60
ICOUNT = "shift=7,sleep=off"


@dataclass(frozen=True)
class Machine:
    """A machine of QEMU, and which of its devices the demonstration has."""

    core: str
    chip: str
    board: str
    fpu: str
    headers: str
    console: str
    uart: str
    timer: str
    clock: str
    line: int
    cpu: tuple[str, ...]
    clocks: str = ""


_SOFT, _HARD = "-mfloat-abi=soft", "-mfloat-abi=hard"
_CLOCKS = '<clocks m="8" n="336" p="2" q="7" apb1="4" apb2="2" latency="5"/>'
MACHINES = {
    it.core: it
    for it in (
        Machine(
            "cm3", "MPS2-AN385", "mps2-an385", "no", "mps2", "UART0", "UART1", "TIMER0", "TIMER1",
            8, ("-mcpu=cortex-m3", "-mthumb", _SOFT),
        ),
        Machine(  # an FPU that nobody uses
            "cm4", "STM32F405RG", "netduinoplus2", "no", "stm32f4", "USART6", "USART1", "TIM2",
            "TIM5", 28, ("-mcpu=cortex-m4", "-mthumb", _SOFT), _CLOCKS,
        ),
        Machine(
            "cm4f", "STM32F405RG", "netduinoplus2", "yes", "stm32f4", "USART6", "USART1", "TIM2",
            "TIM5", 28, ("-mcpu=cortex-m4", "-mthumb", _HARD, "-mfpu=fpv4-sp-d16"), _CLOCKS,
        ),
        Machine(
            "cm7", "MPS2-AN500", "mps2-an500", "yes", "mps2", "UART0", "UART1", "TIMER0", "TIMER1",
            8, ("-mcpu=cortex-m7", "-mthumb", _HARD, "-mfpu=fpv5-d16"),
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Edit:
    """What a person changes in a copy of the RTOS's file, and why."""

    file: str
    old: str
    new: str
    why: str


@dataclass(frozen=True)
class Rtos:
    """One RTOS on one core, as its record says."""

    folder: Path
    name: str
    machine: Machine
    trees: Mapping[str, list[str]]
    sources: list[str]
    headers: list[str]
    includes: list[str]
    defines: list[str]
    handlers: Mapping[str, str]
    linked: list[str]
    preprocess: bool
    edits: list[Edit] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.folder.name}-{self.machine.core}"

    def missing(self) -> str:
        """Why the trees aren't to be had; nothing when they are."""
        _, why = find(self.trees, trees_folder())
        return why and f"{self.name}: {why}"


def every() -> list[Rtos]:
    """Each RTOS with a folder here, on each of its cores."""
    return [
        _on(core, record.parent, json.loads(record.read_text("utf-8")))
        for record in sorted(HERE.glob("*/rtos.json"))
        for core in json.loads(record.read_text("utf-8"))["cores"]
    ]


def _on(core: str, folder: Path, said: Mapping[str, Any]) -> Rtos:
    words = said["cores"][core]

    def fill(text: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda it: str(words[it[1]]), text)

    def filled(key: str) -> list[str]:
        return [fill(text) for text in (*said.get(key, ()), *words.get(key, ()))]

    edits = [
        Edit(fill(it["file"]), it["old"], it["new"], it["why"])
        for it in said.get("edits", ())
        if core in it.get("cores", said["cores"])
    ]
    return Rtos(
        folder, said["name"], MACHINES[core], said["trees"], filled("sources"), filled("headers"),
        filled("includes"), filled("defines"), said["handlers"], filled("linked"),
        said.get("preprocess", False), edits,
    )  # fmt: skip


def project(rtos: Rtos, folder: Path) -> list[Path]:
    """Writes the project, and says what it builds."""
    trees, why = find(rtos.trees, trees_folder())
    assert trees, why
    own = folder / "application"
    shutil.copytree(HERE / "application", own)
    shutil.copy(HERE / "boards" / rtos.machine.headers / "board.h", own)
    shutil.copy(BENCHMARK / "inc" / "marks.h", own)
    for file in rtos.folder.rglob("*.[ch]"):
        target = own / file.relative_to(rtos.folder)
        target.parent.mkdir(exist_ok=True)
        shutil.copy(file, target)
    for patterns in (rtos.sources, rtos.headers):
        for pattern in patterns:
            name, _, inside = pattern.partition("/")
            matching = sorted(trees[name].glob(inside))
            assert matching, f"{rtos.name} has no {pattern}"
            for file in matching:
                target = folder / name / file.relative_to(trees[name])
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
    for edit in rtos.edits:
        edited = folder / edit.file
        edited.write_text(change(edited.read_text("utf-8"), edit.old, edit.new), "utf-8")
    built = [*sorted(own.glob("*.c"))]
    built += [it for pattern in rtos.sources for it in sorted(folder.glob(pattern))]
    options = _options(rtos, folder)
    commands = [
        {"directory": str(folder), "file": str(source),
         "arguments": ["arm-none-eabi-gcc", *options, "-c", *_named(rtos, source)]}
        for source in built
    ]  # fmt: skip
    (folder / "compile_commands.json").write_text(json.dumps(commands), "utf-8")
    return built


def _named(rtos: Rtos, source: Path) -> list[str]:
    """A source, as a command of its build has it."""
    language = ["-x", "assembler-with-cpp"] if rtos.preprocess and source.suffix == ".s" else []
    return [*language, str(source)]


def _options(rtos: Rtos, folder: Path) -> list[str]:
    folders = [f"-I{folder / name}" for name in ("application", *rtos.includes)]
    return [*rtos.machine.cpu, *(f"-D{it}" for it in rtos.defines), *folders]


def _description(rtos: Rtos, folder: Path, built: list[Path]) -> str:
    machine = rtos.machine
    inner = [f"<source>{it.relative_to(folder)}</source>" for it in built]
    inner += [f"<include>{it}</include>" for it in ("application", *rtos.includes)]
    inner += [f"<define>{it}</define>" for it in rtos.defines]
    granted = [machine.uart, machine.timer, machine.clock]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<system name="rtos" chip="{machine.chip}" board="{machine.board}">',
        f'<kernel tick="1000Hz" slice="5ms" console="{machine.console}" report="60s"/>',
        machine.clocks,
        f'<vm name="guest" flash="96K" ram="40K" fpu="{machine.fpu}" tick="1000Hz"',
        '    usr-stack="1K" vct-stack="1K">',
        f'<project path="{folder}" standard="gnu11" ldflags="--specs=nano.specs"',
        f'    preprocess="{"yes" if rtos.preprocess else "no"}">',
        *inner,
        "</project>",
        *(f'<{kind} handler="{handler}"/>' for kind, handler in rtos.handlers.items()),
        *(f'<device name="{it}"/>' for it in granted),
        f'<irq name="{machine.timer}" handler="board_timer_handler"/>',
        *(f'<clock name="{it}"/>' for it in granted if machine.clocks),
        "</vm>",
        "</system>",
    ]
    return "\n".join(lines)


def guest_system(rtos: Rtos, out: Path) -> Built:
    """The system of which the ported demonstration is the one guest."""
    folder = out.with_name(f"{out.name} project")
    shutil.rmtree(folder, ignore_errors=True)
    built = project(rtos, folder)
    description = out.with_name(f"{out.name} system.xml")
    description.write_text(_description(rtos, folder, built), "utf-8")
    return build(description, out)


def guest(system: Built) -> list[str]:
    """What the ported demonstration says."""
    command = [FVMKIT, "run", system.folder, "--icount", ICOUNT, "--timeout", PATIENCE]
    return said_until_passed([str(word) for word in command], "guest", PATIENCE)


def bare(rtos: Rtos, folder: Path) -> list[str]:
    """What it says as it was, without any virtual machine."""
    machine = rtos.machine
    elf = bare_elf(rtos, folder)
    serials = ["stdio"] if machine.clocks else ["null", "stdio"]
    qemu = ["qemu-system-arm", "-M", machine.board, "-kernel", str(elf), "-display", "none"]
    qemu += ["-monitor", "none", "-icount", ICOUNT]
    qemu += [word for serial in serials for word in ("-serial", serial)]
    return said_until_passed(qemu, "", PATIENCE)


def bare_elf(rtos: Rtos, folder: Path) -> Path:
    """The demonstration as it was, linked for bare metal."""
    machine = rtos.machine
    built = project(rtos, folder / "project")
    elf = folder / "bare.elf"
    names = {"switch": "SWITCH", "tick": "TICK", "svc": "SUPERVISOR"}
    flash = "0x08000000" if machine.clocks else "0"
    command = ["arm-none-eabi-gcc", *_options(rtos, folder / "project"), "-O2", "-std=gnu11"]
    command += [f"-D{names[kind]}={handler}" for kind, handler in rtos.handlers.items()]
    command += ["-ffunction-sections", "-fdata-sections", "-fno-common"]  # as a guest
    command += [
        "-nostartfiles",
        f"-T{BENCHMARK / 'startup' / 'bare.ld'}",
        f"-Wl,--defsym=FLASH={flash}",
        *rtos.linked,
    ]
    command += ["--specs=nano.specs", "-o", str(elf), str(HERE / "bare.c")]
    command += [word for it in built for word in (*_named(rtos, it), "-x", "none")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return elf
