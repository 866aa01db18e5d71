"""The migrated system while it runs: its consoles, its kernel's log, its memory at one instant."""

from __future__ import annotations

import json
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from composer.image.composed import read_composed
from composer.simulate.log import Record, parse
from composer.simulate.places import Places
from composer.simulate.sentences import sentence
from tests.support.built import Built
from tests.support.console import Console
from tests.support.example import CONSOLES
from tests.support.machine import Machine

KERNEL = "kernel"
KERNEL_CONSOLE = 6
PATIENCE = 120.0  # seconds: only a broken system needs so long, even on a busy host


class KernelLog(threading.Thread):
    """Reads the kernel's console all the time, so that the kernel never waits for us."""

    def __init__(self, console: Console) -> None:
        super().__init__(daemon=True)
        self._console = console
        self._changed = threading.Condition()  # its lock is reentrant
        self._records: list[Record] = []
        self.start()

    def run(self) -> None:
        """Until the machine ends."""
        while True:
            try:
                line = self._console.read_line(1.0)
            except TimeoutError:
                continue
            except OSError:
                return
            with self._changed:
                self._records.append(parse(line))
                self._changed.notify_all()

    @property
    def records(self) -> list[Record]:
        """All lines so far."""
        with self._changed:
            return list(self._records)

    def wait(self, what: str, is_it: Callable[[Record], bool], since: int = 0) -> Record:
        """The first line for which `is_it` holds, of those after the first `since` lines."""
        end = time.monotonic() + PATIENCE
        with self._changed:
            while True:
                for record in self._records[since:]:
                    if is_it(record):
                        return record
                since = len(self._records)
                if not self._changed.wait(end - time.monotonic()):
                    last = [record.text for record in self._records[-8:]]
                    raise TimeoutError(f"the kernel doesn't log {what}; last: {last}")


class Monitor:
    """QEMU's monitor: stops the machine to read several words at the same instant."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(PATIENCE)
        self._socket.connect(str(path))
        self._lines = self._socket.makefile("r", encoding="utf-8")
        self._lines.readline()  # the greeting
        self._execute("qmp_capabilities")

    def words(self, addresses: Sequence[int]) -> list[int]:
        """Words of physical memory, all of one instant."""
        self._execute("stop")
        texts = [
            self._execute("human-monitor-command", {"command-line": f"xp /1xw 0x{address:08x}"})
            for address in addresses
        ]
        self._execute("cont")
        return [int(text.split(":")[1], 16) for text in texts]

    def close(self) -> None:
        """Gives the connection up."""
        self._lines.close()
        self._socket.close()

    def _execute(self, command: str, arguments: dict[str, str] | None = None) -> Any:
        request: dict[str, Any] = {"execute": command}
        if arguments:
            request["arguments"] = arguments
        self._socket.sendall(json.dumps(request).encode())
        while True:
            answer = json.loads(self._lines.readline())
            assert "error" not in answer, answer
            if "return" in answer:  # not an event
                return answer["return"]


class Live:
    """A running system, after the banners of both VMs."""

    def __init__(self, built: Built, options: Sequence[str] = ()) -> None:
        self.built = built
        self._places = Places(read_composed(built.folder))
        self._folder = Path(tempfile.mkdtemp(prefix="fvm-"))
        monitor = self._folder / "monitor"
        self.machine = Machine(
            built.elf,
            {**CONSOLES, KERNEL: KERNEL_CONSOLE},
            options=[*options, "-qmp", f"unix:{monitor},server=on,wait=off"],
        )
        self.log = KernelLog(self.machine.console[KERNEL])
        self.monitor = Monitor(monitor)
        try:
            for console in self.vms.values():
                console.wait_ready(PATIENCE)
        except BaseException:
            self.close()
            raise

    @property
    def vms(self) -> dict[str, Console]:
        """Consoles of the two firmwares."""
        return {name: self.machine.console[name] for name in CONSOLES}

    def ask(self, name: str, command: str) -> list[str]:
        """A question to a VM and its whole answer."""
        return self.machine.console[name].ask(command.encode(), PATIENCE)

    def sentence(self, record: Record) -> str:
        """A fault record as `fvmkit run` shows it."""
        return sentence(record, self._places)

    def faults(self, at_least: int = 0) -> list[str]:
        """All faults, in words; waits for that many."""

        def are_there(_: Record) -> bool:
            return sum(r.kind == "fault" for r in self.log.records) >= at_least

        self.log.wait(f"{at_least} faults", are_there)
        return [self.sentence(record) for record in self.log.records if record.kind == "fault"]

    def close(self) -> None:
        """Ends QEMU."""
        self.monitor.close()
        self.machine.close()
        self.log.join()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Live:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
