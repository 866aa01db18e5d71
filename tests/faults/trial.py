"""One crime: the system in which it is committed, and all observables at its end."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.faults.crimes.context import CRIMES
from tests.faults.crimes.crime import Crime, words_of
from tests.faults.observe import Expected, broken
from tests.support.built import Built
from tests.support.counted import Transcript, run
from tests.support.halted import Halted
from tests.support.invariants import KernelState

CONSOLES = {"victim": 1, "witness": 2, "plain": 3, "rogue": 4}
NOTHING = CRIMES[0]
PATIENCE = 30.0  # seconds of the processor; floods and storms take long


@dataclass(frozen=True)
class Trial:
    """What was seen."""

    transcript: Transcript
    violations: list[str]  # of the kernel's invariants
    rights: dict[str, Any]


def commit(
    system: Built, crime: Crime, options: tuple[str, ...] = (), patience: float = PATIENCE
) -> Trial:
    """Runs the system in which `crime` is committed, then looks into its kernel."""
    folder = Path(tempfile.mkdtemp(prefix="fvm-"))
    try:
        image = system.patched(folder / "system.elf", words_of(system, crime))
        halted = Halted(folder, patience=4 * patience)
        violations: list[str] = []
        rights: dict[str, Any] = {}

        def inspect() -> None:
            try:
                with halted:
                    if not halted.leave_kernel():
                        violations.append("the kernel doesn't come to an end")
                        return
                    kernel = KernelState(system, image, halted.memory)
                    violations.extend(kernel.violations())
                    rights.update(kernel.rights())
            except (OSError, IndexError) as error:  # it crashed, or its pointers lead nowhere
                violations.append(f"the kernel's state can't be read: {error}")

        options = (*halted.options, *options)
        transcript = run(
            image, CONSOLES, crime.until, options=options, patience=patience, inspect=inspect
        )
        return Trial(transcript, violations, rights)
    finally:
        shutil.rmtree(folder)


@cache
def rights_at_rest(folder: Path, description: Path) -> dict[str, Any]:
    """Of a system in which nothing happens."""
    return commit(Built(folder, description), NOTHING).rights


def judge(system: Built, crime: Crime, trial: Trial) -> list[str]:
    """Every observable that doesn't hold."""
    expected = crime.expected(system)
    found = broken(trial.transcript, crime.by, expected)
    found += [f"O3: {sentence}" for sentence in trial.violations]
    if keeps_rights(expected) and trial.rights != rights_at_rest(system.folder, system.description):
        found.append(f"O7: rights changed to {trial.rights}")
    return found


def keeps_rights(expected: Expected) -> bool:
    return expected.restarts == 0 and not expected.changes
