"""What VMs write into the log: whose it is, what it can't forge, and what it may cost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest

from composer.simulate.log import TEXT, Record, parse
from tests.support.built import Built
from tests.support.counted import run
from tests.support.machine import Machine

CONSOLES = {"flood": 1, "mute": 2, "log": 6}
FLOOD, ROOM = 1000, 256  # characters of text.c; of the kernel's queue
LONGEST = 80  # characters in a line of the log
OWNER = -4


@pytest.fixture(scope="module")
def said(system: Callable[[str], Built]) -> dict[str, list[str]]:
    """Lines of each console, to the last that is of interest."""
    with Machine(system("text").elf, CONSOLES) as running:
        return {
            "log": running.console["log"].read_until(lambda line: "last line" in line, 20),
            "flood": running.console["flood"].read_until(lambda line: "other" in line, 20),
            "mute": running.console["mute"].read_until(lambda line: "other" in line, 20),
        }


@pytest.fixture(scope="module")
def written(said: dict[str, list[str]]) -> list[Record]:
    """The log's lines with what VMs wrote."""
    return [record for record in map(parse, said["log"]) if record.kind == TEXT]


def texts(written: list[Record], domain: str) -> list[str]:
    """What a VM wrote, line by line."""
    return [record.said for record in written if record.fields["domain"] == domain]


def count(lines: list[str], key: str) -> int:
    """A number that a guest reports."""
    (found,) = (re.fullmatch(rf"{key}=(-?\d+)", line) for line in lines if line.startswith(key))
    assert found
    return int(found[1])


def test_ported_code_that_wrote_to_the_trace_port_writes_into_the_log(
    written: list[Record],
) -> None:
    assert texts(written, "legacy") == ["speed=12 rpm"]


def test_lines_are_the_vms_own_and_forge_nothing(written: list[Record]) -> None:
    lines = [record for record in written if record.fields["domain"] == "flood"]
    assert [line.said for line in lines[:2]] == ["first line", "?[2J? tick=5 said=??"]
    assert "tick" not in lines[1].fields
    assert lines[2].said.startswith("?x")  # a zero
    assert lines[-1].said == "last line"


def test_what_finds_no_room_is_refused_and_the_log_says_how_much(
    said: dict[str, list[str]], written: list[Record]
) -> None:
    refused = count(said["flood"], "refused")
    assert 0 < refused <= FLOOD - ROOM // 2
    assert count(said["flood"], "other") == 0
    lines = [record for record in written if record.fields["domain"] == "flood"]
    assert sum(record.number("lost") or 0 for record in lines) == refused
    assert sum(record.said.count("x") for record in lines) == FLOOD - refused
    assert max(len(record.said) for record in lines) == LONGEST


def test_who_may_not_write_is_refused(said: dict[str, list[str]], written: list[Record]) -> None:
    assert count(said["mute"], "other") == FLOOD * OWNER
    assert texts(written, "mute") == []


def test_a_vm_that_faults_again_and_again_keeps_no_other_line_out(
    system: Callable[[str], Built],
) -> None:
    log = run(system("noisy").elf, {}, 3000).log
    kinds = Counter(record.kind for record in log)
    assert kinds["fault"] > 50, "as many as there is room for"
    assert kinds[TEXT] > 20 and kinds["stat"] > 20
    assert kinds["lost"] > 0
