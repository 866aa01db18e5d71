"""The observables of the fault campaign: O3 and O7 from the kernel's memory, the others from the
consoles alone.

O1  the witness: its ticks and the counters of its tasks rise by the expected number +-1 over every
    window of the kernel's log, the witness process's signals too; the chip is not reset
O3  the kernel's state is whole (tests/support/invariants.py)
O4  the victim restarts as often as expected, nobody else at all
O5  the log says what happened
O6  the witness's memory and registers are unchanged, no secret is where it doesn't belong, and what
    must fault doesn't come back with a word
O7  calls give the result that is expected, and refused ones change no right
O8  the victim beats again after the crime
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from tests.support.counted import Fault, Transcript

WITNESS_SECRET = 0x57A7A500
_WITNESS_LINE = re.compile(
    r"witness ticks=(\d+) interrupts=(\d+) calculated=(\d+) compared=(\d+)"
    r" timed=(\d+) fpu=(\d+) pattern=(\d+) foreign=(\d+)"
)
_CRIME_TICK = 400  # of the victim, CRIME_TICK in victim.c
_WINDOW = 500  # kernel ticks
_DOMAINS = ("victim", "plain", "rogue", "witness", "heartbeat", "hypervisor")
_PROCESSES = ("rogue",)


@dataclass(frozen=True)
class Expected:
    """What a crime leads to. `says` are values on the victim's console."""

    restarts: int | None = 0  # of the victim; None: any number
    cause: str | None = None
    pc: range | None = None
    address: int | None = None
    addresses: tuple[int, ...] = ()  # instead, where every restart has one of its own
    placed: bool = True  # False: pc and address depend on how deep the stack was
    thread: str = "usr"
    says: dict[str, int] = field(default_factory=dict)
    records: bool = True  # O5: the log has room for them
    silent: bool = False  # O8: it has no beat after the crime
    changes: bool = False  # O7: it uses calls that change its own rights

    def at(self, record: int) -> int | None:
        """The address in the record of this number, from 0."""
        return self.addresses[record] if self.addresses else self.address


@dataclass(frozen=True)
class Testimony:
    """One line of the witness."""

    ticks: int
    interrupts: int
    calculated: int
    compared: int
    timed: int
    fpu: int
    pattern: int
    foreign: int


def testimonies(transcript: Transcript) -> list[Testimony]:
    matches = map(_WITNESS_LINE.fullmatch, transcript.lines("witness"))
    return [Testimony(*map(int, match.groups())) for match in matches if match]


def broken(transcript: Transcript, victim: str, expected: Expected) -> list[str]:
    """Every observable that doesn't hold, as `O1: what was seen`."""
    checks = (
        *_chip(transcript),
        *_witness_time(transcript),
        *_process_time(transcript),
        *_restarts(transcript, victim, expected),
        *_records(transcript, victim, expected),
        *_secrets(transcript, victim, expected),
        *_answers(transcript, victim, expected),
        *_recovery(transcript, victim, expected),
    )
    return list(checks)


def _chip(transcript: Transcript) -> Iterator[str]:
    boots = sum(record.kind == "boot" for record in transcript.log)
    if boots != 1:
        yield f"O1: the chip started {boots} times"
    if not transcript.reached:
        yield "O1: the system stopped"


