"""Is every byte of every part where that part may have it, and nowhere else?"""

from __future__ import annotations

import itertools
import struct

from composer.image.binary import Binary
from composer.image.composed import Part
from scanner.image.model import Segment
from scanner.image.segments import wx_problems
from scanner.policy import Grant
from scanner.report.errors import FvmError

DOMAIN_MAGIC = 0x444D5646  # FVM_DOMAIN_MAGIC of fvm/domain_header.h
HEADER_VERSION = 1
HEADER = struct.Struct("<II")
VECTORS = struct.Struct("<II")  # of a Cortex-M image: initial SP, reset handler


def span(base: int, size: int) -> str:
    """A range as messages show it."""
    return f"[0x{base:08x}, 0x{base + size:08x})"


def load_end(segment: Segment) -> int:
    """First address of the flash behind a segment's stored bytes."""
    return segment.load_address + len(segment.data)


def inside(base: int, size: int, grants: tuple[Grant, ...]) -> bool:
    """Whether adjacent grants together cover the range."""
    reached = base
    for grant in sorted(grants, key=lambda grant: grant.base):
        if grant.base <= reached < grant.end:
            reached = grant.end
    return reached >= base + size


def check_places(binary: Binary, part: Part) -> None:
    """Stored bytes lie in the part's flash, and what it runs on in its flash and RAM."""
    code = part.of_kind("code")
    memory = part.of_kind("code", "ram")
    for segment in binary.image.segments:
        if segment.data and not inside(segment.load_address, len(segment.data), code):
            raise misplaced(binary, part, segment.load_address, len(segment.data), "flash")
        if not inside(segment.address, segment.memory_size, memory):
            raise misplaced(binary, part, segment.address, segment.memory_size, "memory")


def misplaced(binary: Binary, part: Part, base: int, size: int, what: str) -> FvmError:
    """The error for a segment that lies outside."""
    granted = ", ".join(
        span(grant.base, grant.size)
        for grant in part.of_kind("code", *(() if what == "flash" else ("ram",)))
    )
    return FvmError(
        f"segment {span(base, size)} is outside the {what} of '{part.name}', {granted}",
        file=binary.path,
        hint="give it more room in the description, then compose and build again",
    )


def first_bytes(binary: Binary, base: int, size: int) -> bytes:
    """The first bytes stored at `base`, fewer when there aren't so many."""
    for segment in binary.stored:
        if segment.load_address <= base < load_end(segment):
            start = base - segment.load_address
            return bytes(segment.data[start : start + size])
    return b""


def check_header(binary: Binary, part: Part) -> None:
    """A domain's image starts with the header in which the kernel looks for its threads."""
    (flash, *_) = part.of_kind("code")
    start = first_bytes(binary, flash.base, HEADER.size)
    if len(start) < HEADER.size or HEADER.unpack(start) != (DOMAIN_MAGIC, HEADER_VERSION):
        raise FvmError(
            f"has no domain header at 0x{flash.base:08x}",
            file=binary.path,
            hint="build it with the generated start-up file and linker script",
        )


def check_vectors(binary: Binary, part: Part) -> None:
    """The kernel starts with a vector table whose stack and reset handler are its own."""
    image = binary.image
    for problem in (*image.problems, *wx_problems(image.segments, None)):
        raise FvmError(problem.text, file=binary.path)
    (flash, *_) = part.of_kind("code")
    start = first_bytes(binary, flash.base, VECTORS.size)
    if len(start) == VECTORS.size:
        stack, reset = VECTORS.unpack(start)
        if inside(stack - 4, 4, part.of_kind("ram")) and inside(
            reset & ~1, 2, part.of_kind("code")
        ):
            return
    raise FvmError(f"has no vector table at 0x{flash.base:08x}", file=binary.path)


def check_part(binary: Binary, part: Part) -> None:
    """Everything that can be said of one part alone."""
    if not binary.stored:
        raise FvmError("holds nothing to load", file=binary.path)
    check_places(binary, part)
    if part.kind == "kernel":
        check_vectors(binary, part)
    else:
        check_header(binary, part)


def check_overlap(binaries: tuple[Binary, ...]) -> None:
    """No two segments want the same bytes of flash."""
    stored: list[tuple[Segment, Binary]] = sorted(
        ((segment, binary) for binary in binaries for segment in binary.stored),
        key=lambda pair: pair[0].load_address,
    )
    for (before, owner), (after, other) in itertools.pairwise(stored):
        if after.load_address < load_end(before):
            raise FvmError(
                f"segment {span(after.load_address, len(after.data))} overlaps"
                f" {span(before.load_address, len(before.data))} of {owner.path}",
                file=other.path,
                hint="compose and build again",
            )
