"""Every configuration, built and run: part of `make soak`.

The first argument is for how long, in seconds of a computer that does nothing else; numbers of
configurations may follow, which are run anew, and the others stay as they were. Writes
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
from tests.configurations.runs import Outcome, run
from tests.configurations.switches import configurations, name_of
from tests.support.built import Built, build

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "configurations"
SEED = 1
FAILURES = (AssertionError, ArithmeticError, LookupError, OSError, TypeError, ValueError)
TICKS_A_SECOND = 20  # of two machines that are halted all the time
SHORTEST = 130


def make(index: int, folder: Path) -> Built:
    """Builds a configuration in a folder of its name."""
    row = configurations()[index]
    name = name_of(row)
    text = folder / f"{name}.in.xml"
    folder.mkdir(parents=True, exist_ok=True)
    text.write_text(describe(row, name, index + 1), "utf-8")
    return build(text, folder / name)


def attempt(index: int, ticks: int) -> tuple[int, Outcome, list[statement.Way], float]:
    """Its outcome, and all ways of all its branches."""
    start = time.monotonic()
    row = configurations()[index]
    try:
        system = make(index, BUILD)
        assembler = Assembler(system.folder / "kernel" / "kernel.elf")
        outcome = run(system, row, ticks, SEED)
    except FAILURES:  # the others go on
        complaint = traceback.format_exc()
        return index, Outcome(complaints=[complaint]), [], time.monotonic() - start
    ways = [(b.place, way) for b in assembler.branches for way in b.directions]
    return index, outcome, ways, time.monotonic() - start


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3600.0
    again = [int(word) for word in sys.argv[2:]]
    ticks = max(SHORTEST, int(TICKS_A_SECOND * seconds / len(configurations())))
    results: dict[str, Any] = {}
    ways = statement.Statement()
    if again:
        results = json.loads((BUILD / "result.json").read_text("utf-8"))
        ways.read(BUILD / "coverage.json", {name_of(configurations()[i]) for i in again})
    else:
        shutil.rmtree(BUILD, ignore_errors=True)
        BUILD.mkdir(parents=True)
    chosen = again or range(len(configurations()))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        attempts = [pool.submit(attempt, index, ticks) for index in chosen]
        for number, done in enumerate(as_completed(attempts), start=1):
            index, outcome, possible, took = done.result()
            name = name_of(configurations()[index])
            ways.add(name, possible, outcome.ways)
            results[name] = {"switches": configurations()[index], **outcome.as_json()}
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
    print(f"{len(results)} configurations, {broken} broken; {ways.sentence()}")
    return 1 if broken or never or ways.needless() else 0


if __name__ == "__main__":
    sys.exit(main())
