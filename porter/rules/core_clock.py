"""SystemCoreClockUpdate(): CMSIS's function that finds out how fast the core runs."""

from __future__ import annotations

from collections.abc import Iterator

from porter.rules.rule import Rule, Sample
from porter.rules.unit import Unit
from porter.rules.verdict import Verdict
from porter.sites.site import Site, SiteKind
from porter.source.edit import Edit

_FUNCTION = "SystemCoreClockUpdate"
_HEADER = (
    "#include <stdint.h>\n"
    "typedef struct { volatile unsigned CR, PLLCFGR, CFGR; } RCC_TypeDef;\n"
    "#define RCC ((RCC_TypeDef *)0x40023800)\nextern uint32_t SystemCoreClock;\n"
)


class CoreClock(Rule):
    """By its name, which CMSIS fixes as it fixes what the function is for."""

    id = "core-clock"
    finds = "the body of SystemCoreClockUpdate()"
    becomes = "SystemCoreClock = FVM_CLOCK_HZ;"
    why = "the clock is in the description; the registers that tell it belong to nobody"
    samples = (
        Sample(
            _HEADER + "void SystemCoreClockUpdate(void)\n{\n"
            "    switch (RCC->CFGR & 0xC) {\n    case 8:\n        SystemCoreClock = 168000000;\n"
            "        break;\n    default:\n        SystemCoreClock = 16000000;\n    }\n}\n",
            _HEADER + "void SystemCoreClockUpdate(void)\n{\n"
            "    SystemCoreClock = FVM_CLOCK_HZ;\n}\n",
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """All sites in the function are one question."""
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
