"""A raw binary: nothing but bytes, so the user must say where they lie."""

from __future__ import annotations

from scanner.image.model import Image, Problem, Segment, span

_ADDRESS_END = 1 << 32


def load_raw(data: bytes, base: int) -> Image:
    """The bytes at `base`, all of them code that may be executed."""
    end = base + len(data)
    if base < 0 or end > _ADDRESS_END:
        text = f"{span(base, end)} is not inside of the address space"
        return Image(problems=(Problem("raw-range", text),))
    if base % 2:
        text = f"the base 0x{base:08x} is odd: instructions lie at even addresses"
        return Image(problems=(Problem("raw-range", text),))
    segment = Segment(
        address=base,
        load_address=base,
        data=memoryview(data),
        memory_size=len(data),
        offset=0,
        executable=True,
        writable=False,
    )
    return Image(segments=(segment,))
