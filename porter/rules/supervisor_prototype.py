"""Functions of Arm's compiler that are supervisor calls: `void __svc(3) lock(void);`."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from porter.context_switch.result import DISPATCHES, TEMPLATES
from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.registers.intrinsics import SUPERVISOR, SUPERVISOR_BY_NUMBER
from porter.rules.rule import Rule, Sample
from porter.sites.site import Site, SiteKind
from porter.source.c_lexer import Token
from porter.source.edit import Edit
from porter.source.token_tools import matching
from porter.source.values import Number

_ENDS = frozenset({b";", b"}", b"{"})
_LINKAGE = frozenset({b"extern", b"static"})
_PLAIN = ([b"void"], [b"(", b"void", b")"]), ([b"void"], [b"(", b")"])
_HANDLERS = (
    "is a supervisor call, made by the compiler where it is called, and its handler reads the "
    f"arguments from the frame and leaves a result there; {TEMPLATES}/{DISPATCHES} shows what to "
    "write instead"
)


class SupervisorPrototype(Rule):
    """No call of such a function shows that it is one."""

    id = "supervisor-prototype"
    finds = "functions declared with __svc(n), __svc_indirect(n) and their older names"
    becomes = "an inline function that makes the same call by virt_svc(n)"
    why = "what is called is the instruction svc, which no machine takes, and no function"
    samples = (
        Sample(
            "void __svc(3) lock(void);\nvoid f(void) { lock(); }",
            "static inline void lock(void) { virt_svc(3); }\nvoid f(void) { lock(); }",
        ),
        Sample("int __svc(3) get(int n);\nvoid f(void) { get(1); }", "", escalates=True),
        Sample("void __svc_indirect(0) call(void);\nvoid f(void) { call(); }", "", escalates=True),
        Sample("#define CALL __svc_indirect(0)\nvoid CALL get(int n);", "", escalates=True),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Each declaration on its own."""
        for site in unit.pending(SiteKind.INTRINSIC):
            if site.what in SUPERVISOR:
                yield self._one(unit, site)

    def _one(self, unit: Unit, site: Site) -> Verdict:
        tokens = unit.text.lexed.tokens
        index = bisect_left(tokens, site.start, key=lambda it: it.start)
        if unit.region(site).name is None and site.what in SUPERVISOR_BY_NUMBER:
            edit = _as_function(unit, tokens, index)
            if edit is not None:
                return self.rewritten(site, "a call of the machine's own handler", edit)
        return self.escalated(site, f"what is declared with {site.what} {_HANDLERS}")


def _as_function(unit: Unit, tokens: Sequence[Token], index: int) -> Edit | None:
    """The declaration as a definition, where all it does is to make the call."""
    closing = matching(tokens, index + 1)
    first, last = index, index
    while first and tokens[first - 1].text not in _ENDS:
        first -= 1
    while last < len(tokens) and tokens[last].text not in _ENDS:
        last += 1
    if closing is None or last == len(tokens) or tokens[last].text != b";":
        return None
    start, end = tokens[first].start, tokens[last].end
    rest = [*tokens[first:index], *tokens[closing + 1 : last]]
    words = [it for it in rest if it.text not in _LINKAGE]
    names = [it for it in words if it.kind == "identifier" and it.text != b"void"]
    number = unit.text.evaluator.text(unit.file.data[tokens[index + 1].end : tokens[closing].start])
    if len(names) != 1 or not isinstance(number, Number):
        return None
    place = words.index(names[0])
    head, tail = ([it.text for it in part] for part in (words[:place], words[place + 1 :]))
    if (head, tail) not in _PLAIN or unit.text.lexed.directives_within(start, end):
        return None
    again = re.compile(rb"__s(?:vc|wi)\w*\s*\([^;{}]*\b%s\s*\(" % re.escape(names[0].text))
    if len(again.findall(unit.file.data)) > 1 or unit.other_files_have(again):
        return None  # C takes no second definition
    text = b"static inline void %s(void) { virt_svc(%d); }" % (names[0].text, number.value)
    return Edit(start, end, text)
