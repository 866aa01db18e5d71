"""The cable between the two boards is gone: a ring in shared memory took its place."""

from __future__ import annotations

import json

import pytest

from tests.support.conversation import counts
from tests.support.example import CONSOLES, MOTOR, SENSOR
from tests.system.live import Live
from tests.system.road import COUNTED, Road

USART3, USART3_IRQ = 0x40004800, 39


def test_usart3_is_granted_to_nobody(road: Road) -> None:
    policies = [json.loads(path.read_text()) for path in road.out.glob("*.domain.json")]
    assert len(policies) == 6
    for policy in policies:
        for grant in policy["grants"]:
            assert not grant["base"] <= USART3 < grant["base"] + grant["size"], grant
        assert USART3_IRQ not in {vector.get("irq") for vector in policy["vectors"]}


@pytest.mark.parametrize("name", CONSOLES)
def test_the_old_driver_is_left_alone_and_not_built(road: Road, name: str) -> None:
    sites = json.loads(road.said[f"report {name}"].out)["sites"]
    old = [site for site in sites if site["file"] == "src/link_uart.c"]
    assert old
    assert {(s["status"], s["reason"]) for s in old} == {
        ("left", f"replaced by fvm/{name}/link_fvm.c")
    }
    driver = "src/link_uart.c"
    assert (road.ported(name) / driver).read_bytes() == (road.checkout / name / driver).read_bytes()
    built = [path.name for path in (road.out / name / "obj").glob("*.d")]
    assert any(file.startswith("link_fvm") for file in built)
    assert not any(file.startswith("link_uart") for file in built)


def test_both_directions_without_gap(road: Road) -> None:
    with Live(road.built, COUNTED) as live:
        first = {name: counts(live.ask(name, "link")[0]) for name in live.vms}
        while (last := link_counts(live))[SENSOR]["sent"] < first[SENSOR]["sent"] + 100:
            pass
    for name, peer in ((MOTOR, SENSOR), (SENSOR, MOTOR)):
        received = last[name]["received"] - first[name]["received"]
        sent = last[peer]["sent"] - first[peer]["sent"]
        assert received > 20
        assert abs(received - sent) <= 3  # asked at different moments
        assert [last[name][key] for key in ("gaps", "peer restarts", "errors", "dropped")] == [
            0
        ] * 4


def link_counts(live: Live) -> dict[str, dict[str, int]]:
    """What both say about the link."""
    return {name: counts(live.ask(name, "link")[0]) for name in live.vms}
