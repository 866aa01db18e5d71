"""Chip data: the import from the Rust crate, and the committed file."""

from __future__ import annotations

import json
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest

from composer.chips.chip import load_board, load_chip
from composer.chips.complete import gaps
from composer.chips.import_metapac import chip_record
from composer.chips.rust_literals import read_static
from composer.description.model import Place
from scanner.report.errors import FvmError

HERE = Place("system.xml", 1, 1)

HEAD = """include!("../metadata_0001.rs");
pub static METADATA: Metadata = Metadata {
    name: "CHIP1", family: "F", line: "L1",
    memory: &[&[
        MemoryRegion { name: "FLASH", kind: MemoryRegionKind::Flash, address: 0x8000000,
                       size: 65_536, settings: Some(FlashSettings { erase_size: 16384 }) },
        MemoryRegion { name: "SRAM", kind: MemoryRegionKind::Ram, address: 0x20000000,
                       size: 8192, settings: None },
    ]],
    peripherals: PERIPHERALS, nvic_priority_bits: Some(4),
};
"""
TABLES = """
pub(crate) static PERIPHERALS: &[Peripheral] = &[
    Peripheral { name: "UART9", address: 0x40001000,
        registers: Some(PeripheralRegisters { kind: "usart", ir: &usart::REGISTERS }),
        rcc: Some(PeripheralRcc { bus_clock: "PCLK1", kernel_clock: Clock("PCLK1"),
            enable: Some(PeripheralRccRegister { register: "APB1ENR", field: "UART9EN" }) }),
        pins: &[PeripheralPin { pin: "PA1", signal: "TX", af: Some(3) }],
        interrupts: &[PeripheralInterrupt { signal: "GLOBAL", interrupt: "UART9" }] },
    Peripheral { name: "RCC", address: 0x40000000,
        registers: Some(PeripheralRegisters { kind: "rcc", version: "f9", ir: &rcc::REGISTERS }),
        rcc: None, pins: &[], interrupts: &[] },
];
pub(crate) static INTERRUPTS: &[Interrupt] = &[Interrupt { name: "UART9", number: 7 }];
pub(crate) static PINS: &[Pin] = &[Pin { name: "PA1" }, Pin { name: "PA2" }];
"""
REGISTERS = """
pub(crate) static REGISTERS: IR = IR {
    blocks: &[Block { name: "Rcc", items: &[BlockItem { name: "apb1enr", byte_offset: 0x40 }] }],
    fieldsets: &[FieldSet { name: "Apb1enr", fields: &[Field { name: "uart9en", // a comment
        bit_offset: BitOffset::Regular(RegularBitOffset { offset: 18 }), array: None }] }],
};
"""
SUPPLEMENT = {
    "lines": {
        "L1": {
            "family": "f9",
            "core": "c9",
            "documents": ["manual"],
            "console_drivers": {},
            "clock_limits": {},
            "device_sizes": {"default": 1024},
            "nobody": {"RCC": "of everybody"},
            "more_interrupts": {"RCC": 5},
            "more_lines_of": {"RCC": ["RCC"]},
            "lines_of_fpu": [],
            "lines_without_block": {},
            "blocks_without_line": [],
            "depends": {},
            "drives": {"UART9": ["PA2", "PA3"]},
            "independent": {"kind:usart": "it shares nothing"},
        }
    }
}


