"""What LLVM's decoder makes of encodings, a line each. Needs llvm-mc (Debian package llvm)."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_INVALID = re.compile(rb"^[^\n]*?:(\d+):\d+: warning: invalid instruction encoding", re.MULTILINE)
_IF_THEN, _AFTER, _NOP = 0xBF, 4, "[0x00 0xbf]\n"
_BY_NUMBER = re.compile(r"llvm-mc-(\d+)$")

Encoding = tuple[int, ...]
"""The halfwords of one instruction."""


@dataclass(frozen=True)
class Decoder:
    """One core of LLVM: its triple, and what it has besides."""

    triple: str
    attributes: str = ""

    @property
    def is_thumb(self) -> bool:
        """Whether IT makes the instructions behind it conditional."""
        return self.triple.startswith("thumb")


def llvm_mc() -> str | None:
    """The program, the newest of several; None where there is none."""
    plain = shutil.which("llvm-mc")
    folder = Path("/usr/bin")
    numbered = sorted(
        (int(found[1]), str(path))
        for path in folder.glob("llvm-mc-*")
        if (found := _BY_NUMBER.search(path.name))
    )
    return numbered[-1][1] if numbered else plain


def decode(decoder: Decoder, encodings: Sequence[Encoding]) -> list[str | None]:
    """The text of each encoding, None where it is no instruction of that core."""
    program = llvm_mc()
    assert program is not None
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as source:
        places, count = [], 0
        for encoding in encodings:
            count += 1
            places.append(count)
            source.write(_line(encoding))
            if decoder.is_thumb and encoding[0] >> 8 == _IF_THEN:
                source.write(_NOP * _AFTER)
                count += _AFTER
        source.flush()
        command = [program, "-disassemble", f"-triple={decoder.triple}"]
        command += [f"-mattr={decoder.attributes}", source.name]
        # It ends with 1 where one encoding is no instruction.
        done = subprocess.run(command, check=False, capture_output=True)
    failed = {int(number) for number in _INVALID.findall(done.stderr)}
    lines = iter(_instructions(done.stdout.decode().splitlines()))
    texts: dict[int, str] = {}
    for number in range(1, count + 1):
        if number not in failed:
            texts[number] = next(lines)
    rest = sum(1 for _ in lines)
    if rest:
        raise AssertionError(f"{rest} lines of llvm-mc more than instructions")
    return [texts.get(place) for place in places]


def _line(encoding: Encoding) -> str:
    octets = " ".join(f"0x{half & 255:02x} 0x{half >> 8:02x}" for half in encoding)
    return f"[{octets}]\n"


def _instructions(lines: Iterable[str]) -> Iterable[str]:
    for line in lines:
        text = line.strip().replace("\t", " ")
        if text and not text.startswith("."):
            yield text
