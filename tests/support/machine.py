"""QEMU's netduinoplus2 with its USARTs as sockets."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

from tests.support.console import Console

_USARTS = 6  # -serial options in order: USART1, 2, 3, UART4, UART5, USART6


class Machine:
    """One running QEMU. `consoles` gives names to USART numbers (1 is USART1).

    `wire` joins USART3 to that of another machine: the one with `wire_listens` is started first
    and waits for the other. `options` are QEMU's own. QEMU connects to us before the guest
    starts, so nothing that it prints is lost.
    """

    def __init__(
        self,
        elf: Path,
        consoles: Mapping[str, int],
        *,
        wire: Path | None = None,
        wire_listens: bool = False,
        options: Sequence[str] = (),
    ) -> None:
        self.console: dict[str, Console] = {}
        # Not pytest's folder: a socket's path has at most 107 characters.
        self._folder = Path(tempfile.mkdtemp(prefix="fvm-"))
        self._errors = self._folder / "stderr"
        listeners = {name: self._listen(name) for name in consoles}
        serial = {number: f"unix:{self._path(name)}" for name, number in consoles.items()}
        if wire is not None:
            serial[3] = f"unix:{wire}" + (",server=on,wait=on" if wire_listens else "")
        arguments = ["qemu-system-arm", "-M", "netduinoplus2", "-display", "none"]
        arguments += ["-monitor", "none", "-kernel", str(elf), *options]
        for number in range(1, _USARTS + 1):
            arguments += ["-serial", serial.get(number, "null")]
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors
            )
        try:
            for name, listener in listeners.items():
                self.console[name] = Console(name, self._accept(listener))
            if wire is not None and wire_listens:
                self._wait_for(wire)
        except BaseException:
            self.close()
            raise

    def terminate(self) -> None:
        """Asks QEMU to end in order, as a recording must."""
        self._process.terminate()

    def read_to_end(self, timeout: float) -> dict[str, bytes]:
        """Waits until QEMU ends. Returns all that each console ever received."""
        # All at the same time: QEMU stands still while one of its lines isn't read.
        with ThreadPoolExecutor() as pool:
            ends = {name: pool.submit(c.read_to_end, timeout) for name, c in self.console.items()}
        received = {name: end.result() for name, end in ends.items()}
        assert self._process.wait(timeout) == 0, self._errors.read_text(errors="replace")
        return received

    def close(self) -> None:
        """Ends QEMU and removes the sockets."""
        self._process.kill()
        self._process.wait()
        for console in self.console.values():
            console.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Machine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _path(self, name: str) -> Path:
        return self._folder / name

    def _listen(self, name: str) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(self._path(name)))
        listener.listen(1)
        listener.settimeout(0.1)
        return listener

    def _accept(self, listener: socket.socket) -> socket.socket:
        with listener:
            for _ in range(1200):  # two minutes
                try:
                    return listener.accept()[0]
                except TimeoutError:
                    self._check_alive()
        raise TimeoutError("QEMU doesn't open its serial lines")

    def _wait_for(self, path: Path) -> None:
        for _ in range(1200):  # two minutes
            if path.exists():
                return
            self._check_alive()
            time.sleep(0.1)
        raise TimeoutError(f"QEMU doesn't create {path}")

    def _check_alive(self) -> None:
        if self._process.poll() is not None:
            raise RuntimeError(f"QEMU has ended: {self._errors.read_text(errors='replace')}")
