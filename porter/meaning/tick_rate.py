"""From what SysTick counts in a period to the tick rate that it means."""

from __future__ import annotations

from dataclasses import dataclass

from porter.flow.fixed_clock import VARIABLE
from porter.meaning.core_clocks import by_variable
from porter.meaning.expressions import bare, expanded, source
from porter.project.domain import Domain
from porter.source.arithmetic import word
from porter.source.c_lexer import lex_fragment
from porter.source.c_tree import Node, text_of
from porter.source.evaluate import Evaluator, Scope
from porter.source.truth import binary
from porter.source.values import Number, Value

_SLOWEST_CLOCK = 1_000_000  # a smaller number that is divided is no clock
_PROBES = (48_000_000, 144_000_000)  # two clocks: what is the same at both doesn't ask for one
_ROUNDED = 1000  # a part of so many: by how much an integer division may miss the rate


@dataclass(frozen=True)
class Rate:
    """`text` is C for the rate in hertz; `problem` says why a person must look, if so.

    `constant`: the compiler knows the rate, so that it can't turn out wrong while running; `hz`:
    the porter does too.
    """

    text: bytes
    problem: str | None = None
    constant: bool = True
    hz: int | None = None

    @property
    def unchecked_problem(self) -> str | None:
        """`problem` where nothing looks at whether the rate was accepted."""
        if self.problem is None and not self.constant:
            return (
                "the rate is only known while running, and one that is no divisor of the kernel's "
                "tick is refused: check what hyp_tick_set(hz) returns"
            )
        return self.problem


@dataclass(frozen=True)
class Timing:
    """What a count is of: cycles of the core's clock divided by `divider`. `old_clock`: the core's
    clock on the chip that the code was written for, None if nobody says it."""

    domain: Domain | None
    old_clock: int | None
    divider: int = 1

    def checked(self, rate: float, text: bytes | None = None) -> Rate:
        """A rate that is a number, held against the description."""
        hertz = round(rate)
        if hertz == 0 or abs(rate - hertz) * _ROUNDED > hertz:
            return Rate(b"", f"{rate:.6g} Hz is no whole number of hertz")
        return Rate(text or b"%d" % hertz, self._refused(hertz), hz=hertz)

    def _refused(self, hertz: int) -> str | None:
        if self.domain is None:
            return None
        kernel, told = self.domain.kernel_tick_hz, self.domain.tick_hz
        if kernel % hertz:
            return f"{hertz} Hz is no divisor of the kernel's tick of {kernel} Hz"
        if told is not None and told != hertz:
            return f"the code ticks at {hertz} Hz, the description says {told} Hz"
        return None


def rate_of(
    count: Node, evaluator: Evaluator, scope: Scope, timing: Timing, extra: int = 0
) -> Rate:
    """The rate of a timer that counts `count` + `extra` cycles a period."""
    node = expanded(count, evaluator)
    if asks_clock(node, evaluator):
        return _of_clock(node, evaluator, scope, timing, extra)
    cycles = _number(node, evaluator, scope)
    if cycles is not None:
        return _of_number(node, cycles + extra, evaluator, scope, timing)
    quotient = binary(node, b"/")
    if quotient is not None and _is_clock(quotient[0], evaluator) and timing.divider == 1:
        return Rate(source(bare(quotient[1])), constant=False)
    if timing.divider != 1:
        return Rate(b"", _divided(timing))
    text = source(node)
    counted = b"(%s) + %d" % (text, extra) if extra else text
    return Rate(b"FVM_CLOCK_HZ / (%s)" % counted, constant=False)


def _of_clock(node: Node, evaluator: Evaluator, scope: Scope, timing: Timing, extra: int) -> Rate:
    """`SystemCoreClock / 1000`: the rate is the same whatever the clock, or nobody knows it."""
    rates: list[float] = []
    for clock in _PROBES:
        cycles = _number(node, evaluator, scope, clock)
        if not cycles or cycles + extra <= 0:
            return _with_divisor(node, evaluator, scope, timing)
        rates.append(clock / timing.divider / (cycles + extra))
    if abs(rates[0] - rates[1]) * _ROUNDED > rates[1]:
        return Rate(b"", "the rate depends on the core's clock: write hyp_tick_set(hz)")
    quotient = binary(node, b"/")
    divisor = quotient[1] if quotient is not None else None
    same = divisor is not None and _number(divisor, evaluator, scope) == round(rates[1])
    return timing.checked(rates[1], source(bare(divisor)) if divisor is not None and same else None)


