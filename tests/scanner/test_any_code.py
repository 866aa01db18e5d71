"""Code made of the instructions that the scanner looks at most closely: none ends the scan."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scanner import Grant, Policy, scan_bytes
from scanner.arch.registry import ARCHITECTURES

BASE = 0x08000000
GRANTS = (Grant("flash", "code", BASE, 1 << 16), Grant("UART", "device", 0x40011000, 1024))

# First halfwords: literal loads, constants, shifts, stores, branches, calls, jumps by tables, IT.
THUMB = (
    0x4800, 0x2000, 0x0600, 0x6800, 0x6000, 0x4400, 0x4478, 0x4700, 0x4780, 0xBD00, 0xBF08,
    0xD000, 0xE000, 0xB100, 0xB672, 0xDF00, 0x5000, 0xC800, 0x4687, 0x2800, 0xA000, 0xF240,
    0xF2C0, 0xF04F, 0xF100, 0xF8D0, 0xF8C0, 0xE8D0, 0xF85F, 0xE8BD, 0xF7FF, 0xF000, 0xE9D0,
)  # fmt: skip
# LUI, AUIPC, immediates, sums, loads, stores, branches, JAL, JALR, CSRs, and compressed ones.
RISCV = (
    0x0537, 0x0517, 0x0513, 0x1513, 0x7513, 0x0533, 0x2503, 0x4503, 0x2023, 0x7063, 0x006F,
    0x0067, 0x1073, 0x8782, 0x9782, 0x8082, 0x97BA, 0x078A, 0x439C, 0x0786, 0xA001, 0xC105,
)  # fmt: skip


def code(forms: tuple[int, ...]) -> st.SearchStrategy[bytes]:
    """Halfwords, most of them one of the forms with a few bits changed."""
    form = st.builds(lambda base, bits: base ^ bits, st.sampled_from(forms), st.integers(0, 255))
    halfword = st.sampled_from(forms) | form | st.integers(0, 0xFFFF)
    return st.lists(halfword, max_size=60).map(lambda all: struct.pack(f"<{len(all)}H", *all))


@pytest.mark.parametrize("arch", ARCHITECTURES)
@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_any_code_is_judged(arch: str, data: st.DataObject) -> None:
    content = data.draw(code(THUMB if arch.startswith("armv") else RISCV))
    base = BASE + data.draw(st.sampled_from([0, 1, 2]))
    grants = data.draw(st.sampled_from([None, GRANTS]))
    entries = () if len(content) < 4 else (base + base % 2 + 2,)
    policy = Policy(domain="vm", grants=grants)
    report = scan_bytes(content or b"\0", "x", policy, arch, base=base, entries=entries)
    assert report.verdict in ("accept", "warn", "reject")
    end = base + len(content)
    assert all(f.address is None or base <= f.address <= end for f in report.findings)
