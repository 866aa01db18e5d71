"""What Arm's and IAR's tools call the presence of an FPU, in the words of GNU C.

Their assemblers test it by `IF {FPU} != "SoftVFP"` or by macros of their own. Both are rewritten to
`__ARM_FP`, which C has too, with every byte in its place. Other conditions stay: what decides them
isn't known here.
"""

from __future__ import annotations

import re

from porter.source.asm_text import dialect_of

_TEST = re.compile(
    rb"[ \t]+IF[ \t]*(?:\{FPU\}[ \t]*(?:!=|<>|/=)[ \t]*\"SoftVFP\""
    rb"|\{TARGET_FPU_VFP\}(?:[ \t]*==?[ \t]*\{TRUE\})?)[ \t]*(?:;.*)?",
    re.IGNORECASE,
)
_OPENS = re.compile(rb"[ \t]+(?:IF|\[)(?![\w$])", re.IGNORECASE)
_OTHERWISE = re.compile(rb"[ \t]+(?:ELSE|\|)[ \t]*(?:;.*)?", re.IGNORECASE)
_ENDS = re.compile(rb"[ \t]+(?:ENDIF|\])[ \t]*(?:;.*)?", re.IGNORECASE)
_MACRO = re.compile(rb"\b(?:__ARMVFP__|__TARGET_FPU_VFP)\b")
_HERE = b"__ARM_FP"


def in_c(data: bytes) -> bytes:
    """The text of an assembler file, as long as it was, with tests for an FPU as `#if`."""
    if dialect_of(data) == "gnu":
        return data
    known: list[bool] = []  # of the open IFs
    lines = data.split(b"\n")
    for number, line in enumerate(lines):
        text = line.rstrip(b"\r")
        directive = b""
        if text.lstrip().startswith(b"#"):
            lines[number] = _MACRO.sub(lambda match: _HERE.ljust(len(match.group())), line)
        elif _TEST.fullmatch(text):
            directive = b"#if defined(%s)" % _HERE
            known.append(len(directive) <= len(text))
        elif _OPENS.match(text):
            known.append(False)
        elif _OTHERWISE.fullmatch(text):
            directive = b"#else"
        elif _ENDS.fullmatch(text):
            directive = b"#endif"
        if directive and known and known[-1]:
            lines[number] = directive.ljust(len(text)) + line[len(text) :]
        if directive == b"#endif" and known:
            known.pop()
    return b"\n".join(lines)
