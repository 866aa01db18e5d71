"""QEMU's own monitor: takes the memory of a running machine at one instant."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scanner.report.errors import FvmError

ANSWER_SECONDS = 120.0  # hosts stand still at times; a monitor that is silent for so long is broken
LOOK_SECONDS = 0.05
ANSWER_BYTES = 1 << 20
DUMP_BYTES = 16 << 20  # no chip of this class has so much RAM


class Monitor:
    """One end of a QMP connection (JSON, one object a line); nothing is said before it is used.

    `meanwhile` is called again and again while an answer is awaited. It reads the serial lines:
    where one is full, QEMU waits for its reader, and its monitor waits with it.
    """

    def __init__(self, end: socket.socket, meanwhile: Callable[[], object]) -> None:
        end.settimeout(LOOK_SECONDS)
        self._end = end
        self._meanwhile = meanwhile
        self._rest = b""
        self._ready = False

    def dump(self, base: int, size: int, file: Path) -> None:
        """Write `size` bytes of physical memory to `file`, all of one instant.

        The machine stands still meanwhile. FvmError when QEMU is gone or refuses.
        """
        if not 0 < size <= DUMP_BYTES:
            raise FvmError(f"a dump has 1 to {DUMP_BYTES} bytes, not {size}", file=file)
        if not self._ready:
            self._line()  # the greeting
            self._execute("qmp_capabilities")
            self._ready = True
        self._execute("stop")
        self._execute("pmemsave", val=base, size=size, filename=str(file.absolute()))
        self._execute("cont")

    def _execute(self, command: str, **arguments: object) -> None:
        request = json.dumps({"execute": command, "arguments": arguments})
        try:
            self._end.sendall(request.encode())
        except OSError as error:
            raise FvmError(f"QEMU is gone: {error.strerror}") from error
        while True:
            answer = self._line()
            if "error" in answer:
                said = answer["error"].get("desc", "?")
                raise FvmError(f"QEMU refuses '{command}': {said}")
            if "return" in answer:  # else it is an event
                return

    def _line(self) -> dict[str, Any]:
        end = time.monotonic() + ANSWER_SECONDS
        while b"\n" not in self._rest:
            try:
                data = self._end.recv(4096)
            except OSError as error:
                if isinstance(error, TimeoutError) and time.monotonic() < end:
                    self._meanwhile()
                    continue
                raise FvmError(f"QEMU's monitor is silent: {error}") from error
            if not data or len(self._rest) > ANSWER_BYTES:
                raise FvmError("QEMU has ended, so there is no memory to take")
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            raise FvmError("QEMU's monitor says something that is no JSON") from None
        return answer
