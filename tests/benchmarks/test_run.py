"""The whole way once: both sides built, ported, linked, run; few samples."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.build import Configuration, verify
from benchmarks.counting import measure
from benchmarks.machines import MACHINES
from benchmarks.operations import BY_NAME
from benchmarks.results import Results, run
from benchmarks.text import profile
from composer.simulate.machine import QEMU

pytestmark = pytest.mark.campaign

NAMES = ("ctx", "ntf", "ntf/i", "ntf/t", "handler", "native", "mask", "signal", "switch")
COUNT = 20
BY_TIMER = Path(__file__).with_name("yield_by_timer.c")


@dataclass(frozen=True)
class Elsewhere(Configuration):
    """Builds in a folder of the test."""

    place: Path

    @property
    def folder(self) -> Path:
        return self.place


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    place = tmp_path_factory.mktemp("bench")
    return run(Elsewhere(MACHINES["cm4f"], "2", place), [BY_NAME[n] for n in NAMES], COUNT)


def test_what_is_measured_may_be_flashed(results: Results) -> None:
    """Its start-up calls the hypervisor over and over before it freezes its configuration."""
    assert verify(results.configuration) == []


def test_every_operation_has_its_samples_on_every_side_that_has_it(results: Results) -> None:
    for operation in results.operations:
        virtual, bare = results.virtual.figures(operation), results.bare.figures(operation)
        assert virtual is not None
        assert virtual.count == COUNT
        assert (bare is not None) == operation.bare
        assert bare is None or bare.count == COUNT


def test_a_second_run_counts_the_same(results: Results, tmp_path: Path) -> None:
    handler = BY_NAME["handler"]
    machine, image = results.configuration.machine, results.virtual.image
    first, second = (measure(machine, image, [handler], COUNT, tmp_path) for _ in range(2))
    assert (first["handler"].samples == second["handler"].samples).all()


def test_the_timer_of_the_machine_says_the_same_of_a_yield(
    results: Results, tmp_path: Path
) -> None:
    application = tmp_path / "application"
    shutil.copytree(results.configuration.folder / "application", application)
    shutil.rmtree(application / "build")
    shutil.copy(BY_TIMER, application / "src" / "cooperative.c")
    subprocess.run(["make", "-C", application], check=True, capture_output=True)
    command = [QEMU, "-M", "netduinoplus2", "-display", "none", "-monitor", "none"]
    command += ["-serial", "null", "-kernel", str(application / "build" / "bare.elf")]
    command += ["-semihosting-config", "enable=on,target=native", "-icount", "shift=4,sleep=off"]
    found = results.bare.figures(BY_NAME["ctx"])
    assert found is not None
    # The compiler may keep a constant of the loop in a register here.
    assert abs(subprocess.run(command, check=False, timeout=120).returncode - found.mean) <= 1


def test_bare_metal_takes_an_exception_for_what_a_machine_does_without(results: Results) -> None:
    for name in ("ctx", "ntf"):
        bare = results.bare.figures(BY_NAME[name])
        virtual = results.virtual.figures(BY_NAME[name])
        assert bare is not None
        assert virtual is not None
        assert (bare.exceptions, virtual.exceptions) == (1, 0)
        assert bare.least == bare.most  # nothing else runs there


def test_a_way_is_as_long_as_its_parts(results: Results) -> None:
    def mean(name: str) -> float:
        figures = results.virtual.figures(BY_NAME[name])
        assert figures is not None
        return figures.mean

    assert mean("ntf/t") > mean("handler") + mean("ntf/i")
    assert mean("ntf/t") < mean("handler") + mean("ntf/i") + 40  # the handler's own few


def test_a_profile_names_the_functions_of_both_sides(results: Results) -> None:
    text = "\n".join(profile(results, BY_NAME["ntf/t"], listed=True))
    for name in ("PendSV_Handler (bare)", "vTaskSwitchContext (guest)", "fvm_vct_main (guest)"):
        assert name in text
