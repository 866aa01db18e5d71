"""One image, four files: ELF, Intel HEX, binary, and the manifest that says what is inside.

The same input gives the same bytes: nothing here depends on the time or on the machine.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence

from intelhex import IntelHex

from composer.image.check import load_end
from scanner.image.model import Segment

# <elf.h>, 32 bits, little-endian: the header of the file, and of one segment.
FILE_HEADER = struct.Struct("<4sBBBBB7xHHIIIIIHHHHHH")
SEGMENT_HEADER = struct.Struct("<IIIIIIII")
ET_EXEC, EM_ARM, EV_CURRENT = 2, 40, 1
EF_ARM_EABI_VER5 = 0x05000000
PT_LOAD, PF_X_R = 1, 5
ALIGNMENT = 4
ERASED = 0xFF  # what flash holds where nothing was written


def elf_image(segments: Sequence[Segment], entry: int) -> bytes:
    """An ELF that a flasher or QEMU loads: segments at their load addresses, nothing else.

    Symbols stay in the ELFs of the parts; a debugger loads those.
    """
    offset = FILE_HEADER.size + SEGMENT_HEADER.size * len(segments)
    headers, body = [], io.BytesIO()
    for segment in segments:
        body.write(bytes(-(offset + body.tell()) % ALIGNMENT))
        place, size, address = offset + body.tell(), len(segment.data), segment.load_address
        headers.append(
            SEGMENT_HEADER.pack(PT_LOAD, place, address, address, size, size, PF_X_R, ALIGNMENT)
        )
        body.write(segment.data)
    start = FILE_HEADER.pack(
        b"\x7fELF", 1, 1, EV_CURRENT, 0, 0, ET_EXEC, EM_ARM, EV_CURRENT, entry, FILE_HEADER.size,
        0, EF_ARM_EABI_VER5, FILE_HEADER.size, SEGMENT_HEADER.size, len(segments), 0, 0, 0,
    )  # fmt: skip
    return start + b"".join(headers) + body.getvalue()


def hex_image(segments: Sequence[Segment], entry: int) -> bytes:
    """Intel HEX with the kernel's entry as start address."""
    image = IntelHex()
    for segment in segments:
        image.puts(segment.load_address, bytes(segment.data))
    image.start_addr = {"EIP": entry}
    text = io.StringIO()
    image.write_hex_file(text)
    return text.getvalue().encode("ascii")


def binary_image(segments: Sequence[Segment]) -> bytes:
    """The bytes from the first to the last address; gaps as in erased flash."""
    base = segments[0].load_address
    content = bytearray([ERASED]) * (load_end(segments[-1]) - base)
    for segment in segments:
        content[segment.load_address - base : load_end(segment) - base] = segment.data
    return bytes(content)
