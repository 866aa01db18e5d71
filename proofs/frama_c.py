"""Frama-C's WP on the kernel's own sources: every goal of the contracts is proved.

A file of `contracts` says what the functions of one source promise and includes that source. So the
kernel stays free of annotations, but for the invariants of a loop. Numbers of objects are those of
the system that the host tests run on.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from composer.sources import runtime_folder

CONTRACTS = Path(__file__).parent / "contracts"
PACKAGES = ("frama-c-base", "why3", "cvc4", "z3")
SECONDS = "20"  # a goal


class ProofError(Exception):
    """Frama-C couldn't do its work, or left a goal open."""


@dataclass(frozen=True)
class Proved:
    """Of one file: goals proved, among them the tests that no premise contradicts another."""

    name: str
    functions: list[str]
    goals: int


# What of each file is proved.
FUNCTIONS = {
    "capability": ["capability_at"],
    "context": ["context_arch_return_bits", "context_arch_resume"],
    "domain": ["domain_holds"],
    "event": ["event_grant", "event_bind", "event_send", "event_deliver", "deliver_to_vcpu"],
    "interrupt": ["line_bit", "kind_of", "interrupt_route", "interrupt_enable"],
    "pin": ["pin_grant"],
}

# One-line changes of a source that leave a goal open: file of the runtime, old, new.
MISTAKES = {
    "capability": ("kernel/capability.c", "number < domain->capability_count", "number < 9999"),
    "context": (
        "arch/armv7m/context.c",
        "#define EXC_RETURN_THREAD_PSP 0xFFFFFFED",
        "#define EXC_RETURN_THREAD_PSP 0xFFFFFFE5",
    ),
    "domain": ("kernel/domain.c", "domain->ram_size - offset >= size", "size <= domain->ram_size"),
    "event": ("kernel/event.c", "!= sender_domain || may_send[event] == 0", "!= sender_domain"),
    "interrupt": (
        "kernel/interrupt.c",
        "route->target != vcpu->index ||\n        route->virt_id != virt_id",
        "route->virt_id != virt_id",
    ),
    "pin": (
        "kernel/pin.c",
        "grant->domain == domain_index && grant->port == port",
        "grant->port == port",
    ),
}


def _sh(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ProofError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def compose(description: Path, room: Path) -> Path:
    """Folder of the generated kernel headers."""
    out = room / "composed"
    _sh([sys.executable, "-m", "composer.cli", "compose", str(description), "--out", str(out)])
    return out / "kernel"


def goals(name: str, generated: Path, changed: Path | None = None) -> tuple[int, int]:
    """Proved and all. `changed` is a folder that is searched before the runtime."""
    runtime = runtime_folder()
    folders = [generated, CONTRACTS, *([changed] if changed else []), runtime]
    folders += [runtime / "include", runtime / "arch/armv7m/include"]
    words = ["-m32", *(f"-I{folder}" for folder in folders)]
    said = _sh(
        [
            *("frama-c", "-c11", "-machdep", "gcc_x86_32", f"-cpp-extra-args={' '.join(words)}"),
            *("-kernel-warn-key", "annot:missing-spec=inactive"),
            *("-wp", "-wp-rte", "-wp-smoke-tests", "-wp-prover", "cvc4,z3"),
            *("-wp-timeout", SECONDS, "-wp-fct", ",".join(FUNCTIONS[name])),
            str(CONTRACTS / f"{name}.c"),
        ]
    )
    found = re.search(r"Proved goals: +(\d+) / (\d+)", said)
    if found is None:
        raise ProofError(said)
    return int(found[1]), int(found[2])


def prove(name: str, generated: Path) -> Proved:
    """ProofError unless every goal is proved."""
    proved, total = goals(name, generated)
    if proved != total:
        raise ProofError(f"{name}: {proved} of {total} goals are proved")
    return Proved(name, FUNCTIONS[name], total)


def mistake_is_noticed(name: str, generated: Path, room: Path) -> bool:
    """Whether a goal stays open when the source has its planted mistake."""
    file, old, new = MISTAKES[name]
    text = (runtime_folder() / file).read_text("utf-8")
    if text.count(old) != 1:
        raise ProofError(f"{file} changed: plant the mistake of '{name}' anew")
    changed = room / name / file
    changed.parent.mkdir(parents=True)
    changed.write_text(text.replace(old, new), "utf-8")
    proved, total = goals(name, generated, room / name)
    return proved < total
