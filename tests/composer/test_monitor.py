"""What becomes of a dump when QEMU refuses, is gone, or says nonsense."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from composer.simulate.monitor import Monitor
from scanner.report.errors import FvmError

Answer = Callable[[dict[str, Any]], bytes]
DONE = b'{"return": {}}\n'


def dump(file: Path, answer: Answer, size: int = 16) -> list[dict[str, Any]]:
    """Take a dump from a QEMU that answers so; all that it was told."""
    mine, theirs = socket.socketpair()
    told: list[dict[str, Any]] = []

    def serve() -> None:
        with suppress(OSError), theirs, theirs.makefile("r") as lines:
            theirs.sendall(b'{"QMP": {}}\n')
            decoder, text = json.JSONDecoder(), ""
            while letter := lines.read(1):  # requests have no line end
                text += letter
                try:
                    request, _ = decoder.raw_decode(text)
                except ValueError:
                    continue
                told.append(request)
                text = ""
                said = answer(request)
                theirs.sendall(said)
                if not said:
                    return

    server = threading.Thread(target=serve, daemon=True)
    server.start()
    try:
        with mine:
            Monitor(mine, lambda: None).dump(0x20000000, size, file)
    finally:
        server.join(10)
    return told


def test_the_machine_stands_still_meanwhile(tmp_path: Path) -> None:
    told = dump(tmp_path / "ram.bin", lambda request: b'{"event": "STOP"}\n' + DONE)
    assert [request["execute"] for request in told] == [
        "qmp_capabilities", "stop", "pmemsave", "cont",
    ]  # fmt: skip
    assert told[2]["arguments"] == {
        "val": 0x20000000, "size": 16, "filename": str(tmp_path / "ram.bin"),
    }  # fmt: skip


def test_a_refusal_is_told_in_words_of_qemu(tmp_path: Path) -> None:
    refusal = b'{"error": {"class": "GenericError", "desc": "Could not open \'x\'"}}\n'
    with pytest.raises(FvmError, match="QEMU refuses 'pmemsave': Could not open 'x'"):
        dump(tmp_path / "x", lambda r: refusal if r["execute"] == "pmemsave" else DONE)


@pytest.mark.parametrize(("answer", "message"), [(b"", "has ended"), (b"what?\n", "no JSON")])
def test_a_qemu_that_is_gone_or_odd_is_an_error(
    tmp_path: Path, answer: bytes, message: str
) -> None:
    with pytest.raises(FvmError, match=message):
        dump(tmp_path / "x", lambda request: answer)


@pytest.mark.parametrize("size", [0, 1 << 30])
def test_a_dump_has_bounds(tmp_path: Path, size: int) -> None:
    with pytest.raises(FvmError, match="1 to 16777216 bytes"):
        dump(tmp_path / "x", lambda request: DONE, size)