def _with_divisor(node: Node, evaluator: Evaluator, scope: Scope, timing: Timing) -> Rate:
    """`SystemCoreClock / 8 / hz`: what is divided must be what the timer counts with."""
    quotient = binary(node, b"/")
    if quotient is not None:
        counted = _number(quotient[0], evaluator, scope, _PROBES[0])
        if counted == _PROBES[0] // timing.divider:
            return Rate(source(bare(quotient[1])), constant=False)
    if timing.divider != 1:
        return Rate(b"", _divided(timing))
    return Rate(b"FVM_CLOCK_HZ / (%s)" % source(node), constant=False)


def _of_number(node: Node, cycles: int, evaluator: Evaluator, scope: Scope, timing: Timing) -> Rate:
    """A number of cycles: of the clock that it names, else of the old chip's."""
    if cycles <= 0:
        return Rate(b"", "a period of no cycles stops the timer: write hyp_tick_set(0)")
    domain = timing.domain
    quotient = binary(node, b"/")
    divided = _number(quotient[0], evaluator, scope) if quotient is not None else None
    if quotient is not None and divided is not None and divided >= _SLOWEST_CLOCK:
        hertz = _number(quotient[1], evaluator, scope) or 0
        clock = timing.old_clock or (domain.clock_hz if domain is not None else None)
        if clock is not None and divided * timing.divider != clock:
            real = clock / timing.divider / cycles
            whose = "the old chip's clock" if timing.old_clock else "the description's clock"
            return Rate(
                source(bare(quotient[1])),
                f"the code divides {divided} Hz to get {hertz} Hz, and the timer counts at "
                f"{clock // timing.divider} Hz with {whose}, which is {real:.6g} Hz: write "
                "hyp_tick_set(hz)",
            )
        if clock is not None or timing.divider == 1:
            return timing.checked(hertz, source(bare(quotient[1])))
    if timing.old_clock is not None:
        return timing.checked(timing.old_clock / timing.divider / cycles)
    told = domain.tick_hz if domain is not None else None
    if domain is not None and told:
        missed = abs(domain.clock_hz - told * cycles * timing.divider)
        if missed * _ROUNDED <= domain.clock_hz:
            return timing.checked(told)  # two who don't know of one another say the same
    return Rate(b"", _whose_clock(cycles, timing))


def _divided(timing: Timing) -> str:
    return (
        f"without CLKSOURCE the timer counts the core's clock divided by {timing.divider}, and "
        "this count isn't known to: write hyp_tick_set(hz)"
    )


def _whose_clock(cycles: int, timing: Timing) -> str:
    counted = f"{cycles} cycles"
    if timing.divider != 1:
        counted += f" of a clock divided by {timing.divider}"
    at = ""
    if timing.domain is not None:
        real = timing.domain.clock_hz / timing.divider / cycles
        at = f" (at this system's {timing.domain.clock_hz} Hz they would be {real:.6g} Hz)"
    return (
        f"{counted} were counted for the old chip's clock, which nothing here says{at}: give it by "
        "--core-clock, or write hyp_tick_set(hz)"
    )


def _number(node: Node, evaluator: Evaluator, scope: Scope, clock: int | None = None) -> int | None:
    """The value of an expression, with the core's clock for what says it."""

    def with_clock(name: bytes) -> Value | None:
        if name == VARIABLE:
            return word(clock) if clock is not None else None
        return scope(name)

    text = b" ".join(evaluator.macros.expand(lex_fragment(by_variable(text_of(node)))))
    value = evaluator.text(text, with_clock)
    return value.value if isinstance(value, Number) else None


def asks_clock(node: Node, evaluator: Evaluator) -> bool:
    """Whether an expression says the core's clock by a variable or a function for it."""
    return says_clock(text_of(node), evaluator)


def says_clock(text: bytes, evaluator: Evaluator) -> bool:
    """The same of an expression's text."""
    return VARIABLE in evaluator.macros.expand(lex_fragment(by_variable(text)))


def _is_clock(node: Node, evaluator: Evaluator) -> bool:
    """A clock frequency: a number of at least 1 MHz."""
    value = evaluator.number(expanded(node, evaluator))
    return value is not None and value >= _SLOWEST_CLOCK
