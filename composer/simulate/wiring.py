"""Which serial line of the board belongs to whom, and where its other end is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from composer.image.composed import Board, Composed
from scanner.report.errors import MissingError

HERE = "here"  # the other end is fvmkit itself
KERNEL = "kernel"
LAST_PORT = 65535
FORMS = "pty, file:PATH, unix:PATH, tcp:PORT, tcp:HOST:PORT or null"


@dataclass(frozen=True)
class Line:
    """A serial line: its number on the board, its device, its owner, its other end.

    `name` is the owner, or OWNER:DEVICE where the owner has several lines.
    """

    index: int
    device: str
    owner: str
    name: str
    where: str = HERE

    @property
    def id(self) -> str:
        """QEMU's name for the line."""
        return f"serial{self.index}"


def board_lines(system: Composed, board: Board) -> list[Line]:
    """The lines that the kernel or a domain has; the others lead nowhere."""
    owners: dict[str, str] = {
        grant.name: part.name for part in system.domains for grant in part.of_kind("device")
    }
    if system.console is not None:
        owners[system.console] = KERNEL
    found = [
        (index, device, owners[device])
        for index, device in enumerate(board.serial)
        if device in owners
    ]
    count = [owner for _, _, owner in found].count
    return [
        Line(index, device, owner, owner if count(owner) == 1 else f"{owner}:{device}")
        for index, device, owner in found
    ]


def connect(lines: Sequence[Line], wishes: Sequence[str]) -> list[Line]:
    """The lines with their other ends; `wishes` are `NAME=WHERE` of the command line."""
    wanted: dict[str, str] = {}
    for wish in wishes:
        name, equals, where = wish.partition("=")
        if not equals or name not in {line.name for line in lines}:
            known = ", ".join(line.name for line in lines)
            raise MissingError(f"--serial {wish}: NAME=WHERE, with NAME one of {known}")
        wanted[name] = where
    return [
        Line(line.index, line.device, line.owner, line.name, wanted.get(line.name, HERE))
        for line in lines
    ]


def backend(line: Line, inherited: int | None) -> str:
    """QEMU's -chardev for a line; `inherited` is our socket's number for HERE."""
    kind, _, rest = line.where.partition(":")
    path = rest.replace(",", ",,")  # QEMU's own quoting
    if line.where == HERE:
        return f"socket,id={line.id},fd={inherited}"
    if line.where in ("pty", "null"):
        return f"{line.where},id={line.id}"
    if kind == "file" and rest:
        return f"file,id={line.id},path={path}"
    if kind == "unix" and rest:
        return f"socket,id={line.id},path={path},server=on,wait=off"
    host, _, port = rest.rpartition(":")
    if kind == "tcp" and port.isascii() and port.isdigit():
        if not 1 <= int(port) <= LAST_PORT:
            raise MissingError(f"--serial {line.name}={line.where}: PORT is 1 to {LAST_PORT}")
        return f"socket,id={line.id},host={host or '127.0.0.1'},port={port},server=on,wait=off"
    raise MissingError(f"--serial {line.name}={line.where}: WHERE is {FORMS}")
