"""A hand on the simulated hardware: register writes from outside the processor (QEMU's qtest).

QEMU's USART never overruns, since it takes a character only when the last one was read. With this
a test sets the flags that silicon would set, and pends the line.
"""

from __future__ import annotations

import socket
import time
from pathlib import Path
from types import TracebackType

_ISPR = 0xE000E200
_PATIENCE = 120.0  # seconds: of a busy host


def connect(to: socket.socket, path: Path, patience: float = _PATIENCE) -> None:
    """As soon as QEMU listens there; it makes one socket after the other."""
    end = time.monotonic() + patience
    while True:
        try:
            return to.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            if time.monotonic() > end:
                raise
            time.sleep(0.01)


class Injector:
    """Connects to the machine that was started with `options`."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "q"  # short: a socket's path has at most 107 characters
        self.options = ("-qtest", f"unix:{self._path},server=on,wait=off", "-qtest-log", "none")
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(_PATIENCE)

    def __enter__(self) -> Injector:
        connect(self._socket, self._path)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    def write(self, address: int, value: int) -> None:
        """Stores a word as a bus master would."""
        self._say(f"writel {address:#x} {value:#x}")

    def read(self, address: int) -> int:
        """Loads a word, with the side effects of the load."""
        return int(self._say(f"readl {address:#x}").split()[1], 16)

    def memory(self, base: int, size: int) -> bytes:
        """The content of a range of RAM."""
        return bytes.fromhex(self._say(f"read {base:#x} {size:#x}").split()[1][2:])

    def pend(self, line: int) -> None:
        """Pends an interrupt line at the NVIC."""
        self.write(_ISPR + line // 32 * 4, 1 << line % 32)

    def _say(self, command: str) -> str:
        self._socket.sendall(command.encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            more = self._socket.recv(1 << 20)
            if not more:
                raise ConnectionError("QEMU is gone")
            answer += more
        assert answer.startswith(b"OK"), (command, answer)
        return answer.decode()
