"""Registers of which no header tells where they are."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.rules.rule import Rule, Sample


class UndefinedBlock(Rule):
    """Nobody can say what such an access does, so that nobody may say that it is harmless."""

    id = "undefined-block"
    finds = "a name in capitals, used as a block or register, that no header of the project defines"
    becomes = "itself"
    why = "whether the machine owns it depends on its address, which only the header knows"
    samples = (
        Sample("void f(void) { AFIO->MAPR |= 2; }", "", escalates=True),
        Sample("void f(void) { SYSCTL_RCGC2_R = 0x20; }", "", escalates=True),
        Sample("void f(void) { HWREG(0x400FE108) = 0x20; }", "", escalates=True),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """All uses of such names."""
        for site in unit.pending():
            if site in unit.found.undefined:
                yield self.escalated(
                    site,
                    f"{site.what} is defined by no header that was found: put the chip's headers "
                    "into the project's folder, or change this by hand",
                )
