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
    0x7D7A66EF: "armv6m",  # PY32F071
    _RP2040: "armv6m",
    0x5EE21072: "armv7m",  # STM32F1
    0x5D1A0A2E: "armv7m",  # STM32F2
    0x1E1F432D: "armv7m",  # STM32L1
    0x9FFFD543: "armv7m",  # RTL8710A
    0x55114460: "armv7em",  # SAMD51
    0x6B846188: "armv7em",  # STM32F3
    0x57755A57: "armv7em",  # STM32F4
    0x6D0922FA: "armv7em",  # STM32F407
    0x8FB060FE: "armv7em",  # STM32F407VG
    0x2DC309C5: "armv7em",  # STM32F411xE
    0x06D1097B: "armv7em",  # STM32F411xC
    0x53B80F00: "armv7em",  # STM32F7
    0x6DB66082: "armv7em",  # STM32H7
    0x4C71240A: "armv7em",  # STM32G4
    0x00FF6919: "armv7em",  # STM32L4
    0x70D16653: "armv7em",  # STM32WB
    0x21460FF0: "armv7em",  # STM32WL, its first core
    0x1B57745F: "armv7em",  # nRF52
    0x820D9A5F: "armv7em",  # nRF52820
    0x72721D4E: "armv7em",  # nRF52832 AA
    0x6F752678: "armv7em",  # nRF52832 AB
    0x621E937A: "armv7em",  # nRF52833
    0xADA52840: "armv7em",  # nRF52840
    0x4FB2D5BD: "armv7em",  # i.MX RT10xx
    0x31D228C6: "armv7em",  # GD32F350
    0xA0C97B8E: "armv7em",  # AT32F415
    0x7BE8976D: "armv7em",  # RA4M1
    0xD63F8632: "armv7em",  # MAX32650
    0xF0C30D71: "armv7em",  # MAX32666
    0x7410520A: "armv7em",  # MAX32690, its first core
    0x91D3FD18: "armv7em",  # MAX78002, its first core
    0x22E0D6FC: "armv7em",  # RTL8710B
    0x51E903A8: "armv7em",  # XR809
    0x04240BDF: "armv8m.main",  # STM32L5
    0x4E8F1C5D: "armv8m.main",  # STM32H5
    0x2ABC77EC: "armv8m.main",  # LPC55
    0x3379CFE2: "armv8m.main",  # RTL8720D, its first core
    0xE08F7564: "armv8m.main",  # RTL8720C
    0xE48BFF59: "armv8m.main",  # RP2350, Arm, secure
    0xE48BFF5B: "armv8m.main",  # RP2350, Arm, non-secure
    0xE48BFF5A: "rv32imac",  # RP2350, RISC-V
    0x9AF03E33: "rv32imac",  # GD32VF103
    0xD42BA06C: "rv32imac",  # ESP32-C3, which lacks A
    0x2B88D29C: "rv32imac",  # ESP32-C2, which lacks A
    0x540DDF62: "rv32imac",  # ESP32-C6
    0xF71C0343: "rv32imac",  # ESP32-C5
    0x77D850C4: "rv32imac",  # ESP32-C61
    0x332726F6: "rv32imac",  # ESP32-H2
    0xB6DD00AF: "rv32imac",  # ESP32-H21
    0x9E0BAA8A: "rv32imafc",  # ESP32-H4
    0x3D308E94: "rv32imafc",  # ESP32-P4
    0x699B62EC: "rv32imafc",  # CH32V2 and V3, of which few have F
    0xDE1270B7: "rv32imafc",  # BL602
    0x11DE784A: "rv32imafc",  # BL702
    0x4B684D71: "rv32imafc",  # BL618
    0x1C5F21B0: "xtensa",  # ESP32
    0xBFDD4EEE: "xtensa",  # ESP32-S2
    0xC47E5767: "xtensa",  # ESP32-S3
    0x7EAB61ED: "xtensa",  # ESP8266
    0x675A40B0: "armv5te",  # BK7231U
    0x7B3EF230: "armv5te",  # BK7231N
    0x6A82CC42: "armv5te",  # BK7251
    0x9517422F: "armv7a",  # RZ/A1LU
    0x16573617: "avr",  # ATmega32
    0x5A18069B: "8051",  # FX2
}
"""Cores whose instructions no rule knows are named all the same: the report says what it is."""


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
