"""What asks for events of lines that make no interrupt.

A line of EXTI whose bit in EMR is set sends the core an event (RM0090, 12.2.3): nothing is pended,
and a wait in the kernel ends by a vector of its machine.
"""

from __future__ import annotations

import re

LINE_EVENTS = (
    "the program lets lines of EXTI send events (EMR), which end this wait without an interrupt; a "
    "machine's ends by its vectors only: let the line make its interrupt (IMR) and give it a "
    "handler"
)
# The libraries' own functions, which only do what they are asked for, write what they calculate.
ASKS = re.compile(
    rb"\bEXTI\w*?(?:->|\.|_)EMR\d?\s*(?:\|\s*)?=\s*(?!=|0\w*\s*;|~|temp\b|iocurrent\b|regval\b)"
    rb"|(?:SET_BIT|MODIFY_REG|WRITE_REG)\s*\(\s*EXTI\w*->EMR\d?\s*,(?!\s*(?:temp|iocurrent)\b)"
    rb"|\bGPIO_MODE_EVT_(?:RISING|FALLING)|\bEXTI_Mode_Event\b|=\s*(?:LL_)?EXTI_MODE_EVENT\b"
    rb"|\bLL_EXTI_EnableEvent_\d+_\d+\s*\(\s*(?!EXTI_InitStruct)"
)
