"""Stretches that look like functions, whoever calls them: what one pushes is popped at its end.

That the registers, or the size of the frame, are the same at both ends makes it unlikely among
data: one random word in some ten thousand begins such a stretch.
"""

from __future__ import annotations

import numpy as np

from scanner.decode.instruction_set import Indices

_LONGEST = 1 << 13
"""Halfwords of the longest function that is told."""


def paired(
    begins: Indices, frames: Indices, ends: Indices, released: Indices
) -> tuple[Indices, Indices]:
    """Where stretches begin and the instruction that ends each.

    `frames` and `released` say what each begin keeps and each end gives back. A stretch ends with
    the first end behind its begin; another begin between the two contradicts it.
    """
    order, last = np.argsort(begins), np.argsort(ends)
    begins, frames, ends, released = begins[order], frames[order], ends[last], released[last]
    following = np.searchsorted(ends, begins, "right")
    known = following < len(ends)
    begins, frames, following = begins[known], frames[known], following[known]
    behind = ends[following]
    apart = np.append(begins[1:] > behind[:-1], True)[: len(begins)]
    fits = apart & (released[following] == frames) & (behind - begins < _LONGEST)
    return begins[fits], behind[fits]
