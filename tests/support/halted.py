"""A machine that is stopped and gone through instruction by instruction: QEMU's server for gdb.

Only the little of its protocol that the tests need (GDB manual, appendix E). Memory is read and
written by the injector: that sees what the processor sees in privileged mode.
"""

from __future__ import annotations

import socket
from pathlib import Path
from types import TracebackType

from tests.support.injector import Injector, connect

_PATIENCE = 120.0  # seconds: of a busy host
_XPSR = 25  # number of the register in QEMU's description of an M-profile core
_PC = 15
_D0, _FPSCR = 26, 42  # of a core with 16 double registers
_EXCEPTION = 0x1FF
_LONGEST_PATH = 5000  # instructions; a kernel that takes more doesn't come back


class Halted:
    """Started with `options`, entered when the machine is to be stopped."""

    def __init__(
        self, folder: Path, *, from_reset: bool = False, patience: float = _PATIENCE
    ) -> None:
        """`from_reset`: it is entered before the first instruction. `patience`: seconds for each
        answer, and for the socket of a QEMU that may be gone; then TimeoutError or OSError."""
        self._path = folder / "g"  # short: a socket's path has at most 107 characters
        self.memory = Injector(folder)
        self._runs = not from_reset
        self.options = (
            *self.memory.options,
            *(["-S"] if from_reset else []),
            "-chardev",
            f"socket,id=halted,path={self._path},server=on,wait=off",
            "-gdb",
            "chardev:halted",
        )
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(patience)
        self._patience = patience
        self._pending = b""

    def __enter__(self) -> Halted:
        try:
            connect(self._socket, self._path, self._patience)  # QEMU stops the machine
            self.memory.__enter__()
            if self._runs:
                self._receive()  # that it stopped
            self._say("qXfer:features:read:target.xml:0,ffb")  # or it tells no single register
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.memory.__exit__(kind, error, trace)
        finally:
            self._socket.close()

    def register(self, number: int) -> int:
        """r0 to r12, sp, lr, pc by number."""
        return int.from_bytes(bytes.fromhex(self._say(f"p{number:x}")), "little")

    def registers(self) -> list[int]:
        """r0 to r12, sp, lr, pc, xPSR."""
        said = bytes.fromhex(self._say("g"))
        return [int.from_bytes(said[at : at + 4], "little") for at in range(0, len(said), 4)]

    def set_register(self, number: int, value: int) -> None:
        assert self._say(f"P{number:x}={value.to_bytes(4, 'little').hex()}") == "OK"

    def fpu(self, first: int, count: int) -> list[int]:
        """S registers from an even one on, an even number of them."""
        words = []
        for number in range(first // 2, (first + count) // 2):
            said = bytes.fromhex(self._say(f"p{_D0 + number:x}"))
            words += [int.from_bytes(said[at : at + 4], "little") for at in (0, 4)]
        return words

    def fpscr(self) -> int:
        return self.register(_FPSCR)

    @property
    def pc(self) -> int:
        return self.register(_PC)

    @property
    def exception(self) -> int:
        """Number of the active exception, 0 in a thread."""
        return self.register(_XPSR) & _EXCEPTION

    def step(self) -> None:
        """One instruction; no interrupt comes in between."""
        self._say("s")

    def leave_kernel(self) -> bool:
        """To the first instruction of a thread, if the machine was stopped in the kernel. False if
        the kernel doesn't come to an end."""
        for _ in range(_LONGEST_PATH):
            if self.exception == 0:
                return True
            self.step()
        return False

    def run_to(self, address: int) -> None:
        """Goes on to the next execution of the instruction at an address."""
        if self.pc == address:
            self.step()
        self.break_at(address)
        self.go_on()
        self.forget(address)

    def break_at(self, address: int) -> None:
        assert self._say(f"Z1,{address:x},2") == "OK"

    def forget(self, address: int) -> None:
        assert self._say(f"z1,{address:x},2") == "OK"

    def go_on(self) -> None:
        """To the next breakpoint."""
        self._say("c")

    def let_go(self) -> None:
        """Runs freely until `stop`."""
        self._send("c")

    def stop(self) -> None:
        self._socket.sendall(b"\x03")
        self._receive()

    def _say(self, command: str) -> str:
        self._send(command)
        return self._receive()

    def _send(self, command: str) -> None:
        data = command.encode()
        self._socket.sendall(b"$" + data + b"#%02x" % (sum(data) & 0xFF))

    def _receive(self) -> str:
        while self._pending.count(b"#") == 0 or len(self._pending.partition(b"#")[2]) < 2:
            more = self._socket.recv(1 << 16)
            if not more:
                raise ConnectionError("QEMU is gone")
            self._pending += more
        packet, _, rest = self._pending.partition(b"#")
        self._pending = rest[2:]
        self._socket.sendall(b"+")
        return packet.partition(b"$")[2].decode("latin-1")