def make_crate(folder: Path) -> Path:
    for name, text in {
        "Cargo.toml": '[package]\nname = "stm32-metapac"\nversion = "1.2.3"\n',
        "src/chips/chip1/metadata.rs": HEAD,
        "src/chips/metadata_0001.rs": TABLES,
        "src/registers/rcc_f9.rs": REGISTERS,
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_the_import_takes_every_fact_from_the_crate(tmp_path: Path) -> None:
    record = chip_record(make_crate(tmp_path), "CHIP1", "abc", SUPPLEMENT)
    assert record["provenance"]["version"] == "1.2.3"
    assert record["provenance"]["sha256"] == "abc"
    assert record["memory"][0] == {
        "name": "FLASH", "kind": "flash", "base": 0x8000000, "size": 65536,
    }  # fmt: skip
    assert list(record["interrupts"].items()) == [("RCC", 5), ("UART9", 7)]
    assert record["devices"]["UART9"] == {
        "base": 0x40001000,
        "size": 1024,
        "kind": "usart",
        "bus": "PCLK1",
        "enable": {"address": 0x40000040, "bit": 18},
        "interrupts": ["UART9"],
        "drives": ["PA2"],  # the package has no PA3
    }
    assert record["devices"]["RCC"]["nobody"] == "of everybody"
    assert record["devices"]["RCC"]["interrupts"] == ["RCC"]
    assert record["pins"] == {"PA1": {"3": ["UART9_TX"]}, "PA2": {}}


def test_the_import_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    crate = make_crate(tmp_path)
    with pytest.raises(FvmError, match="no chip 'CHIP2'"):
        chip_record(crate, "CHIP2", "abc", SUPPLEMENT)
    with pytest.raises(FvmError, match="no table 'OTHER'"):
        read_static(TABLES, "OTHER")
    with pytest.raises(FvmError, match="unexpected"):
        read_static("static X: T = &[%];", "X")


# What is left out of the supplement, and what is then asked for.
LEFT_OUT = [
    ("more_interrupts", {"RCC": 5, "LOST": 6}, "nothing says which block raises line LOST"),
    ("more_interrupts", {}, "a block raises line RCC, which has no number"),
    ("lines_without_block", {"UART9": "none"}, "line UART9 is in several of"),
    ("more_lines_of", {}, "nothing says which block raises line RCC"),
    ("blocks_without_line", ["kind:rcc"], "block RCC is in 'blocks_without_line' and raises"),
    ("independent", {}, "nothing says what block UART9 depends on"),
    ("depends", {"UART9": {"UART8": "its clock"}}, "UART9 depends on UART8, which isn't there"),
]


@pytest.mark.parametrize(("key", "value", "problem"), LEFT_OUT)
def test_the_import_asks_for_what_nobody_said_of_lines_and_blocks(
    tmp_path: Path, key: str, value: object, problem: str
) -> None:
    line = {**SUPPLEMENT["lines"]["L1"], key: value}
    with pytest.raises(FvmError, match=problem):
        chip_record(make_crate(tmp_path), "CHIP1", "abc", {"lines": {"L1": line}})


def test_a_block_without_a_line_is_asked_for() -> None:
    record = json.loads((files("composer.chips") / "data" / "STM32F405RG.json").read_text("utf-8"))
    record["blocks_without_line"].remove("CRC")
    assert list(gaps(record)) == [
        "nothing says which line block CRC raises, or that it raises none"
    ]


def test_every_chip_file_loads_and_says_where_it_comes_from() -> None:
    names = [f.name[:-5] for f in (files("composer.chips") / "data").iterdir() if ".json" in f.name]
    assert "STM32F405RG" in names
    for name in names:
        chip = load_chip(name, HERE)
        assert chip.name == name
        record = json.loads((files("composer.chips") / "data" / f"{name}.json").read_text("utf-8"))
        said = record["provenance"].keys()
        assert {"package", "version", "sha256", "licence"} <= said or "documents" in said
        assert list(gaps(record)) == [], f"{name}: docs/adding-a-chip.md, step 2"
        devices = sorted(chip.devices.values(), key=lambda d: d.base)
        for device, following in pairwise(devices):
            assert device.base + device.size <= following.base
            assert device.base % device.size == 0


def test_facts_of_the_stm32f405rg_that_the_reference_manual_has_too() -> None:
    chip = load_chip("STM32F405RG", HERE)
    flash, ram = chip.bank("flash"), chip.bank("ram")
    assert (flash.base, flash.size) == (0x08000000, 1024 * 1024)
    assert (ram.base, ram.size) == (0x20000000, 128 * 1024)  # without the core-coupled 64K
    assert chip.lines == 82
    assert (chip.interrupts["USART1"], chip.interrupts["USART6"]) == (37, 71)
    assert chip.devices["USART6"].base == 0x40011400
    assert chip.devices["USART6"].enable == (0x40023844, 5)
    assert chip.devices["USART2"].enable == (0x40023840, 17)
    assert chip.core.protection_regions == 8


def test_combined_lines_and_dependencies_that_the_reference_manuals_have_too() -> None:
    combined = {
        "TIM1_BRK_TIM9": {"TIM1", "TIM9"}, "TIM1_UP_TIM10": {"TIM1", "TIM10"},
        "TIM1_TRG_COM_TIM11": {"TIM1", "TIM11"}, "TIM8_BRK_TIM12": {"TIM8", "TIM12"},
        "TIM8_UP_TIM13": {"TIM8", "TIM13"}, "TIM8_TRG_COM_TIM14": {"TIM8", "TIM14"},
        "TIM6_DAC": {"TIM6", "DAC1"}, "ADC": {"ADC1", "ADC2", "ADC3"},
    }  # fmt: skip
    for name in ("STM32F405RG", "STM32F767IG"):
        chip = load_chip(name, HERE)
        raisers = {line: {d.name for d in chip.raisers(line)} for line in chip.interrupts}
        assert {line: blocks for line, blocks in raisers.items() if len(blocks) > 1} == combined
        assert raisers["PVD"] == {"PWR"}
        assert chip.lines_of_fpu == ("FPU",)
        assert {d.name: set(d.depends) for d in chip.devices.values() if d.depends} == {
            "CAN2": {"CAN1"}, **{f"ADC{n}": {"ADC123_COMMON"} for n in (1, 2, 3)}
        }  # fmt: skip
        assert {d.name: d.drives for d in chip.devices.values() if d.drives} == {
            "DAC1": ("PA4", "PA5"), "RTC": ("PC13",)
        }  # fmt: skip
    lines = {n: chip.interrupts[f"DFSDM1_FLT{n}"] for n in range(4)}
    assert lines == {0: 99, 1: 100, 2: 101, 3: 102}
    assert all(chip.devices[name].nobody for name in ("FMC", "QUADSPI"))
    for name in ("MPS2-AN385", "MPS2-AN386", "MPS2-AN500"):
        overflow = load_chip(name, HERE).raisers("UART_OVERFLOW")
        assert [device.name for device in overflow] == ["UART0", "UART1", "UART2"]


def test_a_board_names_its_chip_and_serial_lines() -> None:
    board = load_board("netduinoplus2", HERE)
    assert board.chip == "STM32F405RG"
    assert board.serial[5] == "USART6"
    for name in ("mps2-an385", "mps2-an386", "mps2-an500"):
        board = load_board(name, HERE)
        chip = load_chip(board.chip, HERE)
        assert set(board.serial) <= chip.devices.keys()
        assert (chip.lines, chip.interrupts["TIMER0"]) == (32, 8)
