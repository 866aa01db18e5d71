"""The image of the fault campaign."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.support.built import Built, build

HERE = Path(__file__).parent
WITNESS = "guests/witness"
KERNEL = "FreeRTOS-Kernel"
EXAMPLE = HERE.parents[1] / "examples" / "two-legacy-mcus" / "motor-controller"


def make(room: Path) -> Built:
    """The witness is one tree, its FreeRTOS kernel included, as a vendor's would be."""
    project = room.with_name(f"{room.name} witness")
    shutil.rmtree(project, ignore_errors=True)
    shutil.copytree(HERE / WITNESS, project)
    shutil.copytree(EXAMPLE / KERNEL, project / KERNEL)
    return build(HERE / "system.xml", room, {WITNESS: project})
