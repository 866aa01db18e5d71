"""The driver program and what it says."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.host.tables import Tables, read_tables


class KernelDied(Exception):
    """The sanitizers, or a signal, ended the run; the message is their report."""


@dataclass(frozen=True)
class VcpuSeen:
    budget: int
    int_ena: int
    mask: int
    pend: int
    groups: frozenset[int]
    pending: frozenset[int]


@dataclass(frozen=True)
class Seen:
    """What can be seen after a step."""

    current: int
    loaded: int
    stopped: int
    lost: int
    stack: int
    frame: list[int]
    threads: list[int]
    signals: list[tuple[int, int]]  # delivered, pending
    domains: list[int]  # restarts
    vcpus: list[VcpuSeen]
    open: frozenset[int]
    raised: frozenset[int]
    nested: int  # tick of the deferred work that the last step's line came before; 0: none


def _bits(words: list[int]) -> frozenset[int]:
    """Numbers of the bits that are set, 32 a word."""
    whole = sum(word << 32 * n for n, word in enumerate(words))
    found = []
    while whole:
        found.append((whole & -whole).bit_length() - 1)
        whole &= whole - 1
    return frozenset(found)


class Driver:
    """One driver process; runs follow one another in it."""

    def __init__(self, program: Path, room: Path) -> None:
        """`room` is a folder for what the program says when it dies."""
        self._errors = (room / "errors").open("w+")
        self._process = subprocess.Popen(
            [program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            bufsize=1,
        )
        self._running = False
        self.tables = self._read_tables()

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _hear(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().rstrip("\n")

    def _read_tables(self) -> Tables:
        self._say("tables")
        lines = []
        while (line := self._hear()) != "end":
            lines.append(line)
        return read_tables(lines)

    def power_on(self) -> Seen:
        """A new run; the one before is over."""
        self.power_off()
        self._running = True
        seen = self.step("new")
        assert seen is not None
        return seen

    def power_off(self) -> None:
        if self._running:
            self._running = False
            self._say("end")
            assert self._hear() == "over"

    def step(self, line: str) -> Seen | None:
        """What is seen afterwards; None when the kernel reset the chip."""
        self._say(line)
        answer = self._hear()
        if answer.startswith("state"):
            return self._read(answer)
        self._running = False
        if answer == "reset":
            return None
        self._errors.flush()
        self._errors.seek(0)
        raise KernelDied(f"{line}: {answer}\n{self._errors.read()}")

    def _read(self, answer: str) -> Seen:
        words = iter([int(word) for word in answer.split()[1:]])

        def take(count: int) -> list[int]:
            return [next(words) for _ in range(count)]

        current, loaded, stopped, lost, stack = take(5)
        tables = self.tables
        frame = take(4)
        threads = take(len(tables.threads))
        signals = [(next(words), next(words)) for _ in range(tables.signals)]
        domains = take(len(tables.domains))
        vcpus = []
        for _ in tables.vcpus:
            budget, ena, mask, pend, groups, low, high = take(7)
            budget -= budget >> 31 << 32
            flags = _bits([groups]), _bits([low, high])
            vcpus.append(VcpuSeen(budget, ena, mask, pend, *flags))
        words_of_lines = (len(tables.routes) + 31) // 32
        lines = [_bits(take(words_of_lines)) for _ in range(2)]
        return Seen(
            current, loaded, stopped, lost, stack, frame, threads, signals, domains, vcpus, *lines,
            next(words),
        )  # fmt: skip

    def close(self) -> None:
        self.power_off()
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(10)
        self._errors.close()
