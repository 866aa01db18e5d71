"""The place where a debugger finds QEMU: a port of this computer, and no other."""

from __future__ import annotations

import socket

from scanner.report.errors import MissingError

USUAL = 1234  # QEMU's own choice, which debuggers and editors know
HERE = "127.0.0.1"


def listen(port: int | None) -> socket.socket:
    """A listening socket. None: the usual port, or a free one where that is taken.

    QEMU inherits it, so nobody else can get the port in between. MissingError when it is taken.
    """
    for number in (port,) if port is not None else (USUAL, 0):
        found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # QEMU's end inherits it. Without it each of GDB's small packets waits for the one before.
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            found.bind((HERE, number))
            found.listen(1)
            return found
        except OSError as error:
            found.close()
            reason = error.strerror
    raise MissingError(f"--gdb: can't listen on port {port}: {reason}", hint="choose another port")


def qemu_arguments(listener: socket.socket) -> list[str]:
    """QEMU waits for a debugger there before the first instruction."""
    device = f"socket,id=gdb,fd={listener.fileno()},server=on,wait=off"
    return ["-chardev", device, "-gdb", "chardev:gdb", "-S"]
