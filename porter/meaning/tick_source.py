"""CLKSOURCE changed apart from the tick's set-up: the rate of what was set up elsewhere changes."""

from __future__ import annotations

from porter.judging.unit import Unit
from porter.judging.verdict import Status
from porter.meaning.tick_clock import clears_source, timing
from porter.meaning.tick_rate import Timing
from porter.sites.access import Access
from porter.sites.context import Context
from porter.source.arithmetic import word
from porter.source.c_tree import ancestors, parse_expression
from porter.source.declared import parameter_names
from porter.source.values import Value

_CONFIG = "tick-config"


def timing_of_config(unit: Unit, context: Context | None, start: int) -> Timing | str:
    """What counts after SysTick_Config() at `start`, which sets CLKSOURCE: its function may clear
    it again."""
    for access in unit.accesses() if context is not None else ():
        same = context is not None and access.context.root == context.root
        if same and access.site.start > start and clears_source(unit, access):
            return timing(unit, core=False)
    return timing(unit, core=True)


def source_changed(unit: Unit, accesses: list[Access]) -> str | None:
    """Why a person must look at writes that don't start the timer, but change what it counts."""
    for access in accesses:
        if not clears_source(unit, access) or _never_taken(unit, access):
            continue
        settled = [
            verdict.status
            for verdict in unit.verdicts.values()
            if verdict.rule == _CONFIG and _is_with(verdict.site.start, access)
        ]
        if settled != [Status.REWRITTEN]:
            called = "".join(
                f" (called in {call.place})" for call in unit.calls_of(access.context.name)[:1]
            )
            return (
                "CLKSOURCE is cleared: the timer then counts the chip's reference clock (HCLK/8 on "
                f"STM32), and the tick is slower than where it is set up{called}: write "
                "hyp_tick_set(hz) there with the rate that it has, and take this out"
            )
    return None


def _is_with(start: int, access: Access) -> bool:
    context = access.context
    return context.start(context.root) <= start < access.site.start


def _never_taken(unit: Unit, access: Access) -> bool:
    """Whether no call of the function makes it come here: `if (source == SOURCE_HCLK) ...`."""
    calls = unit.calls_of(access.context.name) if access.context.kind == "function" else ()
    names = parameter_names(access.context.root)
    for inner in ancestors(access.whole):
        outer = inner.parent
        if not calls or outer is None or outer.type != "if_statement":
            continue
        condition = outer.child_by_field_name("condition")
        if condition is None or condition == inner:
            continue
        wanted = outer.child_by_field_name("consequence") == inner
        evaluator = unit.text.evaluator
        for call in calls:
            given: dict[bytes, Value] = {}
            for name, argument in zip(names, call.arguments, strict=False):
                node = parse_expression(argument)
                number = call.text.evaluator.number(node) if node is not None else None
                if number is not None:
                    given[name] = word(number)
            found = evaluator.number(condition, given.get)
            if found is None or bool(found) == wanted:
                break
        else:
            return True
    return False
