"""The kernel at other levels of optimisation: accepted, and changes of its code are noticed.

In CI the smallest one and a sixth of the changes, with FVM_FULL all.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from composer.verify.verify import verify
from tests.runtime.conftest import SYSTEMS
from tests.support.built import Built, build, change, described_otherwise, once
from tests.support.campaign import FULL
from tests.system.road import NAME, fvmkit
from tests.verify.mutation import Mutant, Original, caught_in_code
from tests.verify.test_code_mutants import KERNEL, Kernel

pytestmark = pytest.mark.campaign

LEVELS = ("1", "3", "s") if FULL else ("s",)  # 2 is what all other tests have
SHARE = 1 if FULL else 6


@pytest.fixture(scope="session")
def at_level(example: Built, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Built]:
    """The example, compiled again."""

    def make(level: str) -> Built:
        def build(folder: Path) -> Built:
            shutil.copytree(example.folder, folder, ignore=shutil.ignore_patterns("image"))
            description = example.description.with_name(f"level-{level}.xml")
            text = example.description.read_text("utf-8")
            description.write_text(
                change(text, "<system ", f'<system optimize="{level}" '), "utf-8"
            )
            for words in (
                ("compose", description, "--out", folder),
                ("build", folder),
                ("link", folder),
            ):
                said = fvmkit(*words, cwd=folder.parent)
                assert said.status == 0, said.all
            return Built(folder, description)

        return once(tmp_path_factory, f"{NAME} level {level}", build)

    return make


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_is_accepted(at_level: Callable[[str], Built], level: str) -> None:
    built = at_level(level)
    report = verify(built.elf, built.description)
    assert [f"{c.id}: {f}" for c in report.checks for f in c.findings] == []


@pytest.mark.parametrize("name", ["threads", "stops", "held"])
def test_objects_of_the_run_time_and_held_lines_too(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    def make(room: Path) -> Built:
        base = once(tmp_path_factory, name, lambda folder: build(SYSTEMS / f"{name}.xml", folder))
        return described_otherwise(base, room, "<system ", '<system optimize="s" ')

    built = once(tmp_path_factory, f"{name} level s", make)
    report = verify(built.elf, built.description)
    assert [f"{c.id}: {f}" for c in report.checks for f in c.findings] == []


@pytest.mark.parametrize("level", LEVELS)
def test_a_patched_kernel_is_found_at_every_level(
    at_level: Callable[[str], Built], level: str
) -> None:
    built = at_level(level)
    original = Original(built)
    code = Kernel(original, built)
    for what in list(KERNEL)[LEVELS.index(level) % SHARE :: SHARE]:
        check, patch = KERNEL[what]
        found = caught_in_code(original.mutated(Mutant(what, patch(code))))
        assert found is not None, what
        assert found.startswith(f"{check}: "), f"{what}: {found}"
