"""Peripherals as the reference manuals describe them: what reading and writing does to flags.

Written for these tests, independently of the porter's own knowledge of registers.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

WORD = 0xFFFF_FFFF


@dataclass
class Peripheral:
    """Registers by offset. `log` has every write, and every read that takes something out."""

    words: dict[int, int] = field(default_factory=dict)
    incoming: list[int] = field(default_factory=list)  # values that the data register will give
    log: list[tuple[str, int, int]] = field(default_factory=list)
    armed: bool = False  # the first half of a read sequence was done
    overwritten: int = 0  # values sent while the transmitter was full

    data_in = data_out = status = -1
    clear = -1  # a register whose ones clear flags
    received = sent = 0  # flags: something came, there is room
    by_read = 0  # flags that reading the data register clears
    by_sequence = 0  # flags that go by status read, then data read
    by_zero = by_one = 0  # flags that writing the status register clears
    flags = 0  # bits of the status register that exist

    def read(self, offset: int) -> int:
        """What the bus gives."""
        value = self.words.get(offset, 0)
        if offset == self.status:
            self.armed = True
        if offset == self.data_in:
            self.log.append(("r", offset, value))
            gone = self.by_read | (self.by_sequence if self.armed else 0)
            self.armed = False
            self.words[self.status] = self.words.get(self.status, 0) & ~gone
            self._next()
        return value

    def write(self, offset: int, value: int) -> None:
        """What the bus does."""
        self.log.append(("w", offset, value))
        if offset == self.status:
            cleared = (~value & self.by_zero) | (value & self.by_one)
            self.words[offset] = self.words.get(offset, 0) & ~cleared
        elif offset == self.clear:
            self.words[self.status] = self.words.get(self.status, 0) & ~value
        elif offset == self.data_out:
            state = self.words.get(self.status, 0)
            self.overwritten += not state & self.sent
            self.words[self.status] = state & ~self.sent
        else:
            self.words[offset] = value

    def _next(self) -> None:
        if self.incoming:
            self.words[self.data_in] = self.incoming.pop(0)
            self.words[self.status] |= self.received

    def shuffle(self, dice: random.Random, offsets: range) -> None:
        """Random contents, flags often alone."""
        for offset in offsets:
            self.words[offset] = dice.choice((0, dice.getrandbits(8), dice.getrandbits(16), 0xFF))
        state = dice.choice((0, dice.getrandbits(8), 1 << dice.randrange(8), self.received))
        if self.status >= 0:
            self.words[self.status] = (state | dice.choice((0, self.sent))) & self.flags
        if self.data_in >= 0:
            self.words[self.data_in] = dice.getrandbits(8)


class Usart(Peripheral):
    """RM0090: SR, DR."""

    status, data_in, data_out = 0x00, 0x04, 0x04
    received, sent, flags = 0x20, 0x80, 0xFF
    by_read, by_sequence, by_zero = 0x20, 0x1F, 0x60


class OldUsart(Usart):
    """The same with 16-bit registers."""


class NewUsart(Peripheral):
    """RM0351: ISR, ICR, RDR, TDR."""

    status, clear, data_in, data_out = 0x1C, 0x20, 0x24, 0x28
    received, sent, flags = 0x20, 0x80, 0xFF
    by_read = 0x20


class Timer(Peripheral):
    """Flags go by zeros."""

    status, by_zero, flags = 0x10, WORD, 0xFF


class Exti(Peripheral):
    """Flags go by ones."""

    status, by_one, flags = 0x14, WORD, 0xFF


class Dma(Peripheral):
    """LISR, cleared by ones in LIFCR."""

    status, clear, flags = 0x00, 0x08, 0xFF


class Spi(Peripheral):
    """SR, DR."""

    status, data_in, data_out = 0x08, 0x0C, 0x0C
    received, sent, flags, by_read = 0x1, 0x2, 0xFF, 0x1


class I2c(Peripheral):
    """SR1; an SR2 read after it clears ADDR."""

    status, data_in, by_zero, flags, by_read, received = 0x14, 0x10, 0xFF00, 0xFFFF, 0x44, 0x40

    def read(self, offset: int) -> int:
        """SR2 ends the address phase."""
        if offset == 0x18 and self.armed:
            self.words[self.status] &= ~2
            self.armed = False
        return super().read(offset)


class Adc(Peripheral):
    """SR, DR."""

    status, data_in, by_zero, flags, by_read, received = 0x00, 0x4C, WORD, 0x3F, 0x2, 0x2


PERIPHERALS: dict[str, Callable[[], Peripheral]] = {
    "USART1": Usart,
    "TIM2": Timer,
    "EXTI": Exti,
    "DMA1": Dma,
    "SPI1": Spi,
    "I2C1": I2c,
    "ADC1": Adc,
    "OLD_USART_TypeDef": OldUsart,
    "NEW_USART_TypeDef": NewUsart,
}
