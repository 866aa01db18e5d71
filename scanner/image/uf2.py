"""UF2: blocks of 512 bytes, each with the address of its payload (github.com/microsoft/uf2).

A block says which family of chips it is for; the family tells the architecture. Blocks that a
bootloader would pass over are not part of the program.
"""

from __future__ import annotations

import struct
from dataclasses import replace

from scanner.image.model import Image, UntrustedError
from scanner.image.placed import PlacedBytes

MAGIC = b"UF2\n\x57\x51\x5d\x9e"
_BLOCK, _PAYLOAD = 512, 476
_HEADER = struct.Struct("<8s6I")
_MAGIC_END = b"\x30\x6f\xb1\x0a"
_NOT_FLASH, _FILES, _HAS_FAMILY = 0x0001, 0x1000, 0x2000
_MALFORMED = "uf2-malformed"

# RP2350: a block in front of the program, for an erratum of its boot ROM, numbered by itself.
_ABSOLUTE = 0xE48BFF57

# The boot ROM of RP2040 runs the first 256 bytes of the flash (RP2040 datasheet, 2.8.1.3.1).
_RP2040, _SECOND_STAGE = 0xE48BFF56, 0x10000001

_FAMILIES = {
    0x68ED2B88: "armv6m",  # SAMD21
    0x1851780A: "armv6m",  # SAML21
    0x647824B6: "armv6m",  # STM32F0
    0x300F5633: "armv6m",  # STM32G0
    0x202E3A91: "armv6m",  # STM32L0
    0x7F83E793: "armv6m",  # KL32L2
    _RP2040: "armv6m",
    0x5EE21072: "armv7m",  # STM32F1
    0x5D1A0A2E: "armv7m",  # STM32F2
    0x1E1F432D: "armv7m",  # STM32L1
    0x55114460: "armv7em",  # SAMD51
    0x6B846188: "armv7em",  # STM32F3
    0x57755A57: "armv7em",  # STM32F4
    0x6D0922FA: "armv7em",  # STM32F407
    0x8FB060FE: "armv7em",  # STM32F407VG
    0x53B80F00: "armv7em",  # STM32F7
    0x6DB66082: "armv7em",  # STM32H7
    0x4C71240A: "armv7em",  # STM32G4
    0x00FF6919: "armv7em",  # STM32L4
    0x70D16653: "armv7em",  # STM32WB
    0x1B57745F: "armv7em",  # nRF52
    0x621E937A: "armv7em",  # nRF52833
    0xADA52840: "armv7em",  # nRF52840
    0x4FB2D5BD: "armv7em",  # i.MX RT10xx
    0x31D228C6: "armv7em",  # GD32F350
    0x04240BDF: "armv8m.main",  # STM32L5
    0x2ABC77EC: "armv8m.main",  # LPC55
    0xE48BFF59: "armv8m.main",  # RP2350, Arm, secure
    0xE48BFF5B: "armv8m.main",  # RP2350, Arm, non-secure
    0xE48BFF5A: "rv32imac",  # RP2350, RISC-V
    0x9AF03E33: "rv32imac",  # GD32VF103
    0xD42BA06C: "rv32imac",  # ESP32-C3, which lacks A
    0x2B88D29C: "rv32imac",  # ESP32-C2, which lacks A
    0x540DDF62: "rv32imac",  # ESP32-C6
    0x332726F6: "rv32imac",  # ESP32-H2
    0x1C5F21B0: "xtensa",  # ESP32
    0xBFDD4EEE: "xtensa",  # ESP32-S2
    0xC47E5767: "xtensa",  # ESP32-S3
    0x7EAB61ED: "xtensa",  # ESP8266
    0x16573617: "avr",  # ATmega32
}


def load_uf2(data: bytes) -> Image:
    """Read a file; raises UntrustedError with the block that can't be trusted."""
    if len(data) % _BLOCK:
        text = f"{len(data)} bytes are not a whole number of blocks of {_BLOCK}: truncated"
        raise UntrustedError(_MALFORMED, text)
    memory = PlacedBytes(_MALFORMED, "uf2-overlap")
    numbering = _Numbering()
    for index in range(len(data) // _BLOCK):
        block = data[index * _BLOCK : (index + 1) * _BLOCK]
        magic, flags, address, size, number, count, word = _HEADER.unpack_from(block)
        if magic != MAGIC or block[-4:] != _MAGIC_END:
            raise UntrustedError(_MALFORMED, f"block {index}: not a UF2 block")
        if flags & _NOT_FLASH:
            continue
        if flags & _FILES:
            raise UntrustedError(_MALFORMED, f"block {index}: holds files, not a program")
        if not 0 < size <= _PAYLOAD:
            raise UntrustedError(_MALFORMED, f"block {index}: a payload of {size} bytes")
        family = word if flags & _HAS_FAMILY else None
        if family != _ABSOLUTE:
            numbering.add(index, family, number, count)
        memory.place(address, block[_HEADER.size : _HEADER.size + size])
    numbering.finish()
    image = memory.image(None, _FAMILIES.get(numbering.family or 0))
    if numbering.family == _RP2040 and any(
        s.address < _SECOND_STAGE < s.end for s in image.segments
    ):
        return replace(image, entry=_SECOND_STAGE)
    return image


class _Numbering:
    """Blocks of one family, each of whose numbers comes once."""

    def __init__(self) -> None:
        self.family: int | None = None
        self._count: int | None = None
        self._seen: set[int] = set()

    def add(self, index: int, family: int | None, number: int, count: int) -> None:
        if self._count is None:
            self.family, self._count = family, count
        if family != self.family:
            text = f"block {index}: programs for several families of chips in one file; split it"
            raise UntrustedError(_MALFORMED, text)
        if count != self._count or number >= count or number in self._seen:
            text = f"block {index}: number {number} of {count} does not fit what was before"
            raise UntrustedError(_MALFORMED, text)
        self._seen.add(number)

    def finish(self) -> None:
        """Every number was there."""
        if self._count is not None and len(self._seen) != self._count:
            text = f"{len(self._seen)} of {self._count} blocks: the file is cut short"
            raise UntrustedError(_MALFORMED, text)
