"""Writes that ask for stop or standby: what a machine can do instead depends on how they end."""

from __future__ import annotations

import re

from porter.judging.unit import Unit
from porter.meaning.bits import ones, zeros
from porter.meaning.vendor import is_stm32
from porter.sites.access import Access
from porter.sites.context import Context

_LOW_POWER, _POWER_DOWN = 1, 2  # LPDS, PDDS
_MODES, _STANDBY = 7, 3  # LPMS where a family has it: standby is 3, shutdown above
_CONTROLS = frozenset({"CR", "CR1", "+0x00"})  # the last where no header names it
_NAMES_MODES = re.compile(rb"PWR_CR1_LPMS(?:_\w+)?")
_SLEEPDEEP = 1 << 2  # of SCB->SCR
STOP = "stop mode: what a machine can do is hyp_vct_wait()"
STANDBY = (
    "standby: the chip starts anew at its wake-up, and hyp_vct_wait() returns: write "
    "hyp_vct_wait(); hyp_reboot(); if the machine shall, or leave it awake"
)


OTHERS_DEEP = (
    "SLEEPDEEP: how deep that is, and whether the chip starts anew at its wake-up, other registers "
    "of the chip say, which aren't known here: write hyp_vct_wait() where it goes on, "
    "hyp_vct_wait(); hyp_reboot(); where it starts anew, or leave it awake"
)


def deep_sleep(unit: Unit, access: Access) -> str | None:
    """What a write to PWR asks for, for a person; None for what is no sleep."""
    register = access.register
    if register is None or register.block != "PWR" or access.use != "write":
        return None
    if register.name not in _CONTROLS or access.value is None or access.operator == b"&=":
        return None
    bits = ones(access.value, unit.text.evaluator, access.context.scope)
    has_modes = any(_NAMES_MODES.fullmatch(name) for name in unit.text.evaluator.macros)
    if register.name == "CR1" and has_modes:
        mode = bits & _MODES
        return None if not mode else STANDBY if mode >= _STANDBY else STOP
    if bits & _POWER_DOWN:
        return STANDBY
    return STOP if bits & _LOW_POWER else None


def sets_others_deep(unit: Unit, access: Access) -> bool:
    """Whether a write to SCR may choose the deep sleep of a chip that is no STM32, where PWR says
    what that is."""
    if access.use != "write" or access.operator == b"&=" or is_stm32(unit):
        return False
    value, evaluator = access.value, unit.text.evaluator
    return value is None or not zeros(value, evaluator, access.context.scope) & _SLEEPDEEP


def asks_standby(unit: Unit, context: Context | None) -> bool:
    """Whether a function asks for standby, so that its wait is a reset."""
    return context is not None and any(
        access.context.root == context.root and deep_sleep(unit, access) == STANDBY
        for access in unit.accesses()
    )
