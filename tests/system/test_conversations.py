"""What was recorded on two chips is answered the same on one, on the same USARTs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.support.conversation import counts, play, read_recording
from tests.support.example import CONSOLES, CONVERSATIONS, MOTOR, SENSOR
from tests.system.live import Live
from tests.system.road import COUNTED, Road


def test_recorded_conversations_at_the_same_time(road: Road) -> None:
    with Live(road.built, COUNTED) as live, ThreadPoolExecutor() as pool:
        talks = [
            pool.submit(play, read_recording(CONVERSATIONS / f"{name}.txt"), {name: console})
            for name, console in live.vms.items()
        ]
        for talk in talks:
            talk.result()
        faults = live.faults(at_least=2)  # one command in each conversation
    assert {text.split(" ")[0] for text in faults} == set(CONSOLES)
    assert all(" (1): reset request, reset_cmd console.c:" in text for text in faults)


def test_messages_flow_through_restarts(road: Road) -> None:
    with Live(road.built, COUNTED) as live:
        play(read_recording(CONVERSATIONS / "link.txt"), live.vms)
        motor = counts(live.ask(MOTOR, "link")[0])
        sensor = counts(live.ask(SENSOR, "link")[0])
    assert motor["received"] > 0 and sensor["received"] > 0
    assert (motor["gaps"], sensor["gaps"]) == (0, 0)
    assert sensor["peer restarts"] == 1  # the motor's, after the node's own
