"""What it takes to port FreeRTOS' switch handlers, for each core that has a port of its own."""

from __future__ import annotations

import difflib
import json
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.build import ROOT
from benchmarks.machines import NETDUINO
from composer.setup.freertos import FOLDER, PORTS_FOLDER
from porter.context_switch.accept import with_runtime
from porter.context_switch.assemble import Assembly, assemble
from porter.context_switch.cortex_m_code import PRIVILEGED
from porter.context_switch.decode import decode
from porter.context_switch.object_file import Function
from porter.context_switch.project import transcribe_project
from porter.context_switch.result import SwitchPort
from porter.context_switch.riscv.decode import decode_all
from porter.context_switch.riscv.machine import RV32
from porter.context_switch.riscv.roles import is_privileged
from porter.project.compile_options import CompileOptions
from porter.project.compiler_command import compiler_for
from porter.source.source_file import ASM_SUFFIXES

CONFIGURATION = ROOT / "examples" / "two-legacy-mcus" / "motor-controller" / "inc"
SOFT = ("-mthumb", "-mfloat-abi=soft")
RISCV = ("-march=rv32imac", "-misa-spec=2.2", "-mabi=ilp32", "--specs=picolibc.specs")
RISCV_CONFIGURATION = ROOT / "tests" / "porter" / "context_switch" / "riscv" / "qemu"
PORTS = {
    "ARM_CM0": ("-mcpu=cortex-m0", *SOFT),
    "ARM_CM3": ("-mcpu=cortex-m3", *SOFT),
    "ARM_CM4F": NETDUINO.cpu,
    "ARM_CM7/r0p1": ("-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-d16"),
    "RISC-V": RISCV,
}


@dataclass(frozen=True)
class Row:
    """One handler. `instructions` are the original's, all of which ran in the proof; `statements`
    and `c_instructions` are those of its C, compiled at -O1; `c_runs` is how many run in the mean
    of all states at -O2; `privileged` instructions before and after; `states`, `conditions`,
    `paths` and `yields` are the proof's, which took `seconds` of processor time. An escalated
    handler has the reason and nothing else."""

    status: str
    instructions: int = 0
    statements: int = 0
    c_instructions: int = 0
    c_runs: float = 0
    privileged_before: int = 0
    privileged_after: int = 0
    states: int = 0
    conditions: int = 0
    paths: int = 0
    yields: int = 0
    seconds: float = 0
    reason: str = ""


def measure() -> dict[str, dict[str, object]]:
    """port -> handlers by name, and the lines that a diff of the existing files adds and takes."""
    found: dict[str, dict[str, object]] = {}
    for port, cpu in PORTS.items():
        with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder:
            found[port] = _port(port, cpu, Path(folder))
    return found


def write_json(path: Path) -> list[str]:
    """Measure, keep it, and say it in a line a handler."""
    found = measure()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    lines = []
    for port, content in found.items():
        lines.append(f"{port}: {content['diff']} lines in existing files")
        handlers = content["handlers"]
        assert isinstance(handlers, dict)
        for name, row in handlers.items():
            lines.append(f"    {name}: {row}")
    return lines


def _port(port: str, cpu: tuple[str, ...], folder: Path) -> dict[str, object]:
    for kernel in (ROOT / PORTS_FOLDER, ROOT / FOLDER):
        source = kernel / "portable" / "GCC" / port
        if source.is_dir():
            shutil.copytree(source, folder / port)
    configuration = RISCV_CONFIGURATION if cpu is RISCV else CONFIGURATION
    shutil.copy(configuration / "FreeRTOSConfig.h", folder)
    files = sorted(file for file in (folder / port).rglob("*") if file.is_file())
    near = dict.fromkeys(file.parent for file in files)
    include = (folder, ROOT / FOLDER / "include", *near)
    options = CompileOptions(include, ("configENABLE_MPU=0",), cpu, compiler_for(cpu))
    before = {file: file.read_bytes() for file in files}
    privileged = _privileged(files, options)
    headers = sorted((ROOT / FOLDER / "include").glob("*.h"))
    ports = transcribe_project(folder, [*files, *headers], options)
    for edit in sorted(ports, key=lambda edit: -edit.start):
        data = edit.file.read_bytes() if edit.file.exists() else b""
        edit.file.write_bytes(data[: edit.start] + edit.replacement + data[edit.end :])
    new = [edit.file for edit in ports if edit.file not in before]
    after = _privileged([*files, *new], with_runtime(options))
    companions = b"".join(file.read_bytes() for file in new).decode("latin-1")
    handlers = {
        edit.name: asdict(_row(edit, privileged, after, companions))
        for edit in ports
        if edit.proof is not None or edit.status == "escalated"
    }
    return {"diff": _diff(before), "handlers": handlers}


def _row(
    edit: SwitchPort,
    before: dict[str, tuple[int, int]],
    after: dict[str, tuple[int, int]],
    companions: str,
) -> Row:
    if edit.proof is None:
        return Row(edit.status, reason=edit.reason)
    proof, name = edit.proof, _linked(edit.name, before)
    return Row(
        edit.status,
        proof.runs.instructions,
        _statements(edit, companions),
        after[name][0],
        round(proof.steps, 1),
        before[name][1],
        after[name][1],
        proof.runs.states,
        proof.runs.conditions,
        proof.paths,
        proof.yields,
        round(proof.seconds, 2),
    )


def _statements(edit: SwitchPort, companions: str) -> int:
    """Of the C of a function, which stands in a companion if its file is one of assembler."""
    text = edit.replacement.decode("latin-1")
    if edit.file.suffix.lower() in ASM_SUFFIXES:
        bodies = rf"^[^\n]*\b{edit.name}(?:_first)?\([^\n]*\)\n{{\n(.*?)^}}"
        text = "\n".join(re.findall(bodies, companions, re.DOTALL | re.MULTILINE))
    return sum(line.split("/*")[0].rstrip().endswith(";") for line in text.splitlines())


def _linked(name: str, functions: dict[str, tuple[int, int]]) -> str:
    """FreeRTOSConfig.h names the handlers as the vector table does."""
    aliases = {"xPortPendSVHandler": "PendSV_Handler", "vPortSVCHandler": "SVC_Handler"}
    return name if name in functions else aliases.get(name, name)


def _privileged(files: Sequence[Path], options: CompileOptions) -> dict[str, tuple[int, int]]:
    """function -> its instructions, and how many of them are privileged."""
    found = {}
    for file in files:
        if file.suffix == ".c" or file.suffix.lower() in ASM_SUFFIXES:
            assembly = assemble(file, options)
            for function in assembly.object.functions:
                found[function.name] = _counted(assembly, function)
    return found


def _counted(assembly: Assembly, function: Function) -> tuple[int, int]:
    """The instructions of a function, and how many of them are privileged."""
    if assembly.object.machine is RV32:
        there = decode_all(assembly.object, function, assembly.text).values()
        return len(there), sum(is_privileged((it,)) for it in there)
    found = decode(assembly.object, function, assembly.text)
    return len(found), sum(it.name in PRIVILEGED for it in found)


def _diff(before: dict[Path, bytes]) -> str:
    added = taken = 0
    for file, data in before.items():
        texts = data.decode("latin-1").splitlines(), file.read_text("latin-1").splitlines()
        changes = list(difflib.unified_diff(*texts, lineterm="", n=0))[2:]
        added += sum(line.startswith("+") for line in changes)
        taken += sum(line.startswith("-") for line in changes)
    return f"+{added}/-{taken}"
