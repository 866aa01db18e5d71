"""The system tick: how fast, and what says it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from composer.analyze.code import Stretch
from composer.analyze.model import Told, Vector
from composer.analyze.rtos_data import Rtos
from composer.analyze.switches import place
from porter.judging.verdict import Status
from porter.meaning.tick_rate import Timing, rate_of
from porter.port import Judged
from porter.source.c_tree import SyntaxTree, walk
from porter.source.evaluate import no_scope
from porter.source.token_tools import matching
from porter.source.values import Initial, Number

_SET = re.compile(rb"hyp_tick_set\(\s*(.+?)\s*\)\s*(?:;|\?|!=|==|$)")
_HAL = b"uwTickFreq"
_HAL_HZ = 1000  # of ST's HAL, unless somebody sets another of its three rates
_TICK_RULES = ("tick-config", "tick-register")
_SYSTICK = 15


@dataclass(frozen=True)
class _Rate:
    """What SysTick is set to: as text, in hertz if that is known, and where."""

    text: str
    hertz: int | None
    place: str


def tick_of(
    judged: Judged,
    stretches: Sequence[Stretch],
    rtos: Rtos | None,
    vectors: Sequence[Vector],
    core_clock: int | None,
) -> Told:
    """Its rate: the RTOS's macro, else what SysTick is set to by code that runs."""
    handler = next((it for it in vectors if it.number == _SYSTICK), None)
    served = f"; {handler.handler} at {handler.place}" if handler is not None else ""
    for name in rtos.tick if rtos is not None else ():
        if (hertz := _number(judged, name.encode())) is not None:
            return Told(f"{hertz} Hz", f"{name}{served}")
    rates = [*_handed_on(judged, stretches, core_clock), *_set(judged)]
    known = next((it for it in rates if it.hertz is not None), None)
    if known is not None:
        return Told(f"{known.hertz} Hz", f"SysTick{served}", (known.place,))
    if rates:
        why = f"SysTick is set to {rates[0].text}, which is only known while it runs{served}"
        return Told(None, why, (rates[0].place,))
    for reason, where in _asked(judged):
        return Told(None, f"{reason}{served}", (where,))
    if handler is not None:
        return Told(None, f"nothing was seen to start it{served}")
    return Told("none", "nothing starts SysTick, and nobody serves it")


def _number(judged: Judged, name: bytes) -> int | None:
    """A macro's value in the first file that knows one."""
    for unit in judged.docket.units.values():
        if name in unit.text.evaluator.macros:
            value = unit.text.evaluator.number_of_name(name)
            if value is not None:
                return value
    return None


def _set(judged: Judged) -> Iterator[_Rate]:
    """Calls that the port writes where SysTick is set."""
    for path, port in judged.docket.ports.items():
        unit = judged.docket.units.get(path)
        for verdict in port.verdicts:
            if verdict.rule not in _TICK_RULES or unit is None:
                continue
            for edit in verdict.edits:
                if (found := _SET.search(edit.replacement)) is not None and found[1] != b"0":
                    value = unit.text.evaluator.text(found[1])
                    known = value.value if isinstance(value, Number | Initial) else None
                    yield _Rate(found[1].decode("utf-8", "replace"), known,
                                place(port.file, verdict.site.start))  # fmt: skip


def _handed_on(
    judged: Judged, stretches: Sequence[Stretch], core_clock: int | None
) -> Iterator[_Rate]:
    """Calls of a function that hands its argument on to SysTick_Config(), as ST's HAL has one."""
    wrappers = set(_configuring(judged))
    for stretch in stretches if wrappers else ():
        tokens = stretch.tokens
        for at, token in enumerate(tokens[:-1]):
            if token.text not in wrappers or tokens[at + 1].text != b"(":
                continue
            closing = matching(tokens, at + 1)
            if closing is not None:
                given = stretch.file.data[tokens[at + 1].end : tokens[closing].start]
                yield _rate(stretch, given, core_clock, stretch.place(token))


def _configuring(judged: Judged) -> Iterator[bytes]:
    """Functions in which SysTick_Config() is called."""
    for path, unit in judged.docket.units.items():
        starts = [it.site.start for it in judged.docket.ports[path].verdicts
                  if it.rule == "tick-config"]  # fmt: skip
        tokens = unit.text.balanced
        for name, body, end in unit.text.functions if starts else ():
            last = tokens[end].start if end < len(tokens) else len(unit.file.data)
            if any(tokens[body].start <= start < last for start in starts):
                yield name


def _rate(stretch: Stretch, given: bytes, core_clock: int | None, where: str) -> _Rate:
    tree = SyntaxTree(b"int made = %s;" % given, 0)
    made = next(it for it in walk(tree.root) if it.type == "init_declarator")
    count = made.child_by_field_name("value")
    shown = given.decode("utf-8", "replace")
    if count is None or tree.root.has_error:
        return _Rate(shown, None, where)
    rate = rate_of(count, stretch.text.evaluator, no_scope, Timing(None, core_clock))
    hertz = rate.hz
    if hertz is None and rate.text:
        value = stretch.text.evaluator.text(rate.text)
        hertz = value.value if isinstance(value, Number) else None
    if hertz is None and _HAL in rate.text:
        hertz = _HAL_HZ
    return _Rate(rate.text.decode("utf-8", "replace") or shown, hertz, where)


def _asked(judged: Judged) -> Iterator[tuple[str, str]]:
    """Where a person has to say the rate, and why."""
    for port in judged.docket.ports.values():
        for verdict in port.verdicts:
            if verdict.rule in _TICK_RULES and verdict.status is Status.ESCALATED:
                yield verdict.reason, place(port.file, verdict.site.start)
