"""The file that fvmkit and the plugin in QEMU both map; plugin/shared.h has the same layout."""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path

import numpy as np

MAGIC = 0x31454341525446
NONE = 0xFFFF
LANES = 40
ENTRIES = 512
CALLS = 1024
WATCHES = 8
SPANS = 16
CRIMES = 256
BLOCKS = 128


class Kind(IntEnum):
    """What an event tells; RESET to OTHER are entries of the kernel."""

    LANE = 0
    RESET = 1
    FAULT = 2
    CALL = 3
    TICK = 4
    LINE = 5
    DEFERRED = 6
    OTHER = 7
    SWITCH = 8
    CRIME = 9
    RESTART = 10


ENTRY_KINDS = (
    Kind.RESET,
    Kind.FAULT,
    Kind.CALL,
    Kind.TICK,
    Kind.LINE,
    Kind.DEFERRED,
    Kind.OTHER,
)

EVENT = np.dtype(
    [("at", "u8"), ("pc", "u4"), ("argument", "u2"), ("kind", "u1"), ("lane", "u1")], align=True
)
RANGE = np.dtype([("start", "u4"), ("end", "u4")], align=True)
ENTRY = np.dtype([("address", "u4"), ("kind", "u2"), ("argument", "u2")], align=True)
CALL = np.dtype([("address", "u4"), ("number", "u4")], align=True)
WATCH = np.dtype(
    [
        ("code_start", "u4"),
        ("code_end", "u4"),
        ("data_start", "u4"),
        ("data_end", "u4"),
        ("stride", "u4"),
        ("kind", "u4"),
    ],
    align=True,
)
BLOCK = np.dtype([("pc", "u4"), ("at", "u4")], align=True)
PATH = np.dtype(
    [
        ("count", "u8"),
        ("total", "u8"),
        ("longest", "u8"),
        ("longest_at", "u8"),
        ("longest_pc", "u4"),
        ("longest_argument", "u4"),
        ("blocks", "u8"),
        ("block", BLOCK, BLOCKS),
    ],
    align=True,
)
SPAN = np.dtype(
    [
        ("start", "u4"),
        ("stop", "u4"),
        ("code_start", "u4"),
        ("code_end", "u4"),
        ("data", "u4"),
        ("kind", "u4"),
        ("argument", "u4"),
        ("reserved", "u4"),
        ("opened", "u8"),
        ("count", "u8"),
        ("total", "u8"),
        ("shortest", "u8"),
        ("longest", "u8"),
        ("longest_at", "u8"),
    ],
    align=True,
)
HEADER = np.dtype(
    [
        ("magic", "u8"),
        ("capacity", "u8"),
        ("size", "u4"),
        ("lanes", "u4"),
        ("entries", "u4"),
        ("calls", "u4"),
        ("watches", "u4"),
        ("spans", "u4"),
        ("lane", RANGE, LANES),
        ("entry", ENTRY, ENTRIES),
        ("call", CALL, CALLS),
        ("watch", WATCH, WATCHES),
        ("span", SPAN, SPANS),
        ("instructions", "u8"),
        ("written", "u8"),
        ("since", "u8"),
        ("executed", "u8", LANES),
        ("happened", "u8", len(Kind)),
        ("path", PATH, len(Kind)),
        ("crime", EVENT, CRIMES),
        ("running", "u4"),
        ("thread", "u4"),
    ],
    align=True,
)


def create(path: Path, capacity: int) -> np.memmap:
    """A new file with room for `capacity` events. It is sparse: only what is used takes room."""
    with path.open("xb") as file:
        file.truncate(HEADER.itemsize + capacity * EVENT.itemsize)
    header = np.memmap(path, dtype=HEADER, mode="r+", shape=(1,))
    header["magic"] = MAGIC
    header["capacity"] = capacity
    header["size"] = HEADER.itemsize
    return header


def ring(path: Path, header: np.memmap) -> np.ndarray:
    """A copy of the events that are there, the oldest first."""
    capacity, written = int(header["capacity"][0]), int(header["written"][0])
    events = np.memmap(path, dtype=EVENT, mode="r", offset=HEADER.itemsize, shape=(capacity,))
    if written <= capacity:
        return np.array(events[:written])
    return np.roll(events, -(written % capacity))
