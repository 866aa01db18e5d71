"""What a register of another vendor's shared block is for, as far as names tell.

Levels of pins, watchdogs and the flash are written while a program runs, too: who only takes that
out takes its function with it. The names are those of the headers that `shared_blocks` knows.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from porter.registers.register import Register

_OF = r"(?:LPC_|NRF_|R_|M4_|CM_|HT_)?"
_PORT = re.compile(
    rf"{_OF}(?:F?GPIO(?:\d\d?|[A-T](?:_AHB)?|_PORT(?:[A-T](?:_AHB)?)?|_PRT\d)?(?:_NS|_S)?"
    r"|FIO\d?|PORT(?:_IOBUS|[A-Z]|\d\d?)?|PIO[A-G]|PT[A-F]|P\d\d?|P[A-H]|SIO)"
)
# No ODR: TI's opens drains, and whose is ST's is known by ST's names.
_LEVEL = (
    r"(?:FIO|PIO_|GPIO_)?(?:"
    r"D?(?:OUT|IN)(?:\d+_\d+)?_?(?:SET|CLR|TGL|XOR|INV|R)?(?:\d+_\d+)?|DATA(?:OUT|IN)?(?:SET|CLR)?|[IO]DT|[OP]VR[SCT]?"
    r"|DR(?:_SET|_CLR|_INV|_CLEAR|_TOGGLE)?|PSR?|M?PIN\d?|SET\w?|CLR\w?|NOT|MASKED_ACCESS|[BW]\d?"
    r"|PD[OI]R|P[SCT]OR|PODR|PIDR|POSR|PORR|POTR|PCNTR[1-4]|OCTL|ISTAT|BOP|BC|TG|SCR|S?RR"
    r"|[SC]ODR|[OP]DSR|OMR)"
)
_IS_LEVEL = re.compile(_LEVEL)
_PLAIN_LEVEL = re.compile(rf"(?:{_PORT.pattern})_(?:{_LEVEL})(?:_R)?")
_WATCHDOG = rf"{_OF}(?:(?:W|S|I|F|RS|RT)?WD(?:OG|T|GT)(?:_A|\d)?|WATCHDOG\d?|EWM)"
_IS_WATCHDOG = re.compile(
    rf"{_WATCHDOG}(?:_\w+)?|WD(?:MOD|TC|FEED|TV|CLKSEL)|(?:SIM_)?(?:COPC|SRVCOP)\w*"
)
_FLASH = re.compile(
    rf"{_OF}(?:FLASH(?:CTRL|_CTRL|CALW|C|\d)?|HFLASHC|FLCTL(?:_A)?|FTF[ACEL]|FTMR[EH]|FMC"
    r"|NVMC(?:TRL)?|EFC\d?|EFM|MSC|NVM|FACI\w*|SPCIF|EEPROM)(?:_\w+)?"
)

PINS = (
    "the description gives a machine pins, set up before it starts, and hyp_pin_write(), "
    "hyp_pin_get() use them; take this out"
)
WATCHDOG = (
    "the description gives a machine a watchdog of its own, which hyp_wdg_clr() feeds; take this "
    "out"
)
FLASH = (
    "programming the flash would touch other machines' code, and stop them meanwhile: take this "
    "out, or ask the memory's owner; what only sets up its speed is done before they start"
)
SET_UP = "set it up before the machines start, and take this out"
PORT = f"{SET_UP}; if it sets or reads pins, hyp_pin_write() and hyp_pin_get() do"


def instead_of(register: Register, fields: Collection[str]) -> str:
    """What to do about a register, for a person. `fields`: all that lead to it, where headers have
    unions of words and bits behind a register's name."""
    block = register.instance or ""
    names = {name.upper() for name in (register.name, *fields)}
    if _PLAIN_LEVEL.fullmatch(block) or (
        _PORT.fullmatch(block) and any(map(_IS_LEVEL.fullmatch, names))
    ):
        return PINS
    if _PORT.fullmatch(block) and register.name.startswith("0x"):
        return PORT
    if any(map(_IS_WATCHDOG.fullmatch, (block, *names))):
        return WATCHDOG
    return FLASH if _FLASH.fullmatch(block) else SET_UP
