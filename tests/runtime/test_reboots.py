"""The fault log, task names, and what a restart does: to the domain itself and to no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.built import Built
from tests.support.counted import Transcript, run

QUIET, LOOP, NAMES, CODE, TASKS = range(5)
FINISHED = 0xFFFFFFFE
CONSOLES = {"wrong": 1, "other": 2, "frail": 4}
TEXTS = 64  # word of the plan where the test puts strings


@pytest.fixture
def reboots(system: Callable[[str], Built]) -> Built:
    return system("reboots")


def go_wrong(
    system: Built, folder: Path, plan: Mapping[int, int], until: int, other: Mapping[int, int] = {}
) -> Transcript:
    """Runs the system with words in the plan of the VM that goes wrong, and anywhere."""
    base = system.symbol("wrong", "plan")
    words = {**{base + 4 * i: word for i, word in plan.items()}, **other}
    return run(system.patched(folder / "system.elf", words), CONSOLES, until)


def test_the_log_keeps_the_oldest_records_and_counts_the_lost(
    reboots: Built, tmp_path: Path
) -> None:
    starts = 60
    transcript = go_wrong(reboots, tmp_path, {0: LOOP, 1: starts}, 1000)
    faults = [fault for fault in transcript.faults if fault.domain == "wrong"]
    lost = sum(r.number("records") or 0 for r in transcript.log if r.kind == "lost")
    room = 8 - sum(r.kind == "timeout" for r in transcript.log)
    assert [fault.restarts for fault in faults[:room]] == list(range(1, room + 1)), "the oldest"
    assert lost > 0
    assert len(faults) + lost == starts == transcript.stats("wrong")[-1].restarts
    assert transcript.values("wrong")["boots"] == starts + 1


def test_a_fault_loop_costs_the_others_nothing(reboots: Built, tmp_path: Path) -> None:
    transcript = go_wrong(reboots, tmp_path, {0: LOOP, 1: 60}, 1000)
    last = transcript.stats("other")[-1]
    assert (last.dropped, last.restarts) == (0, 0)
    assert last.tick - last.ticks in range(0, 3)


def test_a_faulted_process_is_restarted_with_fresh_memory(reboots: Built, tmp_path: Path) -> None:
    transcript = go_wrong(reboots, tmp_path, {}, 500)
    first, second = transcript.text["frail"].split("boot=2\r\n")
    assert first.split("\r\n")[:2] == ["boot=1", "data=7"]
    assert second.split("\r\n")[0] == "data=7"
    assert "pulse=2" in first and "pulse=3" not in first
    assert "pulse=3" in second
    (fault,) = transcript.faults
    found = (fault.domain, fault.cause, fault.address, fault.thread, fault.restarts)
    assert found == ("frail", "memory", 0, "0", 1)
    assert reboots.function("frail", fault.pc or 0) == "main"


def test_a_thread_that_waited_when_its_process_was_stopped_waits_again(
    reboots: Built, tmp_path: Path
) -> None:
    said = go_wrong(reboots, tmp_path, {}, 500).text["frail"].split("boot=2\r\n")[1]
    results = {line.split("=")[1] for line in said.split("\r\n") if line.startswith("slow=")}
    assert results == {"1"}, "not FVM_E_BUSY"


def test_a_wait_returns_how_often_the_signal_was_sent(reboots: Built, tmp_path: Path) -> None:
    said = go_wrong(reboots, tmp_path, {}, 500).lines("frail")
    counts = {line.split("=")[1] for line in said if line.startswith("fast=")}
    assert "7" in counts, "seven times 10 ms while it waited 70 ms for the other"
    assert counts <= {"5", "6", "7"}, "fewer where a start or the end cut it short"


@dataclass(frozen=True)
class Name:
    """A task name that a guest publishes, and what the log may show of it."""

    what: str
    address: Callable[[Built], int]
    shown: str


def text(number: int) -> Callable[[Built], int]:
    """Address of the string of this number in the plan."""
    return lambda system: system.symbol("wrong", "plan") + 4 * TEXTS + 32 * number


def start(part: str, kind: str) -> Callable[[Built], int]:
    return lambda system: system.memory(part, kind).start


STRINGS = (b"a task", b'a"b\\c\x01\x80', b"0123456789abcdefghij")
NAMES_TRIED = [
    Name("in flash", text(0), "a task"),
    Name("with what could forge a line", text(1), "a?b?c??"),
    Name("longer than a record takes", text(2), "0123456789abcdef"),
    Name("in RAM", lambda s: s.symbol("wrong", "name_in_ram"), "In RAM"),
    Name("NULL", lambda _: 0, ""),
    Name("the kernel's RAM", start("kernel", "ram"), ""),
    Name("the kernel's flash", start("kernel", "code"), ""),
    Name("another VM's RAM", start("other", "ram"), ""),
    Name("just before its own RAM", lambda s: s.memory("wrong", "ram").start - 1, ""),
    Name("just behind its own flash", lambda s: s.memory("wrong", "code").stop, ""),
    Name("its last byte of flash", lambda s: s.memory("wrong", "code").stop - 1, ""),  # 0 there
    Name("a device", lambda _: 0x40011000, ""),
    Name("nowhere", lambda _: 0x60000000, ""),
    Name("the last address", lambda _: 0xFFFFFFFF, ""),
]


def words_of(data: bytes) -> list[int]:
    padded = data.ljust(32, b"\0")
    return [int.from_bytes(padded[i : i + 4], "little") for i in range(0, 32, 4)]


def test_a_task_name_is_shown_only_from_the_guests_own_memory(
    reboots: Built, tmp_path: Path
) -> None:
    plan = {0: NAMES}
    plan |= {2 + i: name.address(reboots) for i, name in enumerate(NAMES_TRIED)}
    plan[2 + len(NAMES_TRIED)] = FINISHED
    for number, string in enumerate(STRINGS):
        plan |= {TEXTS + 8 * number + i: word for i, word in enumerate(words_of(string))}
    transcript = go_wrong(reboots, tmp_path, plan, 750)
    shown = [fault.task for fault in transcript.faults if fault.domain == "wrong"]
    assert dict(zip([n.what for n in NAMES_TRIED], shown, strict=True)) == {
        name.what: name.shown for name in NAMES_TRIED
    }


TASKS_TRIED = [
    Name("a pointer in RAM", lambda s: s.symbol("wrong", "running"), "in a block"),
    Name("a pointer elsewhere", lambda s: s.symbol("wrong", "foreign"), ""),
    Name("misaligned", lambda s: s.symbol("wrong", "running") + 2, ""),
    Name("NULL", lambda _: 0, ""),
    Name("the kernel's RAM", start("kernel", "ram"), ""),
    Name("another VM's RAM", start("other", "ram"), ""),
    Name("behind its own RAM", lambda s: s.memory("wrong", "ram").stop, ""),
    Name("a device", lambda _: 0x40011000, ""),
    Name("the last word", lambda _: 0xFFFFFFFC, ""),
]


def test_a_control_block_is_read_only_in_the_guests_own_memory(
    reboots: Built, tmp_path: Path
) -> None:
    plan = {0: TASKS}
    plan |= {2 + i: name.address(reboots) for i, name in enumerate(TASKS_TRIED)}
    plan[2 + len(TASKS_TRIED)] = FINISHED
    transcript = go_wrong(reboots, tmp_path, plan, 750)
    shown = [fault.task for fault in transcript.faults if fault.domain == "wrong"]
    assert dict(zip([n.what for n in TASKS_TRIED], shown, strict=True)) == {
        name.what: name.shown for name in TASKS_TRIED
    }


HEADERS = {
    "magic": (0, 0x12345678),
    "version": (4, 2),
    "misaligned stack": (12, 0x20000004),
    "stack of the kernel": (12, 0x20000400),
    "stack at address 0": (12, 0),
    "stack of the second thread": (20, 0xFFFFFFF8),
}


@pytest.mark.parametrize("what", HEADERS)
def test_a_domain_with_a_bad_header_never_starts_and_disturbs_nobody(
    reboots: Built, tmp_path: Path, what: str
) -> None:
    offset, word = HEADERS[what]
    header = reboots.memory("wrong", "code").start
    transcript = go_wrong(reboots, tmp_path, {}, 500, {header + offset: word})
    assert [(f.domain, f.cause) for f in transcript.faults] == [
        ("wrong", "header"),
        ("frail", "memory"),
    ]
    header, *_ = (record for record in transcript.log if record.kind == "fault")
    assert header.fields["action"] == "stop", "nobody tries again"
    assert transcript.text["wrong"] == ""
    assert transcript.stats("wrong")[-1].restarts == 0
    other = transcript.stats("other")[-1]
    assert other.tick - other.ticks in range(0, 3)
    assert "boot=2" in transcript.lines("frail"), "and others still can be restarted"


@dataclass(frozen=True)
class Instruction:
    """Words of code, where in it the fault is, and what the log must say."""

    what: str
    words: tuple[int, int]
    at: int
    cause: str
    status: int


RETURN = 0x4770
INSTRUCTIONS = [
    Instruction("FPU without grant", (0x0A10EE00, RETURN), 0, "usage", 1 << 19),
    Instruction("undefined", (RETURN << 16 | 0xDE00, 0), 0, "usage", 1 << 16),
    Instruction("breakpoint", (RETURN << 16 | 0xBE00, 0), 0, "hard", 0),
    Instruction("division by zero", (0xFB902100, RETURN << 16 | 0xF0F1), 2, "usage", 1 << 25),
]


@pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=lambda i: i.what)
def test_a_bad_instruction_restarts_the_domain(
    reboots: Built, tmp_path: Path, instruction: Instruction
) -> None:
    plan = {0: CODE} | {2 + i: word for i, word in enumerate(instruction.words)}
    transcript = go_wrong(reboots, tmp_path, plan, 500)
    fault = next(fault for fault in transcript.faults if fault.domain == "wrong")
    assert (fault.cause, fault.status) == (instruction.cause, instruction.status)
    assert fault.pc == reboots.symbol("wrong", "plan") + 8 + instruction.at
    assert "returned" not in transcript.values("wrong")
    assert transcript.values("wrong")["boots"] == 2
    assert transcript.stats("other")[-1].restarts == 0


def test_a_domain_may_run_other_code_from_there(reboots: Built, tmp_path: Path) -> None:
    mov_r0_r0_and_return = 0x46004600, 0x47704770
    plan = {0: CODE} | {2 + i: word for i, word in enumerate(mov_r0_r0_and_return)}
    transcript = go_wrong(reboots, tmp_path, plan, 250)
    assert transcript.values("wrong")["returned"] == 1
