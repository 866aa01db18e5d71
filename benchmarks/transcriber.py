"""What it takes to port FreeRTOS' switch handlers, for each core that has a port of its own."""

from __future__ import annotations

import difflib
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.build import ROOT
from benchmarks.machines import NETDUINO
from composer.setup.freertos import FOLDER, PORTS_FOLDER
from porter.context_switch import SwitchPort, transcribe_project
from porter.context_switch.accept import PRIVILEGED, with_runtime
from porter.context_switch.assemble import Assembly, assemble
from porter.context_switch.decode import Instruction, decode
from porter.project.compile_options import CompileOptions
from porter.source.source_file import ASM_SUFFIXES

CONFIGURATION = ROOT / "examples" / "two-legacy-mcus" / "motor-controller" / "inc"
SOFT = ("-mthumb", "-mfloat-abi=soft")
PORTS = {
    "ARM_CM0": ("-mcpu=cortex-m0", *SOFT),
    "ARM_CM3": ("-mcpu=cortex-m3", *SOFT),
    "ARM_CM4F": NETDUINO.cpu,
    "ARM_CM7/r0p1": ("-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-d16"),
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
    shutil.copy(CONFIGURATION / "FreeRTOSConfig.h", folder)
    include = (folder, ROOT / FOLDER / "include", folder / port)
    options = CompileOptions(include, ("configENABLE_MPU=0",), cpu, "arm-none-eabi-gcc")
    files = sorted((folder / port).iterdir())
    before = {file: file.read_bytes() for file in files}
    privileged = _privileged(files, options)
    headers = sorted((ROOT / FOLDER / "include").glob("*.h"))
    ports = transcribe_project(folder, [*files, *headers], options)
    for edit in sorted(ports, key=lambda edit: -edit.start):
        data = edit.file.read_bytes() if edit.file.exists() else b""
        edit.file.write_bytes(data[: edit.start] + edit.replacement + data[edit.end :])
    after = _privileged(files, with_runtime(options))
    handlers = {
        edit.name: asdict(_row(edit, privileged, after))
        for edit in ports
        if edit.proof is not None or edit.status == "escalated"
    }
    return {"diff": _diff(before), "handlers": handlers}


def _row(
    edit: SwitchPort, before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]
) -> Row:
    if edit.proof is None:
        return Row(edit.status, reason=edit.reason)
    proof, name = edit.proof, _linked(edit.name, before)
    return Row(
        edit.status,
        proof.runs.instructions,
        sum(line.split(b"/*")[0].rstrip().endswith(b";") for line in edit.replacement.splitlines()),
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
            for name, instructions in _functions(assembly):
                wrong = sum(instruction.name in PRIVILEGED for instruction in instructions)
                found[name] = (len(instructions), wrong)
    return found


def _functions(assembly: Assembly) -> Iterator[tuple[str, list[Instruction]]]:
    for function in assembly.object.functions:
        yield function.name, decode(assembly.object, function, assembly.text)


def _diff(before: dict[Path, bytes]) -> str:
    added = taken = 0
    for file, data in before.items():
        texts = data.decode("latin-1").splitlines(), file.read_text("latin-1").splitlines()
        changes = list(difflib.unified_diff(*texts, lineterm="", n=0))[2:]
        added += sum(line.startswith("+") for line in changes)
        taken += sum(line.startswith("-") for line in changes)
    return f"+{added}/-{taken}"
