"""What `fvmkit run --gdb` and `--trace` add to a run; without them nothing."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import click

from composer.debug.output import check_target, write_trace
from composer.debug.port import listen, qemu_arguments
from composer.debug.scripts import FOLDER, GDB, SYSTEM
from composer.debug.timeline import Told
from composer.image.composed import Composed
from composer.simulate.image import open_image
from composer.simulate.running import Running
from composer.simulate.tracer import Tracer


class Session:
    """The debugger's port and the tracer of one run."""

    def __init__(self, target: Path, port: int | None, traces: Sequence[Path]) -> None:
        """`port`: None for no debugger, 0 for the usual port or a free one.

        MissingError for a port that is taken, for files that can't be written or would lose
        something, and where nothing can compile the tracer.
        """
        self.arguments: list[str] = []
        self.inherited: list[int] = []
        self._open = ExitStack()
        self._port: int | None = None
        self._traces = tuple(traces)
        self._tracer: Tracer | None = None
        self._running: Running | None = None
        self._system: Composed | None = None
        for path in traces:
            check_target(path)
        if port is None and not traces:
            return
        self._system = open_image(target)[1]
        if port is not None:
            listener = self._open.enter_context(listen(port or None))
            self._port = listener.getsockname()[1]
            self.arguments += qemu_arguments(listener)
            self.inherited.append(listener.fileno())
        if traces:
            self._tracer = self._open.enter_context(Tracer(self._system))
            self.arguments += self._tracer.arguments

    def started(self, running: Running) -> None:
        """QEMU runs: say where it waits."""
        self._running = running
        if self._port is None or self._system is None:
            return
        # In full: the debugger is started in another terminal, which may be anywhere.
        script = self._system.folder.resolve() / FOLDER / f"{SYSTEM}.gdb"
        command = [GDB, "-x", str(script), "-ex", f"target remote localhost:{self._port}"]
        click.echo(f"waiting for a debugger on localhost:{self._port}:", err=True)
        click.echo(f"    {shlex.join(command)}", err=True)
        if not script.exists():
            click.echo(f"there is no {script}: run fvmkit compose again to get it", err=True)

    def finish(self) -> None:
        """QEMU has ended: write the timeline and tell the numbers."""
        if self._tracer is None or self._system is None or self._running is None:
            return
        lines = self._running.transcript.recording().lines
        kinds = [line.fields.get("kind") for line in lines]
        known = lines[: kinds.index("lost")] if "lost" in kinds else lines  # no gaps before it
        faults = [
            Told(line.who, line.sentence) for line in known if line.fields.get("kind") == "fault"
        ]
        for line in write_trace(self._system, self._tracer.read(), faults, self._traces):
            click.echo(line)
        click.echo(f"wrote {', '.join(map(str, self._traces))}", err=True)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()
