"""The instruments that measure growing systems, and that what must not grow doesn't."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from benchmarks.build import Configuration
from benchmarks.samples import Figures
from benchmarks.scale.curves import point
from benchmarks.scale.determinism import Experiment, Latency, experiment
from benchmarks.scale.plots import Histogram, curves, histograms
from benchmarks.scale.results import write_sections
from benchmarks.scale.shape import CORES, Shape
from tests.benchmarks.alone import alone

pytestmark = pytest.mark.campaign

CORE = CORES["cm3"]
CONSTANT = ("ctx", "call", "handler", "task")


@pytest.fixture(scope="module")
def small() -> Mapping[str, Figures]:
    with alone("scale"):
        return point(Shape(CORE, "2", 1, 6), 1, 50, 10)


@pytest.fixture(scope="module")
def large() -> Mapping[str, Figures]:
    with alone("scale"):
        return point(Shape(CORE, "2", 4, 64), 32, 50, 10)


@pytest.mark.parametrize("name", CONSTANT)
def test_operations_cost_the_same_in_a_large_system(
    small: Mapping[str, Figures], large: Mapping[str, Figures], name: str
) -> None:
    # The compiler may fold a constant where there is just one machine.
    assert small[name].least == pytest.approx(large[name].least, abs=1)
    assert small[name].mean == pytest.approx(large[name].mean, rel=0.02)


def test_the_tick_of_every_machine_is_work(large: Mapping[str, Figures]) -> None:
    assert large["tick_due_work"].least > large["tick_work"].least


LONGEST_ENTRY = 150
"""Instructions: docs/faults.md has the longest of the fault campaign."""


@pytest.fixture(scope="module")
def latency() -> Experiment:
    with alone("latency"):
        return experiment(Configuration(CORE, "2"), 2000)


def test_bare_metal_is_delayed_by_a_handler_of_the_flood(latency: Experiment) -> None:
    quiet, flooded = (latency.latencies["bare", load] for load in ("quiet", "flooded"))
    assert np.median(quiet.samples) == np.median(flooded.samples)
    assert flooded.samples.max() - quiet.samples.max() > 20
    assert flooded.entropy > quiet.entropy
    assert flooded.rate > 10_000


def test_a_more_urgent_machine_hardly_notices_the_flood_of_another_one(latency: Experiment) -> None:
    quiet, flooded = (latency.latencies["virtual", load] for load in ("quiet", "flooded"))
    assert np.median(quiet.samples) == np.median(flooded.samples)
    assert flooded.samples.mean() <= 1.02 * quiet.samples.mean()
    # Late by a stub, or by the wait of the machine that it woke. The longest latencies are
    # coincidences of which so few samples hold one or two; docs/scaling.md has them.
    late = [np.percentile(found.samples, 95) for found in (quiet, flooded)]
    assert late[1] - late[0] <= 2 * latency.usual_stub
    assert latency.usual_stub <= latency.longest_stub <= LONGEST_ENTRY
    assert flooded.rate > 10_000, "no interrupt of the flood is lost"


def test_a_latency_begins_at_the_trigger(latency: Experiment) -> None:
    for found in latency.latencies.values():
        assert 50 < found.samples.min() <= np.median(found.samples) < 2000


def test_entropy_in_bits() -> None:
    def of(*samples: int) -> float:
        return Latency(np.array(samples), 0.0, ()).entropy

    assert of(7, 7, 7, 7) == 0
    assert of(1, 2, 3, 4) == pytest.approx(2)
    assert of(1, 1, 1, 2) == pytest.approx(0.811, abs=0.001)


def test_pictures_are_well_formed_and_show_every_value() -> None:
    picture = ET.fromstring(
        curves("a < b", "size", [1, 2, 4], {"one": [10, 20, 40], "two": [5] * 3})
    )
    texts = [text.text or "" for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert "a < b" in texts and "one: 10 to 40" in texts and "two: 5 to 5" in texts
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}circle"))) == 6
    ET.fromstring(histograms("h", [Histogram("p", {1: 3, 100: 1}, "note")]))


def test_tables_of_other_cores_stay(tmp_path: Path) -> None:
    file = tmp_path / "latency.md"
    write_sections(file, {"cm3": ["| cm3 | 1 |", ""], "cm4f": ["| cm4f | 2 |", ""]})
    write_sections(file, {"cm4f": ["| cm4f | 3 |", ""]})
    text = file.read_text("utf-8")
    assert text.count("## ") == 2
    assert "| cm3 | 1 |" in text
    assert "| cm4f | 3 |" in text
    assert "| cm4f | 2 |" not in text
