"""A split handler does what it did: memory, registers, and the order of accesses."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
import unicorn

from tests.porter.interrupt_split.pairs import (
    Change,
    build,
    capture,
    same_late,
    same_once,
    serve,
)
from tests.porter.interrupt_split.shapes import SPLIT, Shape

STATES = 50
SHAPES = {shape.name: shape for shape in SPLIT}
BESIDE_A_TRANSMITTER = (
    "receiver and transmitter in one handler",
    "transmitter first",
    "separate data and clear registers",
    "bytes of a serial peripheral interface",
)


def _id(shape: Shape) -> str:
    return shape.name


@pytest.mark.campaign
@pytest.mark.parametrize("shape", SPLIT, ids=_id)
def test_split_handler_does_what_it_did(shape: Shape, tmp_path: Path) -> None:
    pair = build(tmp_path, shape)
    for seed in range(STATES):
        same_once(pair, seed)
    if shape.name in BESIDE_A_TRANSMITTER:
        for seed in range(STATES):
            same_late(pair, seed)


@pytest.mark.campaign
@pytest.mark.parametrize("address", (0x40011000, 0x40004400))
def test_a_handle_that_leads_elsewhere_is_not_served(address: int, tmp_path: Path) -> None:
    """0x40011000 is the line's device."""
    pair = build(tmp_path, SHAPES["handle with the device in it"])
    _, machine = pair.machines()
    machine.peripheral.words = {0: 0x20, 4: ord("a")}
    machine.set("port", struct.pack("<2I", address, 0))
    assert capture(machine, 0)
    if address == 0x40011000:
        serve(pair, machine, 1)
    else:
        with pytest.raises(unicorn.UcError):
            serve(pair, machine, 1)
    assert machine.variable("head") == struct.pack("<I", address == 0x40011000)


def _replaced(old: str, new: str) -> Change:
    def change(text: str) -> str:
        assert old in text, "the fault can't be planted"
        return text.replace(old, new)

    return change


# shape, what is changed in the mid-section, what in the handler
WRONG: tuple[tuple[str, Change, Change], ...] = (
    ("register style", _replaced("if ((record->SR & (USART_SR_RXNE | USART_SR_ORE)) != 0)",
                                 "if ((record->SR & USART_SR_RXNE) != 0)"), str),
    ("register style", _replaced("if ((record->SR & (USART_SR_RXNE | USART_SR_ORE)) != 0)",
                                 "if (record->SR + 1 != 0)"), str),
    ("register style", _replaced("consumed = true;", ""), str),
    ("register style", str, _replaced("(uint8_t)fvm_io->DR", "(uint8_t)fvm_io->SR")),
    ("register style", str, _replaced("(uint8_t)fvm_io->DR", "(uint8_t)USART1->DR")),
    ("register style", str, _replaced("fvm_io->SR & (", "USART1->SR & (")),
    ("local copy of the status", str, _replaced("uint32_t sr = fvm_io->SR", "uint32_t sr = 0")),
    ("unconditional read, transmitter beside it",
     _replaced("consumed = consumed || (record->SR & 0x3FU) != 0;", "consumed = true;"), str),
    ("errors first", _replaced("record->DR_2 = USART1_DR;", "record->DR = USART1_DR;"), str),
    ("errors first", _replaced("USART_SR_FE | USART_SR_NE", "USART_SR_NE"), str),
    ("drain loop", str, _replaced("if (fvm_io->SR", "while (fvm_io->SR")),
    ("do while", str, _replaced("while (0)", "while (fvm_io->SR & USART_SR_RXNE)")),
    ("early return", _replaced("return consumed;\n    }", "}"), str),
    ("timer, cleared by a constant", _replaced("TIM2_SR = ~TIM_SR_UIF;", ""), str),
    ("timer, cleared by a constant", _replaced("~TIM_SR_UIF", "0"), str),
    ("timer, cleared by a constant", str, _replaced("        ticks++",
                                                    "TIM2->SR = ~TIM_SR_UIF;\n        ticks++")),
    ("timer with two causes and a captured time",
     _replaced("record->SR_2 = TIM2_SR;", "record->SR_2 = record->SR | 2;"), str),
    ("timer, what was read is cleared", _replaced("= ~sr;", "= ~sr | 1U;"), str),
    ("timer, read, modify, write", _replaced("&=", "="), str),
    ("DMA stream", _replaced("DMA1_LIFCR = 1u << 4;", ""), str),
    ("separate data and clear registers", _replaced("USART1_ICR = USART_SR_ORE;", ""), str),
    ("receiver and transmitter in one handler", str,
     _replaced("((fvm_io->SR & 0x3FU) | (USART1->SR & ~0x3FU))", "fvm_io->SR")),
    ("receiver and transmitter in one handler", str,
     _replaced("((fvm_io->CR1 & 0x20U) | (USART1->CR1 & ~0x20U))", "fvm_io->CR1")),
    ("switch", _replaced("break;", "/* fall through */"), str),
    ("static helper", str, _replaced("uint8_t c = fvm_io->DR", "uint8_t c = fvm_io->SR")),
)  # fmt: skip


@pytest.mark.campaign
@pytest.mark.parametrize("number", range(len(WRONG)), ids=lambda n: f"{n}-{WRONG[n][0]}")
def test_wrong_split_is_noticed(number: int, tmp_path: Path) -> None:
    name, in_middle, in_bottom = WRONG[number]
    shape = SHAPES[name]
    pair = build(tmp_path, shape, in_middle, in_bottom)
    with pytest.raises(AssertionError):
        for seed in range(STATES):
            same_once(pair, seed)
            if name in BESIDE_A_TRANSMITTER:
                same_late(pair, seed)
