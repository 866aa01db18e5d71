"""Conversations with the VMs of a running system, and what its kernel reports meanwhile."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from composer.simulate.log import Record
from composer.simulate.running import Output, Running

PATIENCE = 120.0  # seconds; QEMU on a busy machine is slow
POLL = 0.05
CHARACTER = 0.0002  # seconds between two characters: about twice as fast as the real line
MOTOR, SENSOR = "motor-controller", "sensor-node"


class Silence(Exception):
    """Nobody answered in time."""


class Talk:
    """Collects what every console says and what the kernel logs."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._said = {line.name: b"" for line in running.lines}
        self.sentences: list[str] = []
        self.stats: list[Record] = []

    def listen(self, seconds: float) -> None:
        """Take in what arrives, for as long as there is something or `seconds` pass."""
        for event in self._running.poll(seconds):
            if isinstance(event, Output):
                self._said[event.name] += event.data
            elif event.record.kind == "stat":
                self.stats.append(event.record)
            else:
                self.sentences.append(event.sentence)

    def until(self, done: Callable[[], bool], what: str) -> None:
        """Listen until `done`; Silence when it takes too long."""
        deadline = time.monotonic() + PATIENCE
        while not done():
            if time.monotonic() > deadline:
                raise Silence(f"{what}; so far: {self.sentences[-3:]}, {self._said}")
            self.listen(POLL)

    def say(self, name: str, command: str) -> None:
        """Type a command, at the pace of a serial line."""
        for character in f"{command}\r".encode():
            self._running.send(name, bytes([character]))
            time.sleep(CHARACTER)

    def answer(self, name: str, last: str = r"(ok|error: .*|ready)") -> list[str]:
        """Lines up to one that matches `last`."""
        pattern = re.compile(rf"(?:.*\r\n)*?{last}\r\n".encode())
        self.until(lambda: pattern.match(self._said[name]) is not None, f"{name} says nothing")
        found = pattern.match(self._said[name])
        assert found is not None
        self._said[name] = self._said[name][found.end() :]
        return found[0].decode("ascii", "replace").split("\r\n")[:-1]

    def ask(self, name: str, command: str) -> list[str]:
        """Say something and wait for the whole answer."""
        self.say(name, command)
        return self.answer(name)

    def sentence(self, beginning: str) -> str:
        """Wait for a line of the kernel's log in words; it is then taken out."""

        def found() -> list[str]:
            return [line for line in self.sentences if line.startswith(beginning)]

        self.until(lambda: bool(found()), f"the kernel's log has no '{beginning}'")
        line = found()[0]
        self.sentences.remove(line)
        return line

    def next_stat(self, name: str) -> Record:
        """Wait for the next statistics line of a domain."""

        def found() -> list[Record]:
            return [record for record in self.stats if record.fields.get("domain") == name]

        self.stats.clear()
        self.until(lambda: bool(found()), f"no statistics of {name}")
        return found()[0]
