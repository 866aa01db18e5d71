"""Bytes that a file places address by address, joined to segments.

The libraries for these formats keep one entry of a table for each byte, let later bytes replace
earlier ones or stop at the first end record, so a hostile file costs a hundred times its size or
hides what it holds. Here bytes are joined as they come, and what contradicts itself is refused.
"""

from __future__ import annotations

from scanner.image.model import Image, Problem, Segment, UntrustedError, span

MAX_PIECES = 4096
"""So many separate stretches are accepted: linkers make tens, flash tools perhaps hundreds."""

_ADDRESS_END = 1 << 32


class PlacedBytes:
    """What a file puts where. `malformed` and `overlap` are the rules that its faults break."""

    def __init__(self, malformed: str, overlap: str) -> None:
        self._malformed, self._overlap = malformed, overlap
        self._pieces: list[tuple[int, bytearray]] = []
        self._next = -1

    def place(self, address: int, content: bytes) -> None:
        """Add bytes; raises UntrustedError where they can't lie or come in too many pieces."""
        if address + len(content) > _ADDRESS_END:
            text = f"{span(address, address + len(content))} passes the end of the address space"
            raise UntrustedError(self._malformed, text, address)
        if address == self._next:
            self._pieces[-1][1].extend(content)
        elif len(self._pieces) < MAX_PIECES:
            self._pieces.append((address, bytearray(content)))
        else:
            text = f"more than {MAX_PIECES} separate stretches: no linker's output"
            raise UntrustedError(self._malformed, text)
        self._next = address + len(content)

    def image(self, entry: int | None, arch: str | None = None) -> Image:
        """The whole, all of it code that may be executed: such files know no permissions.

        Raises UntrustedError if there is nothing, or two contents for one address.
        """
        pieces = sorted((piece for piece in self._pieces if piece[1]), key=lambda piece: piece[0])
        if not pieces:
            raise UntrustedError(self._malformed, "nothing to load")
        joined = [pieces[0]]
        for address, content in pieces[1:]:
            start, before = joined[-1]
            end = start + len(before)
            both = min(end - address, len(content))
            if both > 0 and before[address - start : address - start + both] == content[:both]:
                before.extend(content[both:])  # the same once more
            elif both > 0:
                other = span(address, address + len(content))
                text = f"{span(start, end)} and {other} overlap"
                raise UntrustedError(self._overlap, text, address)
            elif address == end:
                before.extend(content)
            else:
                joined.append((address, content))
        segments = tuple(_segment(address, content) for address, content in joined)
        problems = []
        if entry is not None and not any(s.address <= entry < s.end for s in segments):
            text = f"the start address 0x{entry:08x} is outside of what is loaded"
            problems.append(Problem(self._malformed, text))
        return Image(arch=arch, entry=entry, segments=segments, problems=tuple(problems))


def _segment(address: int, content: bytearray) -> Segment:
    return Segment(
        address=address,
        load_address=address,
        data=memoryview(content).toreadonly(),
        memory_size=len(content),
        offset=None,
        executable=True,
        writable=False,
    )
