"""What SysTick counts: the core's clock, or with CLKSOURCE clear what the chip gives it instead."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from porter.judging.unit import Unit
from porter.meaning.bits import ones, zeros
from porter.meaning.tick_rate import Timing
from porter.meaning.vendor import is_stm32
from porter.sites.access import Access
from porter.source.c_tree import text_of

ENABLE, TICKINT, CLKSOURCE = 1, 2, 4
_STM32_DIVIDER = 8  # HCLK by the reference clock
_TICK_WORDS = re.compile(rb"(?i)systick(?!_handler|_irq)|e000e01|\bstk_c\w+|\bsyst_c\w+")
NO_REFERENCE = (
    "without CLKSOURCE the timer counts the chip's reference clock, which isn't known here (it is "
    "HCLK/8 on STM32): write hyp_tick_set(hz)"
)
KEPT = (
    "CTRL keeps its CLKSOURCE, and what it is isn't seen here (clear after reset: HCLK/8 on "
    "STM32): write hyp_tick_set(hz)"
)


@dataclass(frozen=True)
class Control:
    """What is known to be switched on and off by a write to CTRL."""

    on: int
    off: int


def control_of(unit: Unit, access: Access) -> Control | None:
    """Known effect of a write to CTRL; None if what becomes of ENABLE stays unknown, or of TICKINT
    where the rest is kept."""
    if access.value is None:
        return None
    evaluator, scope = unit.text.evaluator, access.context.scope
    one = ones(access.value, evaluator, scope)
    zero = zeros(access.value, evaluator, scope)
    if access.operator in (b"|=", b"&="):
        if (one | zero) & (ENABLE | TICKINT) != ENABLE | TICKINT:
            return None
        return Control(one, 0) if access.operator == b"|=" else Control(0, zero)
    if access.operator == b"=" and (one | zero) & ENABLE:
        return Control(one, zero)
    return None


def is_control(access: Access) -> bool:
    """Whether an access writes CTRL."""
    return str(access.register) == "SysTick->CTRL" and access.use == "write"


def clears_source(unit: Unit, access: Access) -> bool:
    """Whether a write to CTRL takes CLKSOURCE away and leaves the timer's enable alone."""
    if not is_control(access):
        return False
    control = control_of(unit, access)
    return control is not None and bool(control.off & CLKSOURCE) and not control.off & ENABLE


def timing_of(unit: Unit, accesses: Iterable[Access], start: Access) -> Timing | str:
    """What a timer that one function sets up counts; why a person must say it."""
    core: bool | None = None
    for access in filter(is_control, accesses):
        control = control_of(unit, access)
        if control is None:
            core = None
        elif control.on & CLKSOURCE:
            core = True
        elif control.off & CLKSOURCE:
            core = False
        elif access.operator == b"=" and not _reads_itself(access):
            core = None
    if core is None and _is_from_reset(unit, start):
        core = False
    if core is None:
        return KEPT
    return timing(unit, core)


def timing(unit: Unit, core: bool) -> Timing | str:
    """Timing with CLKSOURCE set (`core`) or clear."""
    if not core and not is_stm32(unit):
        return NO_REFERENCE
    return Timing(unit.domain, unit.old_clock, 1 if core else _STM32_DIVIDER)


def _reads_itself(access: Access) -> bool:
    """`CTRL = CTRL | x` keeps what x says nothing of."""
    return access.value is not None and text_of(access.place) in text_of(access.value)


def _is_from_reset(unit: Unit, start: Access) -> bool:
    """Whether nothing in the project but one function has to do with the timer."""
    if b"SysTick_Config" in unit.file.data or unit.other_sources_have(_TICK_WORDS):
        return False
    return all(
        access.context.root == start.context.root
        for access in unit.accesses()
        if access.register is not None and access.register.block == "SysTick"
    )
