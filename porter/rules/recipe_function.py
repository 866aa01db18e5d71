"""Functions of an RTOS that its recipe says the port of."""

from __future__ import annotations

from collections.abc import Iterator

from porter.context_switch.recipe import NewBody, new_body
from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.rules.rule import Rule, Sample
from porter.sites.context import Context
from porter.source.edit import Edit


class RecipeFunction(Rule):
    """A function that works on hardware by a protocol of the RTOS: rtos-patches has its body."""

    id = "recipe-function"
    finds = "a function that a recipe of this RTOS names, with sites in it"
    becomes = "the body that the recipe gives it"
    why = "what such a function is for can't be told from its instructions"
    samples = (
        Sample(
            "extern void *pxCurrentTCB;\n"
            "#define LOAD (*(volatile unsigned *)0xE000E014)\n"
            "#define VALUE (*(volatile unsigned *)0xE000E018)\n"
            "void vPortSuppressTicksAndSleep(unsigned long xExpectedIdleTime)\n{\n"
            '    LOAD = VALUE + xExpectedIdleTime * 1000;\n    __asm volatile("wfi");\n}\n',
            "extern void *pxCurrentTCB;\n"
            "#define LOAD (*(volatile unsigned *)0xE000E014)\n"
            "#define VALUE (*(volatile unsigned *)0xE000E018)\n"
            "void vPortSuppressTicksAndSleep(unsigned long xExpectedIdleTime)\n{\n"
            "    TickType_t xModifiableIdleTime = xExpectedIdleTime;\n\n"
            "    if( eTaskConfirmSleepModeStatus() != eAbortSleep )\n    {\n"
            "        configPRE_SLEEP_PROCESSING( xModifiableIdleTime );\n"
            "        if( xModifiableIdleTime > 0 )\n        {\n"
            "            hyp_vct_wait();\n        }\n"
            "        configPOST_SLEEP_PROCESSING( xExpectedIdleTime );\n    }\n}\n",
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """One verdict a function; the other sites in it are covered by the edit."""
        done: set[int] = set()
        for site in unit.pending():
            context = unit.context(site)
            if context is None or context.kind != "function":
                continue
            if not unit.is_compiled(site.start, site.end):
                continue
            body = new_body(context.name, unit.file.data)
            if body is not None and context.root.id not in done:
                done.add(context.root.id)
                if (edit := _edit(unit, context, body)) is not None:
                    unit.rewritten_spans.append(edit)
                    yield self.rewritten(site, body.reason, edit, *_initializers(unit, body))


def _edit(unit: Unit, context: Context, new: NewBody) -> Edit | None:
    body = context.root.child_by_field_name("body")
    if body is None:
        return None
    start, end = context.start(body), context.end(body)
    line = unit.file.data.rfind(b"\n", 0, start) + 1
    front = unit.file.data[line:start]
    indent = front if not front.strip() else front[: len(front) - len(front.lstrip())]
    eol = b"\r\n" if b"\r\n" in unit.file.data else b"\n"
    lines = [indent + b"    " + text.encode("ascii") if text else b"" for text in new.lines]
    return Edit(start, end, eol.join([b"{", *lines, indent + b"}"]))


def _initializers(unit: Unit, new: NewBody) -> Iterator[Edit]:
    """What stands between the `=` and the `;` of a variable's definition."""
    tokens = unit.text.lexed.tokens
    for place, token in enumerate(tokens[:-1]):
        expression = new.initializers.get(token.text.decode("latin-1"))
        if expression is not None and tokens[place + 1].text == b"=":
            end = next((it for it in tokens[place:] if it.text == b";"), None)
            if end is not None:
                yield Edit(tokens[place + 2].start, end.start, expression.encode("ascii"))
