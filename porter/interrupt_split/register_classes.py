"""What reading or writing a peripheral register does: knowledge by kind of block and by name.

Registers of blocks that the table doesn't have are judged by their names. Sources: RM0090 (F4),
RM0351 (L4), RM0433 (H7) for the blocks; the names for anything else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

Effect = Literal["data", "status", "ack", "timed", "control", "unknown"]
ALL_BITS = 0xFFFF_FFFF


@dataclass(frozen=True)
class RegisterClass:
    """`effect` of the register:

    data     reading takes the value out, and clears `clears` in the register `status`
    status   says what is pending; reading changes nothing; writing acknowledges where `zero` says
             how: True with zeros, False with ones, None: it isn't written to
    ack      written only: ones acknowledge bits of `status`
    timed    moves on by itself or belongs to what an acknowledgement releases: worth what it was
             when the interrupt came
    control  holds what software wrote

    `writable`: bits that a write can acknowledge; `known`: from the table, not guessed from the
    name. A `data` register whose reading is one half of a sequence (SR, then DR) has `status`
    read before it.
    """

    effect: Effect
    status: str | None = None
    clears: int = 0
    zero: bool | None = None
    known: bool = True
    writable: int = ALL_BITS


_W0 = RegisterClass("status", zero=True)
_W1 = RegisterClass("status", zero=False)
_TIMED = RegisterClass("timed")
_READ_ONLY = RegisterClass("status")

# (blocks, register, class)
_TABLE: tuple[tuple[str, str, RegisterClass], ...] = (
    # PE FE NE ORE IDLE RXNE: an SR read followed by a DR read clears all of them.
    ("LPUART|USART|UART", "DR", RegisterClass("data", "SR", 0x3F)),
    ("LPUART|USART|UART", "RDR", RegisterClass("data", "ISR", 0x20)),
    ("LPUART|USART|UART", "SR", RegisterClass("status", zero=True, writable=0x360)),
    ("LPUART|USART|UART", "ISR", _READ_ONLY),
    ("LPUART|USART|UART", "ICR", RegisterClass("ack", "ISR")),
    # RXNE; OVR goes by a DR read and an SR read after it.
    ("SPI|I2S", "DR", RegisterClass("data", "SR", 0x41)),
    ("SPI|I2S", "RXDR", RegisterClass("data", "SR", 0x1)),
    ("SPI|I2S", "SR", RegisterClass("status", zero=True, writable=0x10)),
    ("SPI|I2S", "IFCR", RegisterClass("ack", "SR")),
    ("I2C", "DR", RegisterClass("data", "SR1", 0x44)),
    ("I2C", "RXDR", RegisterClass("data", "ISR", 0x4)),
    ("I2C", "SR1", RegisterClass("status", zero=True, writable=0xDF00)),
    # An SR1 read followed by an SR2 read clears ADDR and lets the transfer go on.
    ("I2C", "SR2", RegisterClass("data", "SR1", 0x2)),
    ("I2C", "ISR", _W1),
    ("I2C", "ICR", RegisterClass("ack", "ISR")),
    ("TIM", "SR", RegisterClass("status", zero=True, writable=0x1FFFF)),
    ("TIM", "CNT", _TIMED),
    ("TIM", r"CCR\d", _TIMED),
    ("TIM", r"CCMR\d|SMCR|CCER|BDTR|PSC|ARR|RCR|DCR|OR", RegisterClass("control")),
    ("LPTIM", "ICR", RegisterClass("ack", "ISR")),
    ("LPTIM", "CNT", _TIMED),
    ("EXTI", r"PR\d?|RPR\d|FPR\d", _W1),
    ("DMA", "LIFCR", RegisterClass("ack", "LISR")),
    ("DMA", "HIFCR", RegisterClass("ack", "HISR")),
    ("DMA|BDMA|MDMA", "IFCR|C0IFCR", RegisterClass("ack", "ISR")),
    ("DMA|BDMA|MDMA", r"NDTR|CNDTR\d?", _TIMED),
    ("ADC", r"DR|JDR\d", RegisterClass("data")),
    ("ADC", "SR", RegisterClass("status", zero=True, writable=0x3F)),
    ("ADC", "ISR", _W1),
    ("CAN", r"RF\dR", _W1),
    ("CAN", "MSR|TSR", _W1),
    ("CAN", "RIR|RDTR|RDLR|RDHR", _TIMED),
    ("RTC", "ISR", _W0),
    ("RTC", "SCR", RegisterClass("ack", "SR")),
    ("SDIO|SDMMC", "ICR", RegisterClass("ack", "STA")),
    ("SDIO|SDMMC", r"FIFO\d*", RegisterClass("data", "STA", 0)),
    ("RNG", "DR", RegisterClass("data", "SR", 0x1)),
    ("RNG", "SR", _W0),
)

# Names of registers whose block the table doesn't have.
_BY_NAME: tuple[tuple[str, RegisterClass], ...] = (
    (r"R?X?DATA|R[XB]?D[RW]?|RXDR?|RXDATA\w*|DR|DATAR|RBR|R?X?FIFO\w*|DAT", RegisterClass("data")),
    (r"I?FCR\w*|ICR|\w*CLR|INTCLR|ICLR|SCR|CLEAR\w*", RegisterClass("ack")),
    (r"EVENTS_\w+", _W0),
    (r"[A-Z]?SR\d?|STAT\w*|FLAGS?|INTF\w*|MIS|RIS|IR|IFG|IS", RegisterClass("status")),
    (r"CNT\w*|TC|COUNT\w*|CAPTURE\w*|NDTR", _TIMED),
    (r"\w*CR\d?|\w*CFGR?\d?|\w*IER|\w*EN|\w*CTRLA?|BRR?|IMR|IM|MASK|INTEN\w*",
     RegisterClass("control")),
)  # fmt: skip

# Offsets of an STM32F4, for code that names no register.
_OFFSETS: dict[str, dict[int, str]] = {
    "USART": {0x00: "SR", 0x04: "DR", 0x08: "BRR", 0x0C: "CR1", 0x10: "CR2", 0x14: "CR3"},
    "SPI": {0x00: "CR1", 0x04: "CR2", 0x08: "SR", 0x0C: "DR"},
    "TIM": {0x00: "CR1", 0x04: "CR2", 0x08: "SMCR", 0x0C: "DIER", 0x10: "SR", 0x14: "EGR",
            0x24: "CNT", 0x34: "CCR1", 0x38: "CCR2", 0x3C: "CCR3", 0x40: "CCR4"},
    "I2C": {0x00: "CR1", 0x04: "CR2", 0x10: "DR", 0x14: "SR1", 0x18: "SR2"},
    "EXTI": {0x00: "IMR", 0x04: "EMR", 0x08: "RTSR", 0x0C: "FTSR", 0x10: "SWIER", 0x14: "PR"},
    "ADC": {0x00: "SR", 0x04: "CR1", 0x08: "CR2", 0x4C: "DR"},
    "DMA": {0x00: "LISR", 0x04: "HISR", 0x08: "LIFCR", 0x0C: "HIFCR"},
}  # fmt: skip


def block_of(device: str) -> str:
    """USART of USART1: the kind of block that an instance is."""
    return re.sub(r"\d+(_\w+)?\Z", "", device.upper())


def plain_name(device: str, register: str) -> str:
    """SR of USART_SR."""
    return re.sub(rf"\A{re.escape(block_of(device))}\d*_", "", register)


def class_of(device: str, register: str) -> RegisterClass:
    """The class of a register of a device, by table or by name."""
    block = block_of(device)
    register = plain_name(device, register)
    for blocks, name, found in _TABLE:
        if re.fullmatch(blocks, block) and re.fullmatch(name, register):
            return found
    for name, found in _BY_NAME:
        if re.fullmatch(name, register):
            return replace(found, known=False)
    return RegisterClass("unknown", known=False)


def name_at(device: str, chip: str, offset: int) -> str | None:
    """The register at an offset, where the project has no name for it."""
    block = "USART" if block_of(device) == "UART" else block_of(device)
    if not chip.upper().startswith("STM32F4"):
        return None
    return _OFFSETS.get(block, {}).get(offset)
