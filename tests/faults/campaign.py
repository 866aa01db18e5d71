"""The whole fault campaign: `make faults`.

Commits every crime under the tracer, then every control; says how far it is; writes
build/faults/result.json, build/faults/longest.json and the tables of docs/faults.md.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from composer.image.composed import read_composed
from composer.simulate.shared import Kind
from composer.simulate.tracer import Tracer
from tests.faults import table
from tests.faults.controls import CONTROLS, UNPROTECTED, Control, changed_system, is_noticed
from tests.faults.crimes import CRIMES
from tests.faults.image import make
from tests.faults.longest import Longer, Longest
from tests.faults.sweep import SWEEPS, Sweep, sweep
from tests.faults.trial import commit, judge
from tests.support.built import Built

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "faults"


@dataclass(frozen=True)
class Outcome:
    """Of one crime, control or sweep. `broken` is empty if it is as it should be."""

    name: str
    id: str
    role: str  # crime, control, sweep
    broken: list[str]
    longest: dict[Kind, Longer]
    seconds: float


def try_crime(system: Built, index: int) -> list[Outcome]:
    """By its index: a crime can't be sent to another process."""
    crime = CRIMES[index]
    start = time.monotonic()
    longest = Longest(system)
    with Tracer(read_composed(system.folder)) as tracer:
        trial = commit(system, crime, tuple(tracer.arguments))
        longest.add(tracer.read(), crime.name)
    broken = judge(system, crime, trial)
    seconds = time.monotonic() - start
    return [Outcome(crime.name, crime.id, "crime", broken, dict(longest.found), seconds)]


def try_sweep(system: Built, one: Sweep) -> list[Outcome]:
    start = time.monotonic()
    broken = sweep(system, one, full=True)
    return [Outcome(one.name, one.id, "sweep", broken, {}, time.monotonic() - start)]


def try_controls(system: Built, controls: list[Control]) -> list[Outcome]:
    """All that lack the same mechanism: the system without it is built once."""
    changed = changed_system(system, controls[0].missing, BUILD)
    found = []
    for control in controls:
        start = time.monotonic()
        broken = [] if is_noticed(changed, control) else [f"{control.breaks} holds without it"]
        id_ = control.crime.partition(" ")[0]
        seconds = time.monotonic() - start
        found.append(Outcome(control.name, id_, "control", broken, {}, seconds))
    return found


def results_of(done: Future[list[Outcome]], name: str) -> list[Outcome]:
    """Of an attempt; one that failed by itself is broken, and the others go on."""
    try:
        return done.result()
    except (OSError, AssertionError) as error:  # QEMU that stands still or is gone, too
        return [Outcome(name, name.partition(" ")[0], "failed", [repr(error)], {}, 0.0)]


def run_all(system: Built) -> list[Outcome]:
    total = len(CRIMES) + len(SWEEPS) + len(CONTROLS)
    outcomes: list[Outcome] = []
    mechanisms = {control.missing: None for control in CONTROLS}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        attempts = {
            pool.submit(try_crime, system, index): crime.name for index, crime in enumerate(CRIMES)
        }
        attempts |= {pool.submit(try_sweep, system, one): one.name for one in SWEEPS}
        for mechanism in mechanisms:
            controls = [c for c in CONTROLS if c.missing == mechanism]
            attempts[pool.submit(try_controls, system, controls)] = (
                mechanism.name if mechanism else UNPROTECTED
            )
        for done in as_completed(attempts):
            for outcome in results_of(done, attempts[done]):
                outcomes.append(outcome)
                say(f"{len(outcomes):4}/{total}", outcome)
    return sorted(outcomes, key=lambda o: (o.id, o.role, o.name))


def say(progress: str, outcome: Outcome) -> None:
    verdict = "ok" if not outcome.broken else "BROKEN"
    print(f"{progress} {verdict:6} {outcome.role:7} {outcome.name} ({outcome.seconds:.1f} s)")
    for sentence in outcome.broken:
        print(f"       {sentence}")
    sys.stdout.flush()


def conclude(system: Built, outcomes: Sequence[Outcome]) -> int:
    longest = Longest(system)
    for outcome in outcomes:
        longest.merge(outcome.longest)
    longest.write(BUILD / "longest.json")
    results = [{"name": o.name, "id": o.id, "role": o.role, "broken": o.broken} for o in outcomes]
    (BUILD / "result.json").write_text(json.dumps(results, indent=2) + "\n", "utf-8")
    table.write(ROOT / "docs" / "faults.md", results, longest.as_json())
    broken = [o for o in outcomes if o.broken]
    print(f"{len(outcomes)} done, {len(broken)} broken")
    print(table.longest_sentence(longest.as_json()))
    return 1 if broken else 0


def main() -> int:
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    print("builds the system")
    system = make(BUILD / "system")
    return conclude(system, run_all(system))


if __name__ == "__main__":
    sys.exit(main())
