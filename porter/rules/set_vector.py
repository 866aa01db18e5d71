"""NVIC_SetVector: a program that puts its handlers into the vector table at run time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.context_switch.c_nodes import is_local
from porter.context_switch.default_handlers import SETTERS, function_in
from porter.judging.unit import Call, Unit
from porter.judging.verdict import Verdict
from porter.program.calls import FunctionCall
from porter.project.domain import Vector
from porter.project.vectors import FAULTS, FIRST_IRQ, SYSTEM
from porter.rules.nvic_call import number_of_exception, take_out
from porter.rules.rule import Rule, Sample
from porter.sites.site import Site, SiteKind
from porter.source.c_tree import enclosing_function
from porter.source.values import Number


class SetVector(Rule):
    """The description says which function serves what, from the start on."""

    id = "set-vector"
    finds = "NVIC_SetVector of CMSIS"
    becomes = "nothing, where the description has that handler"
    why = "the generated start-up registers the handlers of the description"
    samples = (
        Sample(
            "void h(void);\nvoid f(void) {\n    NVIC_SetVector(-14, (unsigned)h);\n    g();\n}",
            "void h(void);\nvoid f(void) {\n    g();\n}",
        ),
        Sample("void h(void); void f(void) { NVIC_SetVector(37, (unsigned)h); }", "", True),
        Sample("void f(int n, unsigned h) { NVIC_SetVector(n, h); }", "", True),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Each call on its own."""
        for site in unit.pending(SiteKind.INTRINSIC):
            call = unit.call(site) if site.what in SETTERS else None
            if call is not None and len(call.arguments) == 2:
                yield self._judged(unit, site, call)

    def _judged(self, unit: Unit, site: Site, call: Call) -> Verdict:
        number = number_of_exception(unit, site, call.arguments[0])
        if number is not None and number + FIRST_IRQ in FAULTS:
            return take_out(self, unit, site, call, "the kernel takes every fault")
        if unit.domain is None:
            return self.escalated(
                site, "needs a description, which says who serves what: give the domain file"
            )
        if number is None:
            return self._any(unit, site, call)
        vector = _vector(unit, number)
        name = function_in(call.arguments[1])
        if vector is not None and name and vector.handler == name:
            return take_out(self, unit, site, call, "registered by the generated start-up")
        written = name or "the function"
        if vector is None:
            reason = f"interrupt {number} is not in the description of {unit.domain.name}"
        elif vector.handler is None:
            reason = f'the description has no handler of {vector.name}: write handler="{written}"'
        else:
            reason = (
                f"the description has {vector.handler}() for {vector.name}, and a machine's "
                "vectors stay as they are: let that decide what is to be done"
            )
        return self.escalated(site, reason)

    def _any(self, unit: Unit, site: Site, call: Call) -> Verdict:
        """One for exceptions that only the run tells: it is left out where each that the machine
        has gets its handler of the description, for a machine has no others."""
        name = function_in(call.arguments[1])
        if not _is_function(unit, site, call, name):
            return self.escalated(
                site,
                "nobody knows which function this puts where: the description says which one "
                f"serves what, so call {site.what} with a number and a function, or take this out",
            )
        calls = [it for setter in SETTERS for it in unit.calls_of(setter)]
        for vector in unit.domain.vectors if unit.domain is not None else ():
            if vector.handler and not any(_sets(it, vector) for it in calls):
                return self.escalated(
                    site,
                    f"nobody knows which exceptions this is about, and none but it sets "
                    f"{vector.name}'s: call {site.what} with its number and {vector.handler} "
                    "behind it, or take this out",
                )
        return take_out(self, unit, site, call, "each vector of the machine gets its own handler")


def _vector(unit: Unit, number: int) -> Vector | None:
    vectors = unit.domain.vectors if unit.domain is not None else ()
    return next((it for it in vectors if _number(it) == number), None)


def _number(vector: Vector) -> int | None:
    """Of its exception, as CMSIS has it."""
    system = {kind: number - FIRST_IRQ for number, kind in SYSTEM.items()}
    return system.get(vector.kind, vector.irq)


def _sets(call: FunctionCall, vector: Vector) -> bool:
    """Whether a call gives a vector its handler of the description."""
    if len(call.arguments) != 2 or function_in(call.arguments[1]) != vector.handler:
        return False
    value = call.text.evaluator.text(call.arguments[0])
    return isinstance(value, Number) and value.value == _number(vector)


def _is_function(unit: Unit, site: Site, call: Call, name: str) -> bool:
    """Whether a name is one of the project's functions, as far as its text says."""
    context = unit.context(site)
    node = context.node_at(call.start, call.end) if context is not None and name else None
    around = enclosing_function(node) if node is not None else None
    word = name.encode("latin-1")
    if around is None or is_local(around, word):
        return False
    words = re.compile(rb"\b%s\s*(?:\(|:)" % re.escape(word))
    return unit.sources_have(words) or unit.other_files_have(words)
