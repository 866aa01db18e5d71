"""What a program says of the core that it was built for."""

from __future__ import annotations

import struct

import pytest

from scanner.image.riscv_attributes import riscv_architecture


def section(text: str) -> bytes:
    tags = b"\x04\x10\x05" + text.encode() + b"\0\x06\0"
    file_scope = b"\x01" + struct.pack("<I", 5 + len(tags)) + tags
    body = b"riscv\0" + file_scope
    return b"A" + struct.pack("<I", 4 + len(body)) + body


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("rv32i2p1_m2p0_a2p1_c2p0_zicsr2p0_zmmul1p0", "rv32imac"),
        ("rv32i2p0_m2p0_a2p0_f2p0_c2p0", "rv32imafc"),
        ("rv32i2p0_m2p0_a2p0_c2p0_xw2p2", "rv32imac"),
        ("rv32e1p9_c2p0", "rv32imac"),
        ("rv32i2p1_m2p0_c2p0_zba1p0_zbb1p0_zbs1p0_zbkb1p0", "rv32imac"),
        ("rv32i2p0_m2p0_a2p0_f2p0_d2p0_c2p0", "rv32imafdc"),
        ("rv32i2p1_m2p0_a2p1_c2p0_zcb1p0_zcmp1p0", "rv32imac_zcb_zcmp"),
        ("rv64i2p1_m2p0_a2p1_c2p0", "rv64imac"),
        ("x86", None),
        ("", None),
    ],
)
def test_names_of_architectures(text: str, name: str | None) -> None:
    assert riscv_architecture(section(text)) == name


@pytest.mark.timeout(120)
@pytest.mark.parametrize("content", [b"", b"A", b"A" + b"\xff" * 1000, section("rv32i")[:-9]])
def test_what_cannot_be_read(content: bytes) -> None:
    assert riscv_architecture(content) in (None, "rv32imac")
