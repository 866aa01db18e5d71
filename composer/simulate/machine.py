"""A running QEMU and our ends of its serial lines."""

from __future__ import annotations

import ctypes
import os
import selectors
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType

from composer.simulate.monitor import Monitor
from composer.simulate.wiring import HERE, Line, backend
from scanner.report.errors import FvmError, MissingError

QEMU = "qemu-system-arm"
CHUNK = 4096
STOP_SECONDS = 5.0
MESSAGE_BYTES = 4096

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def end_with(parent: int) -> None:
    """In a child: who is killed can't end QEMU any more, which would take a core for ever."""
    if hasattr(_LIBC, "prctl"):  # on Linux
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it was killed before: no signal comes any more, prctl(2)
            os._exit(1)


class Machine:
    """QEMU with an image loaded; use as a context manager, so that it always ends."""

    def __init__(
        self,
        image: Path,
        machine: str,
        lines: Sequence[Line],
        extra: Sequence[str] = (),
        inherited: Sequence[int] = (),
    ) -> None:
        """Start it. MissingError when QEMU is not installed.

        `extra` are QEMU's own arguments, `inherited` open files that they name by number.
        """
        if shutil.which(QEMU) is None:
            raise MissingError(f"{QEMU} is not installed", hint="fvmkit doctor says how to get it")
        self.here: dict[str, socket.socket] = {}
        self._ahead: list[tuple[str, bytes]] = []
        self._open = ExitStack()
        self._selector = self._open.enter_context(selectors.DefaultSelector())
        self._said = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        arguments = [QEMU, "-M", machine, "-display", "none", "-monitor", "none"]
        arguments += ["-kernel", str(image.resolve())]
        theirs: list[socket.socket] = []
        try:
            mine = self._pair(theirs)
            arguments += ["-chardev", f"socket,id=monitor,fd={theirs[-1].fileno()}"]
            arguments += ["-mon", "chardev=monitor,mode=control"]
            self.monitor = Monitor(mine, self._read_ahead)
            by_index = {line.index: line for line in lines}
            for index in range(max(by_index, default=-1) + 1):
                if index not in by_index:
                    arguments += ["-serial", "null"]
                    continue
                line = by_index[index]
                ours = self._socket(line, theirs) if line.where == HERE else None
                arguments += ["-chardev", backend(line, ours), "-serial", f"chardev:{line.id}"]
            self._process = subprocess.Popen(
                [*arguments, *extra],
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=subprocess.STDOUT,
                pass_fds=[*inherited, *(end.fileno() for end in theirs)],
                start_new_session=True,  # Ctrl-C is ours to handle
                preexec_fn=partial(end_with, os.getpid()),
            )
        except BaseException:
            self._open.close()
            raise
        finally:
            for end in theirs:
                end.close()

    def _socket(self, line: Line, theirs: list[socket.socket]) -> int:
        """A pair of sockets: one end for us, the other to be inherited by QEMU."""
        mine = self._pair(theirs)
        self.here[line.name] = mine
        self._selector.register(mine, selectors.EVENT_READ, line.name)
        return theirs[-1].fileno()

    def _pair(self, theirs: list[socket.socket]) -> socket.socket:
        """Our end of a new pair; the other, to be inherited by QEMU, is added to `theirs`."""
        mine, other = socket.socketpair()
        theirs.append(other)
        return self._open.enter_context(mine)

    def poll(self, seconds: float) -> list[tuple[str, bytes]]:
        """What arrived on which line, after waiting at most `seconds` for something."""
        arrived, self._ahead = self._ahead, []
        for key, _ in self._selector.select(0 if arrived else seconds):
            end = self.here[key.data]
            data = end.recv(CHUNK)
            if data:
                arrived.append((key.data, data))
            else:  # QEMU is gone
                self._selector.unregister(end)
        return arrived

    def _read_ahead(self) -> None:
        """Take what the lines have, for the next poll."""
        self._ahead = self.poll(0)

    def send(self, name: str, data: bytes) -> None:
        """Give bytes to a line. The model of the USART takes them when the firmware reads."""
        self.here[name].sendall(data)

    @property
    def messages(self) -> str:
        """What QEMU itself said so far."""
        # pread: QEMU writes through the same file position, which must stay where it is.
        return os.pread(self._said.fileno(), MESSAGE_BYTES, 0).decode(errors="replace").strip()

    def has_ended(self) -> bool:
        """Whether QEMU is gone, as at the end of a replay; FvmError with its words if it failed."""
        status = self._process.poll()
        if status:
            raise FvmError(f"QEMU ended with exit status {status}: {self.messages}")
        return status is not None

    def stop(self) -> None:
        """End QEMU, by force if it has to be."""
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Machine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self._open.close()
