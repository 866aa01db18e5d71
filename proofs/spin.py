"""Spin models: each holds its properties, and each planted mistake violates one.

A model names its properties with `ltl NAME` (without any, its assertions are what is checked), and
its mistakes with `#ifdef WRONG_NAME` or `#ifndef WRONG_NAME`.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

MODELS = Path(__file__).parent / "models"
DEPTH = 1_000_000
PACKAGE = "spin"


class ModelError(Exception):
    """Spin, the compiler or the checker couldn't do its work."""


@dataclass(frozen=True)
class Model:
    """A file of `models`."""

    path: Path

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.path.stem

    @property
    def text(self) -> str:
        """Its Promela."""
        return self.path.read_text("utf-8")

    @property
    def properties(self) -> list[str | None]:
        """Names of the formulas; [None] where there are only assertions."""
        return list(re.findall(r"^ltl (\w+)", self.text, re.M)) or [None]

    @property
    def mistakes(self) -> list[str]:
        """The names that plant one each."""
        return sorted(set(re.findall(r"\bWRONG_\w+", self.text)))


def models() -> list[Model]:
    """All, by name."""
    return [Model(path) for path in sorted(MODELS.glob("*.pml"))]


def _run(command: list[str], room: Path) -> str:
    done = subprocess.run(command, cwd=room, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ModelError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def compile_model(model: Model, room: Path, defines: dict[str, str], fast: bool) -> Path:
    """The checker of a model; `fast`: a program that is worth its compilation."""
    room.mkdir(parents=True, exist_ok=True)
    words = [f"-D{name}={value}" for name, value in defines.items()]
    _run(["spin", *words, "-a", str(model.path.resolve())], room)
    options = ["-O2" if fast else "-O0", "-w", "-DNOFAIR"]
    if "provided" in model.text:
        options.append("-DNOREDUCE")  # Spin's manual: the two don't go together
    if model.properties == [None]:
        options.append("-DSAFETY")
    _run(["gcc", *options, "-o", "pan", "pan.c"], room)
    return room / "pan"


def check(program: Path, claim: str | None) -> tuple[bool, int]:
    """Whether the property holds, and how many states were looked at."""
    words = ["-E"] if claim is None else ["-a", "-N", claim]
    said = _run([str(program), f"-m{DEPTH}", *words], program.parent)
    found = re.search(r"errors: (\d+)\s+(\d+) states, stored", said)
    if found is None or "search depth too small" in said:
        raise ModelError(f"{program}: {said}")
    return found[1] == "0", int(found[2])


def holds(model: Model, room: Path, defines: dict[str, str] | None = None) -> dict[str, int]:
    """States looked at by property; ModelError when one doesn't hold."""
    program = compile_model(model, room, defines or {}, fast=True)
    states = {}
    for claim in model.properties:
        right, count = check(program, claim)
        if not right:
            raise ModelError(f"{model.name}: {claim or 'an assertion'} is violated")
        states[claim or "assertions"] = count
    return states


def is_noticed(model: Model, mistake: str, room: Path) -> bool:
    """Whether the planted mistake violates a property."""
    program = compile_model(model, room, {mistake: "1"}, fast=False)
    return any(not check(program, claim)[0] for claim in model.properties)
