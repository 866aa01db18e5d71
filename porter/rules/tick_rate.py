"""From a SysTick reload expression to the tick rate it means."""

from __future__ import annotations

from dataclasses import dataclass

from porter.project.domain import Domain
from porter.rules.expressions import bare, expanded, source
from porter.source.arithmetic import word
from porter.source.c_lexer import lex_fragment
from porter.source.c_tree import Node, text_of
from porter.source.evaluate import Evaluator, Scope
from porter.source.truth import binary
from porter.source.values import Number, Value

_CLOCK_VARIABLE = b"SystemCoreClock"
_EXTERNAL_DIVIDER = 8  # SysTick without CLKSOURCE counts HCLK / 8
_EIGHTH = (
    "the timer counts an eighth of the clock, and whether the code divides that or the whole clock "
    "isn't known"
)


@dataclass(frozen=True)
class Rate:
    """`text` is C for the rate in hertz; `problem` says why a person must look, if so.

    `constant`: the compiler knows the rate, so that it can't turn out wrong while running.
    """

    text: bytes
    problem: str | None = None
    constant: bool = True

    @property
    def unchecked_problem(self) -> str | None:
        """`problem` where nothing looks at whether the rate was accepted."""
        if self.problem is None and not self.constant:
            return (
                "the rate is only known while running, and one that is no divisor of the kernel's "
                "tick is refused: check what hyp_tick_set(hz) returns"
            )
        return self.problem


def rate_of(
    count: Node,
    evaluator: Evaluator,
    scope: Scope,
    domain: Domain | None,
    core_clock: bool = True,
) -> Rate:
    """The rate of a timer that counts `count` cycles a period (the reload value plus one)."""

    def with_clock(name: bytes) -> Value | None:
        if name == _CLOCK_VARIABLE and domain is not None:
            return word(domain.clock_hz)
        return scope(name)

    def number(of: Node) -> int | None:
        text = b" ".join(evaluator.macros.expand(lex_fragment(text_of(of))))
        value = evaluator.text(text, with_clock)
        return value.value if isinstance(value, Number) else None

    node = expanded(count, evaluator)
    cycles = number(node)
    quotient = binary(node, b"/")
    divisor = quotient[1] if quotient is not None else None
    hertz = number(divisor) if divisor is not None else None
    if domain is not None and cycles:
        clock = domain.clock_hz if core_clock else domain.clock_hz // _EXTERNAL_DIVIDER
        return _checked(clock, cycles, divisor, hertz, domain)
    if not core_clock:
        text = b"FVM_CLOCK_HZ / %d / (%s)" % (_EXTERNAL_DIVIDER, source(node))
        return Rate(text) if cycles else Rate(text, _EIGHTH)
    if divisor is not None and quotient is not None and _is_clock(quotient[0], evaluator):
        return Rate(source(bare(divisor)), constant=hertz is not None)
    constant = cycles is not None
    return Rate(b"FVM_CLOCK_HZ / (%s)" % source(node), constant=constant)


def _checked(
    clock: int, cycles: int, divisor: Node | None, hertz: int | None, domain: Domain
) -> Rate:
    """A rate that is known as a number. An integer division in the code may round a little."""
    real = round(clock / cycles)
    text = source(bare(divisor)) if divisor is not None and hertz == real else b"%d" % real
    if divisor is not None and hertz is not None and hertz != real:
        return Rate(
            source(bare(divisor)),
            f"the code divides a clock to get {hertz} Hz, which at {domain.clock_hz} Hz "
            f"would be {real} Hz",
        )
    if real == 0 or domain.kernel_tick_hz % real:
        return Rate(
            text, f"{real} Hz is no divisor of the kernel's tick of {domain.kernel_tick_hz} Hz"
        )
    if domain.tick_hz is not None and domain.tick_hz != real:
        return Rate(text, f"the code ticks at {real} Hz, the description says {domain.tick_hz} Hz")
    return Rate(text)


def _is_clock(node: Node, evaluator: Evaluator) -> bool:
    """A clock frequency: the CMSIS variable, or a number of at least 1 MHz."""
    node = expanded(node, evaluator)
    value = evaluator.number(node)
    return text_of(node) == _CLOCK_VARIABLE or (value is not None and value >= 1_000_000)
