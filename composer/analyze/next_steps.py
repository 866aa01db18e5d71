"""What to type next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from composer.analyze.model import BuildFacts, ChipFacts
from composer.chips.chip import Chip
from composer.init.foreign import build_system


def next_steps(project: Path, chip: ChipFacts, build: BuildFacts, host: Chip) -> Iterator[str]:
    """Commands in their order, each with what it is for behind #."""
    name = shlex.quote(str(project))
    if build.told_by.value is None:
        known = build_system(project)
        how = known[1] if known else "have make name every file, or write compile_commands.json"
        yield f"# {how}; then"
        yield f"fvmkit analyze {name}"
    if (chip.core.value or "").startswith("rv32"):
        yield f"fvmkit port {name}  # the diff; init drafts systems of Arm chips alone"
        return
    if build.languages and set(build.languages) <= {"C++", "assembler"}:
        yield f"fvmkit port {name}  # the diff; the description is by hand, init follows C alone"
        return
    yield f"fvmkit init {name} --chip {host.name} -o system.xml  # the first description"
