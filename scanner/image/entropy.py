"""Does the program look like noise? Then it is encrypted or compressed, and no code to judge.

Measured in windows of 1 KiB: machine code of Thumb and RISC-V stays below 7.0 bits a byte
(newlib, picolibc), deflate and ciphers lie above 7.7. A program that carries compressed data has
windows of both kinds.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from scanner.image.model import Problem, Segment

_WINDOW = 1024
_SAMPLES = 256
_FEWEST = 2
_NOISE_BITS = 7.5
_FILL_BITS = 1.0
_SHARE = 0.95


def noise_problem(segments: Iterable[Segment]) -> Problem | None:
    """The reason to refuse a program whose executable bytes are noise."""
    code = [segment.data for segment in segments if segment.executable]
    windows = [range(0, len(data) - _WINDOW + 1, _WINDOW) for data in code]
    places = [(n, at) for n, starts in enumerate(windows) for at in starts]
    step = max(1, len(places) // _SAMPLES)
    bits = [_entropy(code[n][at : at + _WINDOW]) for n, at in places[::step]]
    used = [value for value in bits if value > _FILL_BITS]
    noisy = sum(value > _NOISE_BITS for value in used)
    if noisy < _FEWEST or noisy < _SHARE * len(used):
        return None
    text = f"{sum(used) / len(used):.2f} bits of information in a byte; machine code has below 7"
    return Problem("encrypted", text)


def _entropy(data: memoryview) -> float:
    """Bits a byte, by how often each value comes."""
    counts = np.bincount(np.frombuffer(data, dtype=np.uint8), minlength=256)
    shares = counts[counts > 0] / len(data)
    return float(-(shares * np.log2(shares)).sum())
