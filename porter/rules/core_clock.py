"""SystemCoreClock and SystemCoreClockUpdate(): how CMSIS says how fast the core runs."""

from __future__ import annotations

from collections.abc import Iterator

from porter.flow.fixed_clock import VARIABLE
from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.rules.rule import Rule, Sample
from porter.sites.site import Site, SiteKind
from porter.source.c_tree import Node, text_of, walk
from porter.source.declared import declared_name
from porter.source.edit import Edit

_FUNCTION = "SystemCoreClockUpdate"
_HEADER = (
    "#include <stdint.h>\n"
    "typedef struct { volatile unsigned CR, PLLCFGR, CFGR; } RCC_TypeDef;\n"
    "#define RCC ((RCC_TypeDef *)0x40023800)\nextern uint32_t SystemCoreClock;\n"
)


class CoreClock(Rule):
    """By their names, which CMSIS fixes as it fixes what they are for."""

    id = "core-clock"
    finds = "the body of SystemCoreClockUpdate(), numbers that SystemCoreClock is given"
    becomes = "SystemCoreClock = FVM_CLOCK_HZ"
    why = "a machine starts with the description's clock; the registers that tell it are nobody's"
    samples = (
        Sample(
            _HEADER + "void SystemCoreClockUpdate(void)\n{\n"
            "    switch (RCC->CFGR & 0xC) {\n    case 8:\n        SystemCoreClock = 168000000;\n"
            "        break;\n    default:\n        SystemCoreClock = 16000000;\n    }\n}\n",
            _HEADER + "void SystemCoreClockUpdate(void)\n{\n"
            "    SystemCoreClock = FVM_CLOCK_HZ;\n}\n",
        ),
        Sample(
            _HEADER + "void SystemCoreClockUpdate(void)\n{\n#ifdef LOW_POWER\n"
            "    SystemCoreClock = RCC->CFGR ? 1 : 2;\n#else\n    SystemCoreClock = RCC->CR;\n"
            "#endif\n}\n",
            _HEADER + "void SystemCoreClockUpdate(void)\n{\n"
            "    SystemCoreClock = FVM_CLOCK_HZ;\n}\n",
        ),
        Sample(
            "unsigned SystemCoreClock = 16000000;\n", "unsigned SystemCoreClock = FVM_CLOCK_HZ;\n"
        ),
        Sample(
            "unsigned SystemCoreClock = 168000000;\n", "unsigned SystemCoreClock = 168000000;\n"
        ),
        Sample(
            "extern unsigned SystemCoreClock;\n#define HSE 8000000u\n"
            "void clock(void) { SystemCoreClock = HSE * 9; }\n",
            "extern unsigned SystemCoreClock;\n#define HSE 8000000u\n"
            "void clock(void) { SystemCoreClock = FVM_CLOCK_HZ; }\n",
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """All sites in the function are one question; the variable is no site."""
        yield from self._update(unit)
        if unit.domain is not None and VARIABLE in unit.file.data:
            self._numbers(unit, unit.domain.clock_hz)

    def _update(self, unit: Unit) -> Iterator[Verdict]:
        sites: list[Site] = []
        for site in unit.pending(SiteKind.REGISTER):
            context = unit.context(site)
            if context is not None and context.kind == "function" and context.name == _FUNCTION:
                sites.append(site)
        context = unit.context(sites[0]) if sites else None
        body = context.root.child_by_field_name("body") if context is not None else None
        if context is None or body is None:
            return
        start, end = context.start(body), context.end(body)
        eol = unit.file.eol(start)
        text = b"{" + eol + b"    SystemCoreClock = FVM_CLOCK_HZ;" + eol + b"}"
        unit.rewritten_spans.append(Edit(start, end, text))
        for site in sites:
            yield self.rewritten(site, "the clock is the description's", Edit(start, end, text))

    @staticmethod
    def _numbers(unit: Unit, clock_hz: int) -> None:
        """What the machine reads before it sets its clock up, and behind that, is the clock that it
        has."""
        tree = unit.variables.tree
        for node in walk(tree.root):
            value = _given(node)
            if value is None or _replaced(unit, tree.start(value)):
                continue
            number = unit.text.evaluator.number(value)
            if number is not None and number != clock_hz:
                edit = Edit(tree.start(value), tree.end(value), b"FVM_CLOCK_HZ")
                unit.extra_edits.append(edit)


def _given(node: Node) -> Node | None:
    """What a node makes SystemCoreClock."""
    if node.type == "init_declarator":
        target, value = declared_name(node), node.child_by_field_name("value")
    elif node.type == "assignment_expression" and text_of(node.children[1]) == b"=":
        target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
    else:
        return None
    return value if target is not None and text_of(target) == VARIABLE else None


def _replaced(unit: Unit, place: int) -> bool:
    return any(edit.start <= place < edit.end for edit in unit.rewritten_spans)
