"""Rule 9, capabilities and refusals: nobody gets what belongs to somebody else, and a refused
call changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.runtime.observed import about
from tests.support.built import Built
from tests.support.counted import Transcript, run

OK, E_ARGUMENT, E_OWNER, E_LOCKED, E_BUSY = 0, -3, -4, -5, -6
CONSOLES = {"owner": 1, "peer": 2, "wild": 4}
OWN_PIN_HIGH, OWN_PIN_LOW = 1 << 5, 1 << (16 + 5)


@pytest.fixture(scope="module")
def bus_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rights") / "unimplemented"


@pytest.fixture(scope="module")
def transcript(system: Callable[[str], Built], bus_log: Path) -> Transcript:
    options = ("-d", "unimp", "-D", str(bus_log))
    return run(system("rights").elf, CONSOLES, 1000, options=options)


@pytest.fixture(scope="module")
def starts(transcript: Transcript) -> list[dict[str, int]]:
    """What the owner said after each of its two starts."""
    first, second = transcript.text["owner"].split("rebooting\r\n")
    return [
        {k: int(v) for k, v in (line.split("=") for line in part.split("\r\n") if line)}
        for part in (first, second)
    ]


@pytest.mark.parametrize("start", [0, 1])
def test_what_belongs_to_somebody_else_is_refused(starts: list[dict[str, int]], start: int) -> None:
    for subject in ("foreign", "nobodys"):
        for what, result in about(starts[start], subject).items():
            registers = what.endswith(("_bind", "_add"))
            assert result == (E_LOCKED if registers else E_OWNER), f"{subject}.{what}"
    assert set(about(starts[start], "unlocked").values()) == {E_OWNER}, "before lockdown too"


@pytest.mark.parametrize("start", [0, 1])
def test_its_own_is_granted(starts: list[dict[str, int]], start: int) -> None:
    assert set(about(starts[start], "allowed").values()) == {OK}
    assert about(starts[start], "got") == {"events": 1}


@pytest.mark.parametrize("start", [0, 1])
def test_numbers_out_of_range_are_refused(starts: list[dict[str, int]], start: int) -> None:
    assert set(about(starts[start], "range").values()) == {E_ARGUMENT}


@pytest.mark.parametrize("start", [0, 1])
def test_lockdown_freezes_mappings_and_event_rights(
    starts: list[dict[str, int]], start: int
) -> None:
    assert set(about(starts[start], "locked").values()) == {E_LOCKED}


def test_a_reboot_drops_rights_and_routes_until_they_are_registered_again(
    starts: list[dict[str, int]], transcript: Transcript
) -> None:
    for start in starts:
        assert about(start, "unregistered") == {"line": E_OWNER, "event": E_OWNER}
    assert starts[1]["boot"] == 2, "the start-up code registered everything a second time"
    peer = transcript.values("peer")
    assert peer["busy"] in range(2 * 14, 2 * 22), "for 20 ms of each start nobody listened"
    assert (peer["sent"] + peer["busy"], peer["other"]) == (400, 0)


def test_wild_call_numbers_are_refused(starts: list[dict[str, int]]) -> None:
    assert about(starts[0], "wild") == {"not_refused": 0}


def test_vct_may_not_make_the_calls_that_block_usr(starts: list[dict[str, int]]) -> None:
    assert about(starts[0], "vct") == {"refused": 5, "not_refused": 0}


def test_a_process_gets_nothing_without_a_capability(transcript: Transcript) -> None:
    assert about(transcript.values("wild"), "wild") == {
        "numbers": 0,
        "capabilities": 0,
        "own_capability": 0,
    }
    assert transcript.values("wild")["done"] == 1


def test_a_process_sends_the_event_it_has_a_capability_for(transcript: Transcript) -> None:
    assert about(transcript.values("wild"), "event") == {"while_it_starts": E_BUSY, "sent": OK}
    assert transcript.values("peer")["wilds"] == 1


def test_refused_pin_writes_reach_no_port(transcript: Transcript, bus_log: Path) -> None:
    assert transcript.reached
    written = [
        int(line.rsplit("value ", 1)[1].rstrip(")"), 16)
        for line in bus_log.read_text().splitlines()
        if line.startswith("GPIO") and "write" in line and "offset 0x018" in line
    ]
    once = [OWN_PIN_HIGH, OWN_PIN_LOW, OWN_PIN_HIGH, OWN_PIN_LOW, OWN_PIN_HIGH]
    assert written == 2 * once


def test_a_granted_read_asks_its_register_once_and_a_refused_one_no_port(bus_log: Path) -> None:
    read = [
        line.rsplit("offset ", 1)[1].rstrip(")")
        for line in bus_log.read_text().splitlines()
        if line.startswith("GPIO") and "read" in line and "offset 0x01" in line
    ]
    assert read == 2 * ["0x010", "0x014", "0x014"]


def test_nobody_was_restarted_but_the_one_that_asked(transcript: Transcript) -> None:
    assert [(f.domain, f.cause) for f in transcript.faults] == [("owner", "reset")]
    restarts = {d: transcript.stats(d)[-1].restarts for d in (*CONSOLES, "hypervisor")}
    assert restarts == {"owner": 1, "peer": 0, "wild": 0, "hypervisor": 0}
