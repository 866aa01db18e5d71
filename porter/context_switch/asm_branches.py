"""Where assembler text goes and which addresses it takes, by its words alone.

Of a function that was assembled the instructions say it (`calls_made`). This is for asm statements
in C, whose operands only the compiler knows, and for files that can't be assembled.
"""

from __future__ import annotations

import re

from porter.context_switch.calls import ANYWHERE, NOWHERE, Calls, all_of

_CONDITION = "(?:eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)"
_BRANCH = re.compile(
    rf"(?<![\w.%$])(?:b(?:lx?|xns|lxns|x)?{_CONDITION}?(?:\.[nw])?\s+|cbn?z\s+[^\s,]+\s*,\s*"
    r"|(?:call|tail|jalr?|jr?)\s+(?:(?:ra|zero|x[01])\s*,\s*)?)([^\s,;@/]+)",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_REGISTER = re.compile(r"%.*|r\d+|x\d+|[ast]\d+|lr|ip|ra|fp|s[bl]|\[.*", re.IGNORECASE)
_BACK = frozenset({"lr", "ra", "r14", "x1"})
_INSIDE = re.compile(r"\d+[bf]|\..*|#.*", re.IGNORECASE)
_LABEL = re.compile(r"^\s*([A-Za-z_$.][\w$.]*)\s*:", re.MULTILINE)
_TO_PC = re.compile(
    r"\b(?:ldr|mov|add|sub)\w*(?:\.[nw])?\s+pc\s*,(?!\s*lr\b)|\btb[bh]\b", re.IGNORECASE
)
_POPS_PC = re.compile(r"\b(?:pop|ldm\w*)\b[^\n;]*\{[^}]*(?:\bpc\b|-\s*r15\b)", re.IGNORECASE)
_PUSHES_LR = re.compile(r"\b(?:push|stm\w*)\b[^\n;]*\{[^}]*(?:\blr\b|-\s*r1[45]\b)", re.IGNORECASE)
_ADDRESSES = re.compile(
    r"=\s*([A-Za-z_]\w*)|#?:(?:lower16|upper16)\s*:\s*(\w+)|\badrl?(?:\.[nw])?\s+\w+\s*,\s*(\w+)"
    r"|\b([A-Za-z_]\w*)\s*-\s*\(?\s*(?:\.(?!\w)|\d+[bf]\b)"
    r"|\bl?la\s+\w+\s*,\s*(\w+)|%(?:hi|lo|pcrel_hi)\s*\(\s*(\w+)",
    re.IGNORECASE,
)
_WORDS = re.compile(r"(?:\.(?:word|long|4byte|int)|\b(?:DCD|DC32))\s+([^\n;@]*)", re.IGNORECASE)


def branches_in(text: str) -> Calls:
    """Where it goes; a label of its own is inside."""
    labels = set(_LABEL.findall(text))
    found = all_of(_to(match.group(1), labels) for match in _BRANCH.finditer(text))
    pops = _POPS_PC.search(text) and not _PUSHES_LR.search(text)
    return found | ANYWHERE if pops or _TO_PC.search(text) else found


def _to(target: str, labels: set[str]) -> Calls:
    if target in labels or target.lower() in _BACK or _INSIDE.fullmatch(target):
        return NOWHERE
    if _REGISTER.fullmatch(target):
        return ANYWHERE
    name = _NAME.match(target)
    return ANYWHERE if name is None else Calls(frozenset({name.group()}))


def addresses_in(text: str) -> set[str]:
    """Names of which it has the address."""
    found = {name for match in _ADDRESSES.finditer(text) for name in match.groups() if name}
    return found | {name for words in _WORDS.findall(text) for name in _NAME.findall(words)}
