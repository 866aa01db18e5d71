"""`python -m proofs`: everything that is proved or tried at length, and a summary.

Exit status 0 when all holds, 1 when something doesn't, 2 when a tool is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from composer.setup.packages import apt_get, as_root
from proofs import frama_c, spin
from proofs.encodings.__main__ import comparisons
from proofs.encodings.llvm import llvm_mc
from scanner.report.errors import FvmError

ROOT = Path(__file__).resolve().parents[1]
DESCRIPTION = ROOT / "tests/host/system.xml"
HOST_STEPS = "200000"

Line = tuple[bool, str]


def install() -> None:
    """Frama-C is large (860 MB), and LLVM is needed here alone, so `make setup` leaves them out."""
    packages = [] if llvm_mc() else ["llvm"]
    if not (shutil.which("frama-c") and shutil.which("why3") and shutil.which("cvc4")):
        packages += frama_c.PACKAGES
    if not packages:
        return
    root = as_root()
    if root is None or shutil.which("apt-get") is None:
        raise FvmError(f"please install by hand: apt-get install {' '.join(packages)}")
    apt_get(root, packages)


def tried(line: str, action: Callable[[], str]) -> Line:
    """The line with what the action says, or with why it failed."""
    try:
        said = action()
    except (frama_c.ProofError, spin.ModelError) as error:
        return False, f"{line}: {error}"
    return True, f"{line}: {said}"


def check_models(room: Path) -> list[Line]:
    """Every model in its long form, and every mistake."""

    def model_holds(model: spin.Model) -> str:
        states = spin.holds(model, room / model.name, {"LONG": "1"})
        return ", ".join(f"{claim} ({count} states)" for claim, count in states.items())

    def mistakes_are_noticed(model: spin.Model) -> str:
        for mistake in model.mistakes:
            if not spin.is_noticed(model, mistake, room / model.name / mistake):
                raise spin.ModelError(f"{mistake} violates nothing")
        return f"{len(model.mistakes)} planted mistakes are noticed"

    lines = []
    for model in spin.models():
        name = f"spin {model.name}"
        lines.append(tried(name, lambda model=model: model_holds(model)))  # type: ignore[misc]
        lines.append(tried(name, lambda model=model: mistakes_are_noticed(model)))  # type: ignore[misc]
    return lines


def check_contracts(room: Path) -> list[Line]:
    """Every contract, and a mistake for each."""
    generated = frama_c.compose(DESCRIPTION, room)
    subprocess.run(["why3", "config", "detect"], capture_output=True, check=False)

    def proved(name: str) -> str:
        done = frama_c.prove(name, generated)
        if not frama_c.mistake_is_noticed(name, generated, room):
            raise frama_c.ProofError("its planted mistake leaves no goal open")
        return f"{done.goals} of {done.goals} goals, {', '.join(done.functions)}"

    return [
        tried(f"wp {name}", lambda name=name: proved(name))  # type: ignore[misc]
        for name in frama_c.FUNCTIONS
    ]


def check_encodings() -> list[Line]:
    """The scanner's tables against LLVM's, core by core."""
    lines = []
    for arch, found in comparisons():
        for line in found.lines():
            print(f"verify: {arch}: {line}", flush=True)
        counts = f"{found.compared} encodings, {found.explained.total()} differences have a reason"
        lines.append((not found.unexplained, f"encodings {arch}: {counts}"))
    return lines


def run_host_tests() -> Line:
    """The kernel on this computer, at length, and all planted mistakes."""
    environment = {**os.environ, "FVM_HOST_STEPS": HOST_STEPS, "FVM_FULL": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--timeout", "3600", "tests/host"]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
    return done.returncode == 0, f"host tests: {HOST_STEPS} steps and all planted mistakes"


def main() -> int:
    """Run all, and say what holds."""
    try:
        install()
    except FvmError as error:
        print(f"verify: {error}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as room:
        lines = [*check_models(Path(room)), *check_contracts(Path(room))]
    lines += [*check_encodings(), run_host_tests()]
    for holds, line in lines:
        print(f"verify: {'holds ' if holds else 'FAILED'} {line}")
    failed = sum(not holds for holds, _ in lines)
    print(f"verify: {len(lines) - failed} of {len(lines)} hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
