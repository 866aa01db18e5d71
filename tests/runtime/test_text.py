"""What VMs write into the log: whose it is, what it can't forge, and what it may cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from composer.simulate.log import TEXT, Record
from tests.support.built import Built
from tests.support.counted import Transcript, run

CONSOLES = {"flood": 1, "mute": 2}
FLOOD, ROOM = 1000, 256  # characters of text.c; of the kernel's queue
LONGEST = 80  # characters in a line of the log
OWNER = -4


@pytest.fixture(scope="module")
def ran(system: Callable[[str], Built]) -> Transcript:
    """In counted instructions: in real time a tick may fall between two characters of a line."""
    return run(system("text").elf, CONSOLES, 2000)


@pytest.fixture(scope="module")
def written(ran: Transcript) -> list[Record]:
    """The log's lines with what VMs wrote."""
    return [record for record in ran.log if record.kind == TEXT]


def texts(written: list[Record], domain: str) -> list[str]:
    """What a VM wrote, line by line."""
    return [record.said for record in written if record.fields["domain"] == domain]


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
    ran: Transcript, written: list[Record]
) -> None:
    guest = ran.values("flood")
    refused = guest["refused"]
    assert 0 < refused <= FLOOD - ROOM // 2
    assert guest["other"] == 0
    lines = [record for record in written if record.fields["domain"] == "flood"]
    assert sum(record.number("lost") or 0 for record in lines) == refused
    assert sum(record.said.count("x") for record in lines) == FLOOD - refused
    assert max(len(record.said) for record in lines) == LONGEST


def test_who_may_not_write_is_refused(ran: Transcript, written: list[Record]) -> None:
    assert ran.values("mute")["other"] == FLOOD * OWNER
    assert texts(written, "mute") == []


def test_a_vm_that_faults_again_and_again_keeps_no_other_line_out(
    system: Callable[[str], Built],
) -> None:
    log = run(system("noisy").elf, {}, 3000).log
    kinds = Counter(record.kind for record in log)
    assert kinds["fault"] > 50, "as many as there is room for"
    assert kinds[TEXT] > 20 and kinds["stat"] > 20
    assert kinds["lost"] > 0
