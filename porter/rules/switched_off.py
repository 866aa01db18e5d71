"""Code in arms of #if that no build has: `#if 0`."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.rules.rule import Rule, Sample
from porter.source.condition_value import condition_value


class SwitchedOff(Rule):
    """Unlike an arm that another build may take, it is text: it stays as its author left it."""

    id = "switched-off"
    finds = "sites in an arm of #if whose condition is false whatever is defined"
    becomes = "itself"
    why = "no compiler ever sees it"
    samples = (
        Sample(
            "void f(void)\n{\n#if 0\n    __disable_irq();\n#endif\n    g();\n}\n",
            "void f(void)\n{\n#if 0\n    __disable_irq();\n#endif\n    g();\n}\n",
        ),
        Sample(
            "#if 1\nvoid f(void) { __WFI(); }\n#else\nvoid f(void) { __WFI(); }\n#endif\n",
            "#if 1\nvoid f(void) { hyp_vct_wait(); }\n#else\nvoid f(void) { __WFI(); }\n#endif\n",
        ),
        Sample(
            "#if X\nvoid f(void) { __WFI(); }\n#else\nvoid f(void) { __WFI(); }\n#endif\n",
            "#if X\nvoid f(void) { hyp_vct_wait(); }\n#else\nvoid f(void) { hyp_vct_wait(); }\n"
            "#endif\n",
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Whatever it is, unless all arms are wanted."""
        for site in () if unit.has_all_arms else unit.pending():
            never = next(filter(_never_holds, site.conditions), None)
            if never is not None:
                yield self.left(site, f"in an arm of #if that no build has: {never}")


def _never_holds(condition: str) -> bool:
    return condition_value(condition, _unknown, _unknown, _unknown) is False


def _unknown(_name: bytes) -> None:
    """Any name may mean anything."""
