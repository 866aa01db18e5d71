"""`python -m tests.whole_roads --chip CHIP PROJECT...`: projects as they come, alone on a chip.

For every project: `init`, then `compose`, `port`, `build` and `link`, with nothing decided by hand.
A line says how far each came, how many places were left to a person, and how many of these are of
DMA and external interrupt lines; below it stand the reasons. Nothing is written to the projects.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.trees.measured import port

_FVMKIT = (sys.executable, "-m", "composer.cli")
_SECONDS = 1800.0
_LATER = re.compile(r"\b(?:EXTI|DMA)")
_WORDS = 60  # characters of a reason


def main(words: Sequence[str] | None = None) -> int:
    """Exit status: 0 if every project was linked and nothing of it was left to a person."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chip", required=True)
    parser.add_argument("--board", help="where the result shall run, as `fvmkit init` takes it")
    parser.add_argument("projects", nargs="+", type=Path)
    options = parser.parse_args(words)
    target = ["--chip", options.chip, *(["--board", options.board] if options.board else [])]
    done = [_road(project, target) for project in options.projects]
    print(f"{sum(done)} of {len(done)} projects came to an image with nothing left to a person")
    return 0 if all(done) else 1


def _road(project: Path, target: list[str]) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        system, out = Path(folder, "system.xml"), Path(folder, "out")
        said = _run("init", project, *target, "-o", system)
        if not system.exists() or not _composed(system, out):
            print(f"{project.name}: no system: {said.splitlines()[-1:]}", flush=True)
            return False
        policy = next(it for it in out.glob("*.domain.json") if it.name != "hypervisor.domain.json")
        name = policy.name.removesuffix(".domain.json")
        to = ["--domain", str(policy), "--out", str(out / "ported" / name)]
        ported = port(project, to, _SECONDS)
        open_places = [it for it in (ported.report or {}).get("sites", ()) if _is_open(it)]
        built = ported.report is not None and _ends_well("build", out, "--quiet")
        linked = built and _composed(system, out) and _ends_well("link", out, "-o", out / "image")
    later = sum(bool(_LATER.search(it["what"] + it["reason"])) for it in open_places)
    print(
        f"{project.name}: port {ported.trouble or ported.status} in {ported.seconds:.0f} s and "
        f"{ported.megabytes:.0f} MB, {len(open_places)} places open ({later} of DMA and EXTI), "
        f"{'built' if built else 'not built'}, {'linked' if linked else 'not linked'}",
        flush=True,
    )
    reasons = Counter(it["reason"][:_WORDS] for it in open_places)
    for reason, count in reasons.most_common():
        print(f"    {count} x {reason}", flush=True)
    return linked and ported.status == 0


def _is_open(site: dict[str, Any]) -> bool:
    return bool(site["status"] == "escalated")


def _composed(system: Path, out: Path) -> bool:
    return _ends_well("compose", system, "--out", out)


def _ends_well(*words: str | Path) -> bool:
    return subprocess.run([*_FVMKIT, *words], capture_output=True, check=False).returncode == 0


def _run(*words: str | Path) -> str:
    done = subprocess.run([*_FVMKIT, *words], capture_output=True, text=True, check=False)
    return done.stderr or done.stdout


if __name__ == "__main__":
    sys.exit(main())
