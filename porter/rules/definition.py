"""The definitions of CMSIS functions in the project's own core headers."""

from __future__ import annotations

from collections.abc import Iterator

from porter.rules.rule import Rule, Sample
from porter.rules.unit import Unit
from porter.rules.verdict import Verdict
from porter.sites.context import function_name
from porter.sites.intrinsics import INTRINSICS
from porter.sites.site import Site, SiteKind

_ACCESSORS = frozenset({"__get_CONTROL", "__get_APSR"})  # defined next to the others, harmless


class Definition(Rule):
    """`__disable_irq` and its like where they are defined, not used."""

    id = "definition"
    finds = "the definition, declaration or alias of a CMSIS function"
    becomes = "itself: it stays in the header, unused"
    why = "every use is a site of its own; an inline function without users makes no code"
    samples = (
        Sample(
            'static inline void __disable_irq(void) { __asm volatile("cpsid i" ::: "memory"); }',
            'static inline void __disable_irq(void) { __asm volatile("cpsid i" ::: "memory"); }',
        ),
        Sample("void __WFI(void);", "void __WFI(void);"),
        Sample(
            "#define NVIC_EnableIRQ __NVIC_EnableIRQ", "#define NVIC_EnableIRQ __NVIC_EnableIRQ"
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Whatever stands in the body of such a function or macro, and its name."""
        for site in unit.pending():
            name = self._defined(unit, site)
            if name is not None:
                yield self.left(site, f"part of the definition of {name}; uses are rewritten")

    def _defined(self, unit: Unit, site: Site) -> str | None:
        region = unit.region(site)
        if region.name is not None:
            name = region.name.decode("latin-1")
            return name if name in INTRINSICS or name in _ACCESSORS else None
        context = unit.context(site)
        if context is not None and context.kind == "function":
            name = function_name(context.root)
            return name if name in INTRINSICS or name in _ACCESSORS else None
        if site.kind is SiteKind.INTRINSIC and context is not None and context.kind == "file":
            node = context.node_at(site.start, site.end)
            parent = node.parent if node is not None else None
            if parent is not None and parent.type in ("function_declarator", "pointer_declarator"):
                return site.what
        return None
