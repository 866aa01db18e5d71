"""__disable_irq() and its relatives."""

from __future__ import annotations

from collections.abc import Iterator

from porter.rules.rule import Rule, Sample
from porter.rules.unit import Unit
from porter.rules.verdict import Verdict
from porter.sites.intrinsics import MASK_CLEAR, MASK_SET
from porter.sites.site import SiteKind
from porter.source.edit import Edit


class MaskIntrinsic(Rule):
    """Global masking by name."""

    id = "mask-intrinsic"
    finds = "__disable_irq(), __enable_irq(), __disable_interrupt(), __enable_interrupt()"
    becomes = "virt_int_mask(VIRT_PRIMASK), virt_int_unmask(VIRT_PRIMASK)"
    why = "CPS does nothing in unprivileged code: the section would not be protected"
    samples = (
        Sample(
            "void f(void) { __disable_irq(); g(); __enable_irq(); }",
            "void f(void) { virt_int_mask(VIRT_PRIMASK); g(); virt_int_unmask(VIRT_PRIMASK); }",
        ),
        Sample("#define LOCK() __disable_irq()", "#define LOCK() virt_int_mask(VIRT_PRIMASK)"),
        Sample("void (*off)(void) = __disable_irq;", "", escalates=True),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Each call on its own; a use that is no call is not understood."""
        for site in unit.pending(SiteKind.INTRINSIC):
            if site.what not in MASK_SET | MASK_CLEAR:
                continue
            call = unit.call(site)
            if call is None or call.arguments:
                yield self.escalated(site, f"{site.what} is used otherwise than by a call")
                continue
            name = b"virt_int_mask" if site.what in MASK_SET else b"virt_int_unmask"
            edit = Edit(call.start, call.end, name + b"(VIRT_PRIMASK)")
            yield self.rewritten(site, f"{name.decode()} of PRIMASK", edit)
