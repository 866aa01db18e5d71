"""IWDG: the independent watchdog."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.meaning.expressions import bare
from porter.meaning.under_condition import under_condition
from porter.rules.removed import remove_accesses
from porter.rules.rule import Rule, Sample
from porter.sites.access import Access
from porter.source.edit import Edit

_FEED = 0xAAAA
_START = 0xCCCC
_UNLOCK = 0x5555
_LSI_HZ = 32_000
_NO_WINDOW = 0xFFF  # of WINR, as after reset
_RESET_RELOAD = 0xFFF
_TOLERANCE_MS = 1
_SAMPLE_HEADER = (
    "typedef struct { volatile unsigned KR, PR, RLR, SR; } IWDG_TypeDef;\n"
    "#define IWDG ((IWDG_TypeDef *)0x40003000)\n"
)


class Watchdog(Rule):
    """Start and feed are calls; the timeout comes from the description, and must agree with it."""

    id = "watchdog"
    finds = "IWDG->KR, PR, RLR, SR, WINR"
    becomes = "hyp_wdg_clr(); the set-up goes"
    why = "the hypervisor keeps one watchdog a machine, with the description's timeout"
    samples = (
        Sample(
            _SAMPLE_HEADER + "void f(void)\n{\n    IWDG->KR = 0xCCCC;\n    IWDG->KR = 0x5555;\n"
            "    IWDG->PR = 3;\n    IWDG->RLR = 499;\n    while (IWDG->SR) { }\n}\n",
            _SAMPLE_HEADER + "void f(void)\n{\n    hyp_wdg_clr();\n}\n",
        ),
        Sample(
            _SAMPLE_HEADER + "void f(void) { IWDG->PR = 3; IWDG->RLR = 999; IWDG->KR = 0xCCCC; }",
            "",
            escalates=True,
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """The file's accesses together: they say what timeout it means."""
        accesses = [a for a in unit.accesses() if a.register and a.register.block == "IWDG"]
        if not accesses:
            return
        problem = _disagreement(unit, accesses)
        set_up: list[Access] = []
        for access in accesses:
            if access.register is not None and access.register.name == "KR":
                if (verdict := self._key(unit, access)) is None:
                    set_up.append(access)
                else:
                    yield verdict
            elif why := _is_more(unit, access) or (problem if _is_timeout(access) else None):
                yield self.escalated(access.site, why)
            else:
                set_up.append(access)
        reason = "the description's timeout applies"
        yield from remove_accesses(self, unit, set_up, reason, waits_end=True)

    def _key(self, unit: Unit, access: Access) -> Verdict | None:
        """Start and feed; None for the key that unlocks the set-up."""
        if access.use != "write" or access.value is None or access.statement is None:
            return self.escalated(access.site, "KR is not written by a plain statement")
        key = unit.text.evaluator.number(access.value, access.context.scope)
        if key in (_UNLOCK, 0):
            return None
        if key not in (_FEED, _START):
            return self.escalated(access.site, "which key is written to KR isn't known")
        if unit.domain is not None and unit.domain.watchdog_ms is None:
            return self.escalated(access.site, "the description has no watchdog for this machine")
        whole = access.whole
        edit = Edit(access.context.start(whole), access.context.end(whole), b"hyp_wdg_clr()")
        started = "starts" if key == _START else "feeds"
        condition = under_condition(unit, edit.start, edit.end) if key == _START else ""
        if key == _START or unit.why_not_linked(access.context.name) is None:
            unit.facts.note_watchdog(access.site, key == _START, condition)
        return self.rewritten(access.site, f"{started} this machine's watchdog", edit)


def _is_more(unit: Unit, access: Access) -> str | None:
    """Why a write to another register than those of the timeout can't go: feeding too early is an
    error in a window, and other makers have other registers there."""
    if access.register is None or access.use != "write":
        return None
    if access.register.name in ("KR", "PR", "RLR", "SR") or _written(unit, access) <= {_NO_WINDOW}:
        return None
    return (
        f"{access.register} does more than to set a timeout, and a machine's watchdog has nothing "
        "else: take it out if the machine can do without"
    )


def _is_timeout(access: Access) -> bool:
    return access.use == "write" and str(access.register).endswith(("->RLR", "->PR"))


def _disagreement(unit: Unit, accesses: list[Access]) -> str | None:
    """What is wrong between the timeout the code sets and the description's."""
    wanted = unit.domain.watchdog_ms if unit.domain is not None else None
    prescalers = _values(unit, accesses, "PR")
    reloads = _values(unit, accesses, "RLR")
    if wanted is None or not (prescalers or reloads):
        return None
    if None in prescalers or None in reloads or max(len(prescalers), len(reloads)) > 1:
        return f"the timeout isn't one constant; compare it with the description's {wanted} ms"
    prescaler = next(iter(prescalers), 0) or 0
    reload = next(iter(reloads), _RESET_RELOAD) or 0
    meant = (reload + 1) * (4 << min(prescaler, 6)) * 1000 / _LSI_HZ
    if abs(meant - wanted) <= _TOLERANCE_MS:
        return None
    return f"the code means {meant:.0f} ms, the description says {wanted} ms"


def _values(unit: Unit, accesses: list[Access], name: str) -> set[int | None]:
    return {
        value
        for access in accesses
        if access.register is not None and access.register.name == name and access.use == "write"
        for value in _written(unit, access)
    }


def _written(unit: Unit, access: Access) -> set[int | None]:
    """What a write may put into its register; a driver's settings may come in a struct."""
    if access.value is None or access.operator != b"=":
        return {None}
    number = unit.text.evaluator.number(access.value, access.context.scope)
    value = bare(access.value)
    if number is None and value.type == "field_expression":
        return set(unit.field_values(value, access.context.scope) or {None})
    return {number}
