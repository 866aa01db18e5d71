"""A serial line of a simulated machine, as the other end of a socket."""

from __future__ import annotations

import fcntl
import socket
import struct
import termios
import time
from collections.abc import Callable

# Characters at a time and the pause after them: a bit faster than 115200 baud, slow enough that
# no firmware's receive buffer overflows.
_CHUNK = 8
_PAUSE = 0.001
_HELD_BACK = 0.2  # seconds
PATIENCE = 120.0  # seconds: hosts stand still at times, and nothing may fail because one did


def _unread(connection: socket.socket) -> bool:
    """Whether the other end has not read everything (SIOCOUTQ, unix(7))."""
    return struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)))[0] != 0


class Console:
    """Text lines to and from one USART. Lines end with CR LF and are given without it."""

    def __init__(self, name: str, connection: socket.socket) -> None:
        self.name = name
        self.received = b""  # everything so far, for comparing whole runs
        self._connection = connection
        self._pending = b""

    def close(self) -> None:
        """Gives the connection up."""
        self._connection.close()

    def send(self, text: bytes) -> None:
        """Sends the bytes at the pace of a serial line."""
        for start in range(0, len(text), _CHUNK):
            self._connection.sendall(text[start : start + _CHUNK])
            time.sleep(_PAUSE)
            self._wait_until_taken()

    def _wait_until_taken(self) -> None:
        """Until the machine took what was sent: on a busy computer it stands still, and would then
        get all at once. Not for ever, since it may have its reasons to take nothing."""
        end = time.monotonic() + _HELD_BACK
        while _unread(self._connection) and time.monotonic() < end:
            time.sleep(_PAUSE)

    def read_line(self, timeout: float) -> str:
        """The next line. TimeoutError with what has come of it, if it isn't complete in time."""
        end = time.monotonic() + timeout
        while b"\r\n" not in self._pending:
            self._receive(end)
        line, _, self._pending = self._pending.partition(b"\r\n")
        return line.decode("latin-1")

    def read_until(self, is_last: Callable[[str], bool], timeout: float = PATIENCE) -> list[str]:
        """Lines up to and with the first that is the last one."""
        end = time.monotonic() + timeout
        lines: list[str] = []
        while not lines or not is_last(lines[-1]):
            try:
                lines.append(self.read_line(end - time.monotonic()))
            except TimeoutError as error:
                raise TimeoutError(f"{error} after the lines {lines}") from None
        return lines

    def ask(self, command: bytes, timeout: float = PATIENCE) -> list[str]:
        """Sends a command line and returns the lines of the answer, with the one that ends it."""
        self.send(command + b"\r")
        return self.read_until(is_end_of_answer, timeout)

    def wait_ready(self, timeout: float = PATIENCE) -> list[str]:
        """Lines of the start-up banner. What is sent before it comes may be lost."""
        return self.read_until(lambda line: line == "ready", timeout)

    def read_to_end(self, timeout: float) -> bytes:
        """All that ever came, once the machine has ended. TimeoutError if it doesn't end."""
        end = time.monotonic() + timeout
        try:
            while True:
                self._receive(end)
        except ConnectionError:
            return self.received

    def _receive(self, end: float) -> None:
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"{self.name}: no complete line, only {self._pending!r}")
        self._connection.settimeout(left)
        try:
            data = self._connection.recv(4096)
        except TimeoutError:
            return
        if not data:
            raise ConnectionError(f"{self.name}: the machine has ended")
        self.received += data
        self._pending += data


def is_end_of_answer(line: str) -> bool:
    """Both firmwares end an answer with `ok` or an error, a restart with `ready`."""
    return line in ("ok", "ready") or line.startswith("error: ")
