"""`fvmkit run`: the system in QEMU, every VM's console and the kernel's log in words."""

from __future__ import annotations

import contextlib
import math
import os
import select
import shlex
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from composer.simulate.running import Running
    from composer.simulate.screen import Screen

POLL_SECONDS = 0.1
PROMPT_SECONDS = 0.3  # a line that has no end for so long is a prompt
INPUT_BYTES = 4096
ENTER = b"\r"  # what a terminal sends
LAST_PORT = 65535
QUIET = ("stat",)  # kinds of kernel lines that only --verbose shows


def positive(
    context: click.Context, parameter: click.Parameter, value: float | None
) -> float | None:
    """A number of seconds that a system can run; click's ranges let `nan` pass."""
    if value is not None and not 0 < value < math.inf:
        raise click.BadParameter(f"{value:g} is no time above 0 s", context, parameter)
    return value


def port_number(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> int | None:
    """A port of this computer; 0 stands for the usual one or any that is free."""
    if value is None:
        return None
    if not value.isascii() or not value.isdigit() or int(value) > LAST_PORT:
        raise click.BadParameter(
            f"'{value}' is no port; write DIR before --gdb, or --gdb=PORT", context, parameter
        )
    return int(value)


def writable(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    """A file that can be written when the run is over; better to know before."""
    if value is not None and not value.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {value.parent}", context, parameter)
    return value


@click.command()
@click.argument("target", metavar="DIR|IMAGE", type=click.Path(path_type=Path))
@click.option(
    "--serial",
    "wishes",
    multiple=True,
    metavar="NAME=WHERE",
    help="Lead a VM's console elsewhere: pty, file:PATH, unix:PATH, tcp:[HOST:]PORT or null.",
)
@click.option(
    "--timeout", type=float, metavar="S", callback=positive, help="End after S seconds, above 0."
)
@click.option("--icount", metavar="OPTIONS", help="Count instructions: QEMU's -icount.")
@click.option("--qemu-arg", "extra", multiple=True, metavar="ARGS", help="Arguments for QEMU.")
@click.option("--verbose", is_flag=True, help="Show every line of the kernel's log as it is, too.")
@click.option(
    "--record",
    metavar="FILE.json",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=writable,
    help="At the end write down what was said, for fvmkit report.",
)
@click.option(
    "--dump-ram",
    "dump",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=writable,
    help="At the end write all of the RAM, for fvmkit stacks and report.",
)
@click.option(
    "--gdb",
    "port",
    is_flag=False,
    flag_value="0",
    metavar="[PORT]",
    callback=port_number,
    help="Wait for a debugger on a port of this computer  [default: 1234, or a free one]",
)
@click.option(
    "--trace",
    "traces",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="At the end write a timeline: FILE.html, FILE.svg, FILE.txt or FILE.json (Perfetto).",
)
def run(
    target: Path,
    wishes: tuple[str, ...],
    timeout: float | None,
    icount: str | None,
    extra: tuple[str, ...],
    verbose: bool,
    record: Path | None,
    dump: Path | None,
    port: int | None,
    traces: tuple[Path, ...],
) -> int:
    """Run a linked system in QEMU until Ctrl-C, a timeout, or the end of a replay.

    Every VM's console appears with the VM's name in front. A typed line `NAME: text` goes to the
    console of that name; the text ends with a carriage return (CR), as Enter sends it. The
    kernel's log is read from its own console: a fault is shown in words, with function and
    source line.
    """
    from composer.debug.session import Session
    from composer.simulate.running import start
    from composer.simulate.screen import Screen

    arguments = [word for text in extra for word in shlex.split(text)]
    arguments += ["-icount", icount] if icount else []
    deadline = None if timeout is None else time.monotonic() + timeout
    signal.signal(signal.SIGTERM, interrupt)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup wants it ignored
        signal.signal(signal.SIGHUP, interrupt)
    check_kept(target, record, dump)
    with Session(target, port, traces) as session:
        try:
            arguments += session.arguments
            with start(target, wishes, arguments, session.inherited) as running:
                session.started(running)
                try:
                    show(running, Screen([line.name for line in running.lines]), deadline, verbose)
                except KeyboardInterrupt:
                    keep(running, record, dump)
                    raise
                keep(running, record, dump)
        except KeyboardInterrupt:
            with contextlib.suppress(OSError):  # the terminal may be gone
                click.echo("stopped", err=True)
        session.finish()
    return 0


def check_kept(target: Path, record: Path | None, dump: Path | None) -> None:
    """Nothing but an earlier record or dump is written over."""
    from composer.image.composed import ram_bank
    from composer.image.replaceable import check_replaceable
    from composer.simulate.image import open_image
    from composer.simulate.transcript import BEGINNING

    if record is not None:
        check_replaceable(record, "record of a run", lambda content: content.startswith(BEGINNING))
    if dump is not None:
        size = ram_bank(open_image(target)[1].folder).size
        what = f"dump of this chip's RAM ({size} bytes)"
        check_replaceable(dump, what, lambda content: len(content) == size)


def keep(running: Running, record: Path | None, dump: Path | None) -> None:
    """Write what was asked for while the machine is still there."""
    if record is not None:
        running.transcript.save(record)
    if dump is not None:
        running.dump_ram(dump)


def interrupt(number: int, frame: FrameType | None) -> None:
    """A request to end is handled as Ctrl-C is: QEMU ends first."""
    raise KeyboardInterrupt


def show(running: Running, screen: Screen, deadline: float | None, verbose: bool) -> None:
    """Pass on what the system says and what the user types, until the deadline or QEMU's end."""
    from composer.simulate.running import Output

    announced = False
    last = time.monotonic()
    reading = True
    while deadline is None or time.monotonic() < deadline:
        events = running.poll(POLL_SECONDS)
        for event in events:
            if isinstance(event, Output):
                screen.feed(event.name, event.data)
                last = time.monotonic()
                continue
            if event.record.kind not in QUIET or verbose:
                screen.say("kernel", event.sentence)
            if verbose and event.sentence != event.record.text:
                screen.say("kernel", event.record.text)
        if time.monotonic() - last > PROMPT_SECONDS:
            screen.flush()
        if not announced and (said := running.machine.messages):
            announced = True  # QEMU names the terminals that it opened
            for line in running.lines:
                said = said.replace(f"label {line.id}", line.name)
            click.echo(said, err=True)
        if not events and running.machine.has_ended():
            break
        reading = reading and take_input(running)
    screen.flush()


def take_input(running: Running) -> bool:
    """Send typed lines to the consoles that they name; False when no more input comes."""
    if not select.select([sys.stdin], [], [], 0)[0]:
        return True
    typed = os.read(sys.stdin.fileno(), INPUT_BYTES)
    for line in typed.decode("utf-8", "replace").splitlines():
        name, colon, text = line.partition(":")
        if colon and name in running.machine.here:
            running.send(name, text.strip().encode() + ENTER)
        elif line.strip():
            known = ", ".join(running.machine.here)
            click.echo(f"type NAME: text, with NAME one of {known}", err=True)
    return bool(typed)
