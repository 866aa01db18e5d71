"""Every configuration and every named system, built and run: part of `make soak`.

The first argument is for how long, in seconds of a computer that does nothing else; numbers of
configurations and names of systems may follow, which are run anew, and the others stay as they
were. Writes
build/configurations/result.json, build/configurations/coverage.json and the tables of
docs/faults.md; fails for any complaint, and for a branch of the kernel's assembler that never went
one of its ways.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from tests.configurations import statement
from tests.configurations.branches import Assembler
from tests.configurations.describe import describe
from tests.configurations.named import NAMED
from tests.configurations.runs import Outcome, run
from tests.configurations.switches import configurations, name_of, number_of
from tests.support.built import Built, build

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "configurations"
SEED = 1
FAILURES = (AssertionError, ArithmeticError, LookupError, OSError, TypeError, ValueError)
TICKS_A_SECOND = 20  # of two machines that are halted all the time
SHORTEST = 160  # by then who is hostile committed a crime everywhere


def make(index: int, folder: Path) -> Built:
    """Builds a configuration in a folder of its name."""
    row = configurations()[index]
    name = name_of(row)
    text = folder / f"{name}.in.xml"
    folder.mkdir(parents=True, exist_ok=True)
    text.write_text(describe(row, name, index + 1), "utf-8")
    return build(text, folder / name)


def attempt(name: str, ticks: int) -> tuple[str, Outcome, list[statement.Way], float]:
    """Its outcome, and all ways of all its branches."""
    start = time.monotonic()
    try:
        if name in NAMED:
            system = NAMED[name].build(BUILD / f"{name}.in.xml", BUILD / name)
            outcome = NAMED[name].run(system)
        else:
            index = number_of(name)
            system = make(index, BUILD)
            outcome = run(system, configurations()[index], ticks, SEED)
        assembler = Assembler(system.folder / "kernel" / "kernel.elf")
    except FAILURES:  # the others go on
        complaint = traceback.format_exc()
        return name, Outcome(complaints=[complaint]), [], time.monotonic() - start
    ways = [(b.place, way) for b in assembler.branches for way in b.directions]
    return name, outcome, ways, time.monotonic() - start


def about(name: str) -> dict[str, Any]:
    if name in NAMED:
        return {"what": NAMED[name].what}
    return {"switches": configurations()[number_of(name)]}


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3600.0
    again = [word if word in NAMED else name_of(configurations()[int(word)])
             for word in sys.argv[2:]]  # fmt: skip
    ticks = max(SHORTEST, int(TICKS_A_SECOND * seconds / len(configurations())))
    results: dict[str, Any] = {}
    ways = statement.Statement()
    if again:
        results = json.loads((BUILD / "result.json").read_text("utf-8"))
        ways.read(BUILD / "coverage.json", set(again))
    else:
        shutil.rmtree(BUILD, ignore_errors=True)
        BUILD.mkdir(parents=True)
    chosen = again or [*NAMED, *map(name_of, configurations())]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        attempts = [pool.submit(attempt, name, ticks) for name in chosen]
        for number, done in enumerate(as_completed(attempts), start=1):
            name, outcome, possible, took = done.result()
            ways.add(name, possible, outcome.ways)
            results[name] = {**about(name), **outcome.as_json()}
            del results[name]["ways"]
            say(f"{number:3}/{len(chosen)}", name, outcome, took)
            keep(results, ways)
    return conclude(dict(sorted(results.items())), ways)


def say(progress: str, name: str, outcome: Outcome, seconds: float) -> None:
    verdict = "BROKEN" if outcome.complaints else "ok"
    print(f"{progress} {verdict:6} {name} ({seconds:.0f} s)")
    for sentence in outcome.complaints:
        print(f"       {sentence}")
    sys.stdout.flush()


def keep(results: dict[str, Any], ways: statement.Statement) -> None:
    (BUILD / "result.json").write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    ways.write(BUILD / "coverage.json")


def conclude(results: dict[str, Any], ways: statement.Statement) -> int:
    keep(results, ways)
    statement.write_tables(ROOT / "docs" / "faults.md", results, ways)
    never = ways.never()
    for place, way in never:
        print(f"NEVER  {place} {way}")
    for place, way in ways.needless():
        print(f"TAKEN  {place} {way}, which is excepted")
    broken = sum(bool(result["complaints"]) for result in results.values())
    print(f"{len(results)} systems, {broken} broken; {ways.sentence()}")
    return 1 if broken or never or ways.needless() else 0


if __name__ == "__main__":
    sys.exit(main())
