"""Why a line isn't given to one domain and a block that raises it to another: the control."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from composer.description.parse import parse
from composer.resolve import resolve
from composer.verify.verify import verify
from scanner.report.errors import FvmError
from tests.runtime.conftest import SYSTEMS
from tests.support import built
from tests.support.built import Built, build, change, once
from tests.support.counted import Board, Transcript, run

pytestmark = pytest.mark.campaign

DESCRIPTION = SYSTEMS / "overflow.xml"
UNCHECKED = """
import composer.description.check as check
check.check_neighbours = lambda system, chip: None
from composer.cli import main
main()
"""


def values(system: Built) -> dict[str, int]:
    """What the worker says: how often it went round before and after its neighbour's overflow."""
    transcript: Transcript = run(system.elf, {"worker": 2}, 300, board=Board("mps2-an386", 5, 4, 5))
    assert transcript.reached
    return transcript.values("worker")


@pytest.fixture(scope="module")
def with_line(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The description in which the worker has the combined line."""
    text = change(
        DESCRIPTION.read_text("utf-8"),
        '<device name="UART1"/>',
        '<device name="UART1"/>\n    <irq name="UART_OVERFLOW" handler="overflow_handler"/>',
    ).replace('path="../.."', f'path="{DESCRIPTION.parents[2]}"')
    description = tmp_path_factory.mktemp("given") / "given.xml"
    description.write_text(text, "utf-8")
    return description


@pytest.fixture
def unchecked(
    with_line: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Built:
    """The same system, composed without the check."""
    monkeypatch.setattr(built, "_FVMKIT", (sys.executable, "-c", UNCHECKED))
    return once(tmp_path_factory, "overflow-given", lambda room: build(with_line, room))


def test_who_has_no_combined_line_doesnt_notice_a_neighbours_overflow(
    system: Callable[[str], Built],
) -> None:
    said = values(system("overflow"))
    assert said["overflows"] == 0
    assert said["after"] > 0.95 * said["before"] > 1000


def test_compose_refuses_the_combined_line(with_line: Path, tmp_path: Path) -> None:
    with pytest.raises(FvmError, match=r"'UART_OVERFLOW' of 'worker' .* by 'UART2'"):
        resolve(parse(with_line), tmp_path / "out")


def test_verify_rejects_an_image_with_it(unchecked: Built) -> None:
    report = verify(unchecked.elf, unchecked.description)
    assert [(check.id, check.findings) for check in report.failed] == [
        ("neighbours", ("interrupt line 12 (UART_OVERFLOW) of 'worker': 'neighbour' has UART2,"
                        " which raises it",))
    ]  # fmt: skip


def test_control_with_the_combined_line_a_neighbour_stops_it(unchecked: Built) -> None:
    """The line never comes down again."""
    said = values(unchecked)
    assert said["overflows"] > 1000
    assert said["after"] < 0.05 * said["before"]
