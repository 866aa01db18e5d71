"""What a chip's file says of its lines and blocks: all of it is said, nothing left open.

A line without its blocks, or a block of which nobody looked whether it depends on another, would
let two domains disturb each other without a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def gaps(record: dict[str, Any]) -> Iterator[str]:
    """What a chip's record doesn't say, or says twice, one sentence each."""
    devices = record["devices"]
    yield from _of_lines(record, {line for d in devices.values() for line in d["interrupts"]})
    needed = {other for device in devices.values() for other in device.get("depends", {})}
    for name, device in devices.items():
        lineless = _is_in(record["blocks_without_line"], name, device)
        if lineless == bool(device["interrupts"]):
            yield (
                f"block {name} is in 'blocks_without_line' and raises a line"
                if lineless
                else f"nothing says which line block {name} raises, or that it raises none"
            )
        looked_at = device.get("depends") or name in needed or device.get("nobody")
        if not looked_at and not _is_in(record["independent"], name, device):
            yield f"nothing says what block {name} depends on, or that it depends on none"
        for other in device.get("depends", {}):
            if other not in devices:
                yield f"block {name} depends on {other}, which isn't there"


def _of_lines(record: dict[str, Any], raised: set[str]) -> Iterator[str]:
    for line in record["interrupts"]:
        said = (
            line in raised,
            line in record["lines_of_fpu"],
            line in record["lines_without_block"],
        )
        if sum(said) != 1:
            yield (
                f"line {line} is in several of blocks, 'lines_of_fpu' and 'lines_without_block'"
                if any(said)
                else f"nothing says which block raises line {line}, or that none does"
            )
    for line in sorted(raised - record["interrupts"].keys()):
        yield f"a block raises line {line}, which has no number"


def _is_in(names: Any, name: str, device: dict[str, Any]) -> bool:
    """Whether a block is meant, by its name or its kind."""
    return name in names or f"kind:{device['kind']}" in names
