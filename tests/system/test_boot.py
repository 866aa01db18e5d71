"""Clocks and pins: set once, by the kernel, from a table that holds what both projects did.

The expected values are those of RM0090, worked out by hand for the example's description.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from tests.support.example import CONSOLES
from tests.system.live import PATIENCE, Live
from tests.system.road import COUNTED, Road

WRITE, MODIFY, WAIT = 0, 1, 2
READS = 20000  # of a ready bit, at most
ALL = 0xFFFFFFFF
RCC, PWR, FLASH, GPIOA, GPIOC = 0x40023800, 0x40007000, 0x40023C00, 0x40020000, 0x40020800
NAMES = {RCC: "RCC", PWR: "PWR", FLASH: "Flash Int", GPIOA: "GPIOA", GPIOC: "GPIOC"}  # QEMU's

TABLE = [
    (MODIFY, RCC, 0x00, 1 << 16, 1 << 16),  # CR: HSE on
    (WAIT, RCC, 0x00, 1 << 17, 1 << 17),  # HSE ready
    (MODIFY, RCC, 0x40, 1 << 28, 1 << 28),  # APB1ENR: PWR
    (MODIFY, PWR, 0x00, 1 << 14, 1 << 14),  # CR: voltage scale 1
    (WRITE, RCC, 0x04, ALL, 7 << 24 | 1 << 22 | 0 << 16 | 336 << 6 | 8),  # PLLCFGR
    (WRITE, FLASH, 0x00, ALL, 0x705),  # ACR: caches, prefetch, 5 wait states
    (MODIFY, RCC, 0x08, 0xFCF0, 4 << 13 | 5 << 10),  # CFGR: APB2 / 2, APB1 / 4
    (MODIFY, RCC, 0x00, 1 << 24, 1 << 24),  # CR: PLL on
    (WAIT, RCC, 0x00, 1 << 25, 1 << 25),  # PLL ready
    (MODIFY, RCC, 0x08, 3, 2),  # CFGR: run from the PLL
    (WAIT, RCC, 0x08, 3 << 2, 2 << 2),  # switched
    (MODIFY, RCC, 0x30, 0b101, 0b101),  # AHB1ENR: GPIOA, GPIOC
    (MODIFY, RCC, 0x40, 1 << 17, 1 << 17),  # APB1ENR: USART2; USART3 stays off
    (MODIFY, RCC, 0x44, 0x30, 0x30),  # APB2ENR: USART1, USART6
    # Pins 2, 3 (USART2), 9, 10 (USART1): function 7, high speed, pull-up. 5 and 6: outputs.
    (MODIFY, GPIOA, 0x20, 0xFF00, 0x7700),  # AFRL
    (MODIFY, GPIOA, 0x24, 0x0FF0, 0x0770),  # AFRH
    (MODIFY, GPIOA, 0x04, 0x066C, 0),  # OTYPER: push-pull
    (MODIFY, GPIOA, 0x08, 0x3C3CF0, 0x2800A0),  # OSPEEDR
    (MODIFY, GPIOA, 0x0C, 0x3C3CF0, 0x140050),  # PUPDR
    (MODIFY, GPIOA, 0x00, 0x3C3CF0, 0x2814A0),  # MODER
    # Pins 6, 7: USART6, function 8.
    (MODIFY, GPIOC, 0x20, 0xFF000000, 0x88000000),
    (MODIFY, GPIOC, 0x04, 0xC0, 0),
    (MODIFY, GPIOC, 0x08, 0xF000, 0xA000),
    (MODIFY, GPIOC, 0x0C, 0xF000, 0x5000),
    (MODIFY, GPIOC, 0x00, 0xF000, 0xA000),
]
LEDS = {1 << 5, 1 << 21, 1 << 6, 1 << 22}  # BSRR: pins 5 and 6 on and off


def flash_bytes(elf: Path, symbol: str) -> bytes:
    """What a constant of an ELF holds."""
    with elf.open("rb") as file:
        image = ELFFile(file)
        table = image.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        (entry,) = table.get_symbol_by_name(symbol) or []
        address, size = entry["st_value"], entry["st_size"]
        for segment in image.iter_segments("PT_LOAD"):
            start = address - segment["p_vaddr"]
            if 0 <= start < segment["p_filesz"]:
                assert not segment["p_flags"] & 2, f"{symbol} is writable"
                return bytes(segment.data()[start : start + size])
    raise AssertionError(f"{symbol} isn't stored in {elf}")


def test_the_table_in_flash(road: Road) -> None:
    stored = flash_bytes(road.elf("kernel"), "fvm_boot")
    expected = [
        (kind, base + offset, mask, value, READS if kind == WAIT else 0)
        for kind, base, offset, mask, value in TABLE
    ]
    assert list(struct.iter_unpack("<5I", stored)) == expected


def test_what_reaches_the_chip(road: Road, tmp_path: Path) -> None:
    """QEMU has none of these blocks: each register reads 0, and every access is logged."""
    log = tmp_path / "accesses.log"
    with Live(road.built, [*COUNTED, "-d", "unimp", "-D", str(log)]) as live:
        for name, console in live.vms.items():  # a reboot must not set the chip up again
            console.send(b"reset\r")
            console.wait_ready(PATIENCE)
            assert live.ask(name, "clock") == ["clock hz=168000000 timeouts n=0", "ok"]
        live.faults(at_least=len(CONSOLES))  # the two resets
        logged = [r.text for r in live.log.records if r.kind == "timeout"]
    assert logged == [
        "fvm: timeout address=0x40023800 mask=0x00020000",
        "fvm: timeout address=0x40023800 mask=0x02000000",
        "fvm: timeout address=0x40023808 mask=0x0000000c",
    ]

    *lines, _ = log.read_text().split("\n")
    access = re.compile(
        r"(.*): unimplemented device (read|write) +\(size 4, offset 0x(\w+)(?:, value 0x(\w+))?\)"
    )
    seen = [match.groups() for match in map(access.fullmatch, lines) if match]
    assert len(seen) == len(lines)
    writes = [(d, int(o, 16), int(v, 16)) for d, what, o, v in seen if what == "write"]
    setup = [(NAMES[base], o, value) for kind, base, o, _, value in TABLE if kind != WAIT]
    assert writes[: len(setup)] == setup
    later = {(d, o) for d, o, _ in writes[len(setup) :]}
    assert later <= {("GPIOA", 0x18)}, "somebody else writes to a shared block"
    assert {value for *_, value in writes[len(setup) :]} <= LEDS

    reads = Counter((d, int(o, 16)) for d, what, o, _ in seen if what == "read")
    for base, offset in {(base, o) for _, base, o, *_ in TABLE}:
        ops = [kind for kind, b, o, *_ in TABLE if (b, o) == (base, offset)]
        assert reads[NAMES[base], offset] == ops.count(MODIFY) + READS * ops.count(WAIT)
