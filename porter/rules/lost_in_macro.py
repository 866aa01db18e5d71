"""What would be lost in the text that a macro's call becomes when it is written out."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.registers.intrinsics import INTRINSIC_BYTES
from porter.rules.rule import Revision, Sample
from porter.source.c_lexer import lex_fragment
from porter.source.edit import Edit, folded

_HEADER = (
    "typedef struct { volatile unsigned MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR, BSRR; }"
    " GPIO_TypeDef;\n#define GPIOA ((GPIO_TypeDef *)0x40020000)\n"
    "#define SET(p, m) ((p)->BSRR = (m))\nunsigned g(void);\n"
)


class LostInMacro(Revision):
    """`SET(GPIOA, NEXT())` becomes a call with what NEXT() is; and what is ported in the body of
    NEXT isn't ported there."""

    id = "lost-in-macro"
    finds = "a macro's call that would be written out with intrinsics that aren't ported there"
    becomes = "itself"
    why = "what stands in another macro's body is ported there, and not where it is written out"
    samples = (
        Sample(
            _HEADER + "void f(void) { SET(GPIOA, (__disable_irq(), g())); }",
            _HEADER + "void f(void) { hyp_pin_write(0, ( ( virt_int_mask(VIRT_PRIMASK) , g ( ) ) ))"
            "; }",
        ),
        Sample(
            _HEADER + "#define NEXT() (__disable_irq(), g())\nvoid f(void) { SET(GPIOA, NEXT()); }",
            "",
            escalates=True,
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """The calls, and what counted as a part of them."""
        made = [
            (edit, verdict)
            for verdict in unit.verdicts.values()
            if verdict.status is Status.REWRITTEN
            for edit in verdict.edits
        ]
        whole = folded(unit.file.data, {edit for edit, _ in made})
        for span in whole:
            lost = _lost(unit, span)
            if not lost:
                continue
            name = lost[0].decode("latin-1")
            reason = (
                f"what it becomes has {name}, which would stay as it is: write the macro out, or "
                "give it what another macro says by a variable"
            )
            for edit, verdict in made:
                if (edit.start, edit.end) == (span.start, span.end):
                    yield self.escalated(verdict.site, reason)
            for verdict in list(unit.verdicts.values()):
                site = verdict.site
                inside = span.start <= site.start and site.end <= span.end
                if inside and verdict.rule == "covered":
                    yield self.escalated(site, reason)


def _lost(unit: Unit, span: Edit) -> list[bytes]:
    """Words in what a place becomes that no rule has seen there."""
    found = [it.text for it in lex_fragment(span.replacement) if it.text in INTRINSIC_BYTES]
    kept = {
        verdict.site.what.encode("latin-1")
        for verdict in unit.verdicts.values()
        if span.start <= verdict.site.start and verdict.site.end <= span.end
        if verdict.status is not Status.REWRITTEN
    }
    return [it for it in found if it not in kept]