def _witness_time(transcript: Transcript) -> Iterator[str]:
    stats = transcript.stats("witness")
    start = next((s for s in stats if s.tick < _CRIME_TICK), None)
    end = next((s for s in stats if start and s.tick >= start.tick + _WINDOW), None)
    if start is None or end is None:
        yield f"O1: no window of {_WINDOW} ticks around the crime"
        return
    if abs((end.ticks - start.ticks) - (end.tick - start.tick)) > 1 or end.dropped:
        yield f"O1: the witness's ticks from {start} to {end}"
    told = [t for t in testimonies(transcript) if t.ticks <= end.ticks]
    if len(told) != end.ticks // 100:
        yield f"O1: the witness spoke {len(told)} times in {end.ticks} ticks"
    for before, after in pairwise(told):
        # While all sleep, QEMU's clock in counted instructions jumps, and its TIM2 ticks twice;
        # when the witness has used its budget up, some of its interrupts are one.
        if not 40 <= after.timed - before.timed <= 102:
            yield f"O1: the witness's timer from {before} to {after}"
    for t in told:
        late = max(
            abs(t.interrupts - t.ticks),
            abs(t.calculated - t.ticks),
            abs(t.compared - t.ticks // 10),
        )
        if late > 1:
            yield f"O1: {t}"


def _process_time(transcript: Transcript) -> Iterator[str]:
    for tick, count in transcript.counts("beat"):
        if abs(count - tick // 10) > 1:
            yield f"O1: {count} signals of the process in {tick} ticks"


def _restarts(transcript: Transcript, victim: str, expected: Expected) -> Iterator[str]:
    for domain in _DOMAINS:
        stats = transcript.stats(domain)
        wanted = expected.restarts if domain == victim else 0
        found = stats[-1].restarts if stats else None
        if wanted is None and found is not None:
            continue
        if found != wanted:
            yield f"O4: {domain} restarted {found} times instead of {wanted}"


def _records(transcript: Transcript, victim: str, expected: Expected) -> Iterator[str]:
    if not expected.records:
        return
    faults = transcript.faults
    if len(faults) != expected.restarts:
        yield f"O5: {len(faults)} records instead of {expected.restarts}"
    for number, fault in enumerate(faults, 1):
        found = (fault.domain, fault.cause, fault.thread, fault.restarts)
        thread = "0" if victim in _PROCESSES else expected.thread
        wanted = (victim, expected.cause, thread, number)
        if found != wanted or (
            expected.placed and not _is_placed(fault, expected, expected.at(number - 1))
        ):
            yield f"O5: {fault} instead of {wanted} {expected}"


def _is_placed(fault: Fault, expected: Expected, address: int | None) -> bool:
    if expected.pc is None or fault.pc is None:
        return fault.pc is None and expected.pc is None and fault.address == address
    return fault.pc in expected.pc and fault.address == address


def _answers(transcript: Transcript, victim: str, expected: Expected) -> Iterator[str]:
    said = transcript.values(victim)
    for key, value in expected.says.items():
        if said.get(key) != value:
            yield f"O7: {key}={said.get(key)} instead of {value}"


def _secrets(transcript: Transcript, victim: str, expected: Expected) -> Iterator[str]:
    said = transcript.values(victim)
    if expected.restarts and "result" in said and "result" not in expected.says:
        yield f"O6: the crime came back with 0x{said['result'] & 0xFFFFFFFF:08x}"
    for t in testimonies(transcript):
        if t.fpu or t.pattern or t.foreign:
            yield f"O6: {t}"
    for name in ("victim", "plain"):
        for line in transcript.lines(name):
            key, _, value = line.partition("=")
            if key.endswith("foreign") and value != "0":
                yield f"O6: {name} read {value} words of the witness"
    for fault in transcript.faults:
        for word in (fault.pc, fault.lr, fault.address):
            if word is not None and word & ~0xFF == WITNESS_SECRET:
                yield f"O6: a word of the witness in {fault}"


def _recovery(transcript: Transcript, victim: str, expected: Expected) -> Iterator[str]:
    if expected.silent:
        return
    stats = transcript.stats(victim)
    if not stats:
        yield f"O8: no report of {victim}"
        return
    mine = [fault.tick for fault in transcript.faults if fault.domain == victim]
    since_start = stats[-1].tick - (mine[-1] if mine else 0)
    beat = transcript.values(victim).get("beat", 0)
    # Every 50 ticks, and the console may run up to one behind when the run ends.
    if not since_start - 101 <= beat <= since_start + 300:
        yield f"O8: the last beat is {beat}, {since_start} ticks after the last start"
