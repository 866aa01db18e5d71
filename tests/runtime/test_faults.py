"""What becomes of a domain that faulted: as its policy says; and who reads about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from composer.simulate.shared import Kind
from tests.support.built import Built, described_otherwise, once
from tests.support.counted import Fault, Transcript, run
from tests.support.watched import watched

CONSOLES = {"doctor": 4, "reader": 5}
E_CAPABILITY = -2
RESTART, STOP = 1, 2


@pytest.fixture(scope="module")
def built(system: Callable[[str], Built]) -> Built:
    return system("faults")


@pytest.fixture(scope="module")
def transcript(built: Built) -> Transcript:
    return run(built.elf, CONSOLES, 750)


def of(transcript: Transcript, domain: str) -> list[Fault]:
    return [fault for fault in transcript.faults if fault.domain == domain]


def decisions(transcript: Transcript, domain: str) -> list[tuple[str, int]]:
    """Action and delay in ticks for each fault of a domain."""
    return [
        (record.fields["action"], record.number("delay") or 0)
        for record in transcript.log
        if record.kind == "fault" and record.fields["domain"] == domain
    ]


def test_a_loop_of_faults_is_restarted_later_each_time_and_stopped_at_its_limit(
    transcript: Transcript,
) -> None:
    wanted = [("restart", 0), ("restart", 3), ("restart", 6), ("restart", 12), ("stop", 0)]
    assert decisions(transcript, "loop") == wanted
    assert transcript.stats("loop")[-1].restarts == 4


def test_the_delay_that_the_log_names_passes_before_the_restart(transcript: Transcript) -> None:
    """It faults in its first tick, which is at most two kernel ticks after its start."""
    ticks = [fault.tick for fault in of(transcript, "loop")]
    for (_, delay), fault, following in zip(
        decisions(transcript, "loop"), ticks, ticks[1:], strict=False
    ):
        assert following - fault in range(delay + 1, delay + 3)


def test_a_process_is_restarted_by_the_same_rules(transcript: Transcript) -> None:
    wanted = [0, 2, 4, 6, 6]
    assert decisions(transcript, "sick") == [*(("restart", n) for n in wanted), ("stop", 0)]
    assert transcript.stats("sick")[-1].restarts == 5


def test_a_fault_after_a_while_is_the_first_of_a_row_again(transcript: Transcript) -> None:
    found = decisions(transcript, "slow")
    assert len(found) > 5
    assert set(found) == {("restart", 0)}


def test_a_domain_may_be_stopped_at_its_first_fault(transcript: Transcript) -> None:
    assert decisions(transcript, "once") == [("stop", 0)]
    assert transcript.stats("once")[-1].restarts == 0


def test_a_process_decides_for_each_fault_with_its_record(
    transcript: Transcript, built: Built
) -> None:
    patient = [("restart", 0), ("restart", 0), ("stop", 0)]
    assert decisions(transcript, "patient") == patient
    assert decisions(transcript, "hopeless") == [("stop", 0)]
    said = [line.split("=") for line in transcript.lines("doctor")]
    assert [(key, int(value)) for key, value in said if key.endswith("restarts")] == [
        ("patient.restarts", 1), ("hopeless.restarts", 1), ("patient.restarts", 2),
        ("patient.restarts", 3),
    ]  # fmt: skip
    pcs = [int(value, 16) for key, value in said if key == "pc"]
    found = [fault.pc for name in ("patient", "hopeless") for fault in of(transcript, name)]
    assert sorted(pcs) == sorted(pc for pc in found if pc is not None)
    assert {built.function("patient", pcs[0]), built.function("hopeless", pcs[1])} == {
        "tick_handler"
    }
    assert {int(value) for key, value in said if key == "decision"} == {0}, "asked once for each"
    assert transcript.stats("patient")[-1].restarts == 2
    assert transcript.stats("hopeless")[-1].restarts == 0


def test_what_is_no_decision_leaves_the_domain_stopped_until_the_next_fault_of_another(
    transcript: Transcript,
) -> None:
    said = [line for line in transcript.lines("doctor") if ".restarts" in line or "asked" in line]
    first, second = (said.index(f"unsure.asked={n}") for n in (1, 2))
    assert said[first + 1 : second] == ["hopeless.restarts=1"]
    assert "unsure.asked=3" not in said
    assert transcript.stats("unsure")[-1].restarts == 0


def test_each_reader_gets_every_record_and_takes_it_from_nobody(transcript: Transcript) -> None:
    said = [line.split("=") for line in transcript.lines("reader")]
    serials = [int(value) for key, value in said if key == "serial"]
    ticks = [int(value) for key, value in said if key == "tick"]
    assert not [record for record in transcript.log if record.kind == "lost"]
    timeouts = sum(record.kind == "timeout" for record in transcript.log)
    assert serials == list(range(1, len(serials) + 1))
    last = transcript.faults[-1]
    assert len(serials) >= timeouts + len(transcript.faults)
    assert [tick for tick in ticks[timeouts:] if tick <= last.tick] == [
        fault.tick for fault in transcript.faults
    ]
    assert {int(value) for key, value in said if key == "decision"} == {0, RESTART, STOP}


def test_a_reader_cant_make_room_and_reads_nothing_beyond_a_record(transcript: Transcript) -> None:
    values = transcript.values("reader")
    assert (values["drop"], values["beyond"]) == (E_CAPABILITY, 0)


def test_the_others_notice_nothing(transcript: Transcript) -> None:
    for name in ("healthy", "doctor", "reader", "hypervisor"):
        assert transcript.stats(name)[-1].restarts == 0
    assert transcript.stats("healthy")[-1].dropped == 0
    last = transcript.stats("healthy")[-1]
    assert last.tick - last.ticks in range(0, 3)


@pytest.mark.campaign
def test_a_read_of_many_records_holds_interrupts_off_no_longer(
    system: Callable[[str], Built], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    many = once(
        tmp_path_factory,
        "faults, 32 records",
        lambda room: described_otherwise(system("faults"), room, 'records="8"', 'records="32"'),
    )
    _, trace = watched(many, many.elf, tmp_path, 500)
    assert trace.paths[Kind.CALL].longest <= 150
