"""Where the lines of C for an asm statement would differ from it: operands and their order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from porter.asm.symbols import NotUnderstood
from porter.asm.translate import Known
from porter.source.c_lexer import lex_fragment
from porter.source.c_tree import parse_expression, walk
from porter.source.inline_asm import Operand
from porter.source.token_tools import split_arguments

_SIDE_EFFECTS = frozenset({"assignment_expression", "update_expression", "call_expression"})


def as_argument(text: bytes) -> str:
    """An operand's C text where a comma would end it."""
    whole = text.decode("latin-1")
    return f"({whole})" if len(split_arguments(lex_fragment(text))) > 1 else whole


def refuse_overwritten(lines: Sequence[str], outputs: Iterable[str]) -> None:
    """An asm statement reads its operands before it writes its outputs; lines of C don't."""
    for output in outputs:
        at = next((n for n, line in enumerate(lines) if line.startswith(f"{output} = ")), None)
        name = output.strip("() \t")
        for line in lines[at + 1 :] if at is not None else ():
            if re.search(_word(name), line):
                raise NotUnderstood(f"{output} is exchanged: it is set before '{line}' reads it")


def refuse_side_effects(lines: Sequence[str], operands: Iterable[Operand], known: Known) -> None:
    """An asm statement evaluates each of its operands once."""
    text = "; ".join(lines)
    for operand, times in Counter(it.text.decode("latin-1") for it in operands).items():
        if not _has_side_effects(operand) or known(operand) is not None:
            continue
        if len(re.findall(_word(operand), text)) != times:
            raise NotUnderstood(f"the operand {operand} may have an effect, which must happen once")


def _has_side_effects(text: str) -> bool:
    node = parse_expression(text.encode("latin-1"))
    return node is not None and any(it.type in _SIDE_EFFECTS for it in walk(node))


def _word(text: str) -> str:
    before = r"(?<![\w.>])" if re.match(r"\w", text) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", text) else ""
    return before + re.escape(text) + after
