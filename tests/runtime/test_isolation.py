"""What a VM may reach: its own, to the last byte, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.support.built import Built
from tests.support.counted import Fault, Transcript, run

READ, WRITE, CALL = 1, 2, 3


@dataclass(frozen=True)
class Access:
    """One access and the cause that the log must give, None where it is allowed."""

    name: str
    kind: int
    address: Callable[[Built], int]
    cause: str | None


def fixed(address: int) -> Callable[[Built], int]:
    return lambda _: address


def first(part: str, kind: str) -> Callable[[Built], int]:
    return lambda system: system.memory(part, kind).start


def last_word(part: str, kind: str) -> Callable[[Built], int]:
    return lambda system: system.memory(part, kind).stop - 4


def behind(part: str, kind: str) -> Callable[[Built], int]:
    return lambda system: system.memory(part, kind).stop


def before(part: str, kind: str) -> Callable[[Built], int]:
    return lambda system: system.memory(part, kind).start - 4


def function(part: str, name: str) -> Callable[[Built], int]:
    return lambda system: system.symbol(part, name)


ACCESSES = [
    Access("read the kernel's vectors", READ, fixed(0x08000000), "memory"),
    Access("read the kernel's code", READ, function("kernel", "call_stub"), "memory"),
    Access("read the kernel's RAM", READ, first("kernel", "ram"), "memory"),
    Access("write the kernel's RAM", WRITE, function("kernel", "cpu"), "memory"),
    Access("call the kernel", CALL, function("kernel", "cpu_arch_reset"), "memory"),
    Access("read the hypervisor's code", READ, first("hypervisor", "code"), "memory"),
    Access("read the hypervisor's RAM", READ, first("hypervisor", "ram"), "memory"),
    Access("write a process's RAM", WRITE, first("heartbeat", "ram"), "memory"),
    Access("read a VM's code", READ, first("neighbour", "code"), "memory"),
    Access("call a VM's code", CALL, function("neighbour", "main"), "memory"),
    Access("write a VM's RAM", WRITE, last_word("neighbour", "ram"), "memory"),
    Access("read its own RAM, last word", READ, last_word("intruder", "ram"), None),
    Access("write its own RAM, last word", WRITE, last_word("intruder", "ram"), None),
    Access("write just behind its RAM", WRITE, behind("intruder", "ram"), "memory"),
    Access("read just before its RAM", READ, before("intruder", "ram"), "memory"),
    Access("call its own RAM", CALL, last_word("intruder", "ram"), "memory"),
    Access("read its own code, first word", READ, first("intruder", "code"), None),
    Access("read its own code, last word", READ, last_word("intruder", "code"), None),
    Access("read just behind its code", READ, behind("intruder", "code"), "memory"),
    Access("write its own code", WRITE, first("intruder", "code"), "memory"),
    Access("call its own code", CALL, function("intruder", "report_init"), None),
    Access("read its own USART", READ, fixed(0x40011000), None),
    Access("write just behind its own USART", WRITE, fixed(0x40011400), "memory"),
    Access("read a VM's USART", READ, fixed(0x40004400), "memory"),
    Access("write a VM's USART", WRITE, fixed(0x40004404), "memory"),
    Access("write the clock control", WRITE, fixed(0x40023840), "memory"),
    Access("write a GPIO port", WRITE, fixed(0x40020018), "memory"),
    Access("read what it shares", READ, lambda s: shared(s), None),
    Access("write what it may only read", WRITE, lambda s: shared(s), "memory"),
    Access("read a bit-band alias of its RAM", READ, fixed(0x22060000), "memory"),
    Access("read address 0", READ, fixed(0), "memory"),
    Access("call address 0", CALL, fixed(0), "memory"),
    Access("read where nothing is", READ, fixed(0x60000000), "memory"),
    Access("read the processor's identification", READ, fixed(0xE000ED00), "bus"),
    Access("write the MPU's control", WRITE, fixed(0xE000ED94), "bus"),
    Access("write the vector table's place", WRITE, fixed(0xE000ED08), "bus"),
    Access("write an interrupt's enable", WRITE, fixed(0xE000E100), "bus"),
    Access("write the system timer", WRITE, fixed(0xE000E010), "bus"),
]


def shared(system: Built) -> int:
    return system.grant("intruder", "shared", "board").start


@dataclass(frozen=True)
class Outcome:
    """What the run showed of one access."""

    address: int
    allowed: bool
    fault: Fault | None


@pytest.fixture(scope="module")
def transcript(
    system: Callable[[str], Built], tmp_path_factory: pytest.TempPathFactory
) -> Transcript:
    built = system("access")
    plan = built.symbol("intruder", "plan")
    words = {}
    for step, access in enumerate(ACCESSES):
        words[plan + 8 * step] = access.kind
        words[plan + 8 * step + 4] = access.address(built)
    image = built.patched(tmp_path_factory.mktemp("access") / "system.elf", words)
    return run(image, {"intruder": 1}, 1000)


@pytest.fixture(scope="module")
def outcomes(system: Callable[[str], Built], transcript: Transcript) -> list[Outcome]:
    allowed = [
        int(line.removeprefix("allowed="))
        for line in transcript.lines("intruder")
        if line.startswith("allowed=")
    ]
    faults = iter(transcript.faults)
    return [
        Outcome(
            access.address(system("access")),
            step in allowed,
            None if step in allowed else next(faults, None),
        )
        for step, access in enumerate(ACCESSES)
    ]


@pytest.mark.parametrize("step", range(len(ACCESSES)), ids=[a.name for a in ACCESSES])
def test_access(system: Callable[[str], Built], outcomes: list[Outcome], step: int) -> None:
    access, outcome = ACCESSES[step], outcomes[step]
    assert outcome.allowed == (access.cause is None)
    if access.cause is None:
        return
    fault = outcome.fault
    assert fault is not None
    assert (fault.domain, fault.cause, fault.thread) == ("intruder", access.cause, "usr")
    if access.kind == CALL:
        assert fault.pc == outcome.address
    else:
        assert fault.address == outcome.address
        assert fault.pc is not None
        assert system("access").function("intruder", fault.pc) in ("commit", "main")


def test_nobody_else_was_restarted_and_nothing_lost(transcript: Transcript) -> None:
    refused = sum(access.cause is not None for access in ACCESSES)
    assert transcript.stats("intruder")[-1].restarts == refused
    for domain in ("neighbour", "heartbeat", "hypervisor"):
        assert transcript.stats(domain)[-1].restarts == 0
    assert not [r for r in transcript.log if r.kind == "lost"]
    assert transcript.values("intruder")["steps"] == len(ACCESSES)
