"""What two moments of a run say about a VM that was only a witness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from composer.simulate.log import Record
from tests.support.example import MOTOR, SENSOR
from tests.system.live import KERNEL, Live

HEARTBEAT = "heartbeat"  # the native process N
BEAT = "beat"  # its timer signal
BEAT_TICKS = 10
FIRST = "hypervisor"  # a report begins with it
# Variables of each part, and how many kernel ticks one count of each lasts.
COUNTERS = {
    KERNEL: {"ticks": 1},
    HEARTBEAT: {"beats": BEAT_TICKS},
    MOTOR: {"xTickCount": 1, "control_beats": 10, "monitor_beats": 20},
    SENSOR: {"ticks": 1, "loop_beats": 10, "isr_beats": 20},
}

Instant = Mapping[tuple[str, str], int]  # value of every counter, by part and variable


def instant(live: Live) -> Instant:
    """All counters at one moment, as they lie in memory."""
    names = [(part, name) for part, counters in COUNTERS.items() for name in counters]
    words = live.monitor.words([live.built.symbol(part, name) for part, name in names])
    return dict(zip(names, words, strict=True))


def kernel_ticks(moment: Instant) -> int:
    """The kernel's time."""
    return moment[KERNEL, "ticks"]


def check_undisturbed(part: str, before: Instant, after: Instant) -> None:
    """Every counter of the part rose as often as the kernel's ticks say, give or take one."""
    elapsed = kernel_ticks(after) - kernel_ticks(before)
    for name, period in COUNTERS[part].items():
        rise = after[part, name] - before[part, name]
        assert abs(rise - elapsed // period) <= 1, f"{part} {name}: {rise} in {elapsed} ticks"


@dataclass(frozen=True)
class Report:
    """One periodic report of the kernel: a line for every domain and signal."""

    lines: Mapping[str, Record]

    def value(self, subject: str, key: str) -> int:
        """A number of the line about a domain or signal."""
        value = self.lines[subject].number(key)
        assert value is not None, self.lines[subject].text
        return value


def report(live: Live, from_tick: int) -> Report:
    """The first complete report that begins at this kernel tick or later."""

    def is_first(record: Record) -> bool:
        tick = record.number("tick")
        is_head = record.kind == "stat" and record.fields.get("domain") == FIRST
        return is_head and tick is not None and tick >= from_tick

    first = live.log.wait(f"a report from tick {from_tick} on", is_first)
    since = live.log.records.index(first)
    live.log.wait("the end of a report", lambda r: r.fields.get("signal") == BEAT, since)
    lines: dict[str, Record] = {}
    for record in live.log.records[since:]:
        if record.kind == "stat":
            subject = record.fields.get("domain") or record.fields["signal"]
            if subject in lines:
                break
            lines[subject] = record
    return Report(lines)
