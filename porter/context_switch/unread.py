"""Functions of C that can't be read, and words of asm in others by which nobody can tell what it
does.

Whatever is asked of asm statements is asked of their words: which register, mask or wait they name.
That says nothing of an instruction that is given as a number, or whose words the assembler puts
together: from an operand in the middle of a name, by a macro or another name of a register.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from porter.context_switch.asm_statements import template_of, text_in
from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import ASM
from porter.source.c_tree import Node, one_line, walk

_COMMENT = re.compile(r"@[^\n]*|//[^\n]*|/\*.*?\*/|^\s*#[^\n]*", re.DOTALL | re.MULTILINE)
_LABELS = re.compile(r"\s*(?:[\w.$]+(?:%=)?[\w.$]*:\s*)*")
# Operands whose text is a part of a word or of a list's span: `r%c1`, `{%0-%1}`.
_JOINED = re.compile(
    r"[\w.$\\](?=%(?:[A-Za-z]?\d|[A-Za-z]?\[))|%[A-Za-z]?(?:\d+|\[\w+\])(?=[A-Za-z_$])"
    r"|\{[^}]*-\s*%|\{[^}]*%[^,}]*-"
)
_CSR = re.compile(r"\bcsrr\w*\s+[^,;\n]+,\s*%|\bcsr[wsc]i?\s+%[^,;\n]+,", re.IGNORECASE)
_MADE = re.compile(
    rb"\.macro\s+([\w.$]+)|([\w.$]+)[ \t]+\.(?:req|dn|qn)\b"
    rb"|\.(?:set|equ|equiv|eqv|thumb_set)\s+([\w.$]+)",
    re.IGNORECASE,
)
_INCLUDES = re.compile(rb"\.include\b", re.IGNORECASE)
_WORDS = re.compile(rb"[\w.$]+")
# Directives that make no instruction and no name of one; words are addresses.
_PLAIN = re.compile(
    r"\.(?:syntax|thumb|arm|code|thumb_func|(?:b|p2)?align|ltorg|pool|global|globl|type|size|cpu"
    r"|arch|arch_extension|fpu|text|section|pushsection|popsection|previous|extern|weak|hidden|local"
    r"|func|endfunc|fnstart|fnend|cantunwind|save|setfp|pad|option|eabi_attribute|cfi_\w+)\b"
    r"|\.(?:word|long|4byte|int)(?:[\s,]+[A-Za-z_.$][\w.$]*)+$",
    re.IGNORECASE,
)


class Unread:
    """Looks at functions of C, and at asm statements in them."""

    def __init__(self, units: CUnits) -> None:
        self._units = units

    def home_of(self, name: str) -> Path | None:
        """The file of a function that the compiler alone can read; None for any other."""
        return self._units.unread(name.encode("latin-1"))

    def why(self, definition: Node) -> str:
        """What a function has of it, for a person; "" for nothing."""
        for statement in statements_in(definition):
            unit = self._units.templates(self._units.file_of(statement))
            if what := unread(statement, unit):
                return what
        return ""


def unread(statement: Node, unit: bytes) -> str:
    """What an asm statement has of it, as the end of a sentence about its function. `unit`: what
    all asm of its file gives the assembler."""
    what = _hidden(statement, unit.lower())
    return f"has asm with {what}, '{one_line(statement)}'" if what else ""


def _hidden(statement: Node, unit: bytes) -> str:
    code = statement.child_by_field_name("assembly_code")
    types = set() if code is None else {it.type for it in walk(code)}
    if "identifier" in types:
        return "a macro that the preprocessor can't be asked for"
    if "raw_string_literal" in types:
        return "a raw string"
    text = text_in(statement)
    if any(line.startswith(".") and not _PLAIN.match(line) for line in _lines(text)):
        return "words of the assembler's that may stand for any instruction"
    if _JOINED.search(text):
        return "an operand as a part of a word or list"
    if _CSR.search(text):
        return "a control register that an operand names"
    made = {name for names in _MADE.findall(unit) for name in names if name}
    if not made.isdisjoint(_WORDS.findall(template_of(statement).lower())):
        return "a name that other asm defines"
    return "macros that another file may have" if _INCLUDES.search(unit) else ""


def statements_in(definition: Node) -> Iterator[Node]:
    """Asm statements of a function, without names of variables' registers."""
    for node in walk(definition):
        if node.type in ASM and not is_name(node):
            yield node


def is_name(asm: Node) -> bool:
    """Whether it says what a variable or a function is called, or in which register it is."""
    around = asm.parent
    return around is not None and around.type.endswith(("declaration", "declarator"))


def _lines(text: str) -> Iterator[str]:
    """Instructions and directives, without labels."""
    for line in re.split(r"[;\n]", _COMMENT.sub(" ", text)):
        yield _LABELS.sub("", line, count=1).strip()
