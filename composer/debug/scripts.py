"""Set-up for debuggers that compose writes to DIR/debug: symbols of every part, no download.

Paths are absolute, because a debugger is started anywhere; compose writes the files anew when the
folder has moved.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from composer.debug.commands import COMMANDS
from composer.debug.port import USUAL
from composer.plan import DomainPlan, Plan

FOLDER = "debug"
SYSTEM = "system"
KERNEL = "kernel"
GDB = "gdb-multiarch"
# What OpenOCD calls the families of chips; its probes are ST's own, as on ST's boards.
OPENOCD_TARGETS = {"stm32f4": "target/stm32f4x.cfg", "stm32f7": "target/stm32f7x.cfg"}
OPENOCD_PROBE = "interface/stlink.cfg"
PORT = f"localhost:{USUAL}"


def gdb_path(path: Path) -> str:
    """A path as an argument of GDB's `file` and `add-symbol-file`."""
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def _elf(out: Path, name: str) -> Path:
    return out / name / f"{name}.elf"


def _script(out: Path, about: str, first: str, others: list[str]) -> str:
    """GDB's script: `first` is the program, the others are further symbols."""
    lines = [
        f"# {about}",
        "# Loads symbols, and nothing into the chip. Then connect:",
        f"#   QEMU, after fvmkit run DIR --gdb:   target remote {PORT}",
        "#   OpenOCD:                            target extended-remote localhost:3333",
        f"file {gdb_path(_elf(out, first))}",
        *(f"add-symbol-file {gdb_path(_elf(out, name))}" for name in others),
        f"source {out / FOLDER / 'commands.gdb'}",  # `source` takes the rest of the line as it is
    ]
    return "\n".join(lines) + "\n"


def gdb_scripts(plan: Plan, out: Path) -> dict[str, str]:
    """Relative name -> text. `out` is absolute."""
    names = [domain.name for domain in plan.domains]
    scripts = {
        f"{FOLDER}/commands.gdb": COMMANDS,
        f"{FOLDER}/{SYSTEM}.gdb": _script(
            out, "The whole system: the kernel, and every domain as further symbols.", KERNEL, names
        ),
    }
    for name in names:
        about = f"The domain {name}: `main` and all other names are its own first."
        scripts[f"{FOLDER}/{name}.gdb"] = _script(out, about, name, [KERNEL])
    return scripts


def launch_record(plan: Plan, out: Path) -> dict[str, Any]:
    """launch.json for the editor VS Code with its extension Cortex-Debug."""
    configurations = [_external(out, domain) for domain in plan.domains]
    target = OPENOCD_TARGETS.get(plan.chip.family)
    if target is not None:
        configurations += [_openocd(plan, out, domain, target) for domain in plan.domains]
    return {"version": "0.2.0", "configurations": configurations}


def _common(out: Path, domain: DomainPlan, where: str) -> dict[str, Any]:
    return {
        "name": f"{domain.name} ({where})",
        "type": "cortex-debug",
        "request": "attach",  # "launch" would load one domain over the image of all
        "cwd": "${workspaceFolder}",
        "executable": str(_elf(out, domain.name)),
        "symbolFiles": [str(_elf(out, domain.name)), str(_elf(out, KERNEL))],
        "gdbPath": GDB,
    }


def _external(out: Path, domain: DomainPlan) -> dict[str, Any]:
    commands = [f"source {out / FOLDER / 'commands.gdb'}", "fvm-view"]
    return {
        **_common(out, domain, "QEMU"),
        "servertype": "external",
        "gdbTarget": PORT,
        "overrideAttachCommands": commands,  # QEMU halts by itself and knows no `monitor halt`
        "overrideResetCommands": ["monitor system_reset"],
    }


def _openocd(plan: Plan, out: Path, domain: DomainPlan, target: str) -> dict[str, Any]:
    return {
        **_common(out, domain, "OpenOCD"),
        "servertype": "openocd",
        "device": plan.chip.name,
        "configFiles": [OPENOCD_PROBE, target],
        "preAttachCommands": [f"source {out / FOLDER / 'commands.gdb'}"],
    }
