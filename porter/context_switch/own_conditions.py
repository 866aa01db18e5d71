"""Conditions of the assemblers' own as conditions of the preprocessor, which C has too.

`.if`, IF and `:DEF:` say what is assembled. What asks for nothing but constants of the file
(`.equ`, EQU), for definitions and for an FPU is written again as `#if`, and such a constant as
`#define`, each on its line. Other conditions stay: what decides them isn't known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from porter.context_switch.expression import GNU, C, language_of, rewritten
from porter.context_switch.result import NotTranscribable
from porter.source.asm_text import Dialect, blank_comments, dialect_of

_INTEGER = r"(?:0[xX][0-9A-Fa-f]+|\d+)"
_CONSTANTS = {
    "gnu": re.compile(rf"[ \t]*\.(?:equ|set|equiv)[ \t]+(\w+)[ \t]*,[ \t]*({_INTEGER})[ \t]*"),
    "armasm": re.compile(
        rf"(\w+)[ \t]+(?:EQU|SET|SETA|DEFINE)[ \t]+({_INTEGER})[ \t]*", re.IGNORECASE
    ),
}
_DEFINES = {  # with whatever value
    "gnu": re.compile(r"[ \t]*(?:\.(?:equ|set|equiv)[ \t]+(\w+)|(\w+)[ \t]*=(?!=)|(\w+):)"),
    "armasm": re.compile(r"(\w+)\b|[ \t]+GBL[ALS][ \t]+(\w+)", re.IGNORECASE),
}
_WORDS = {
    "gnu": (r"[ \t]*\.if[ \t(]", r"[ \t]*\.elseif[ \t(]", r"[ \t]*\.else\b", r"[ \t]*\.endif\b"),
    "armasm": (
        r"[ \t]+(?:IF\b|\[)",
        r"[ \t]+(?:ELIF|ELSEIF)\b",
        r"[ \t]+(?:ELSE\b|\|)",
        r"[ \t]+(?:ENDIF\b|\])",
    ),
}
_OTHER_IF = re.compile(r"[ \t]*\.if\w+")
_WORD = re.compile(r"[ \t]*(?:\.?\w+|\[|\]|\|)")
_FPU = r'\(?\{FPU\}[ \t]*==?[ \t]*"(?!SoftVFP)[^"]+"\)?'
_HERE = "defined(__ARM_FP)"
_REWRITTEN = (  # in this order
    (re.compile(r'\{FPU\}[ \t]*(?:!=|<>|/=)[ \t]*"SoftVFP"', re.IGNORECASE), _HERE),
    (re.compile(rf"{_FPU}(?:[ \t]*\|\|[ \t]*{_FPU})+", re.IGNORECASE), _HERE),  # any of several
    (re.compile(r"\{TARGET_FPU_VFP\}(?:[ \t]*==?[ \t]*\{TRUE\})?", re.IGNORECASE), _HERE),
    (re.compile(r"(:LNOT:|!)[ \t]*:DEF:[ \t]*\|?(\w+)\|?", re.IGNORECASE), r"!defined(\2)"),
    (re.compile(r":DEF:[ \t]*\|?(\w+)\|?", re.IGNORECASE), r"defined(\1)"),
)
_EXPRESSION = re.compile(r"[\w()<>=!&|+*\s-]+")
_DEFINED = re.compile(r"defined\((\w+)\)")
_NAME = re.compile(r"\b[A-Za-z_]\w*")
_IAR_FPU = re.compile(r"\b(?:__ARMVFP__|__TARGET_FPU_VFP)\b")
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)(.*)")


@dataclass
class _Group:
    """From an IF to its ENDIF: lines with what they become; `asked`: constants that decide."""

    lines: dict[int, str] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    known: bool = True


def in_c(data: bytes) -> bytes:
    """The text of an assembler file with as many lines, conditions that are understood as `#if`."""
    return "\n".join(_File(data).lines).encode("latin-1")


def body_in_c(data: bytes) -> bytes:
    """The same for the body of an assembler function in a C file of Arm's compiler. What :DEF: asks
    for there is no macro of C, and constants of the assembler are none of C: what asks for the FPU
    alone is understood."""
    return "\n".join(_File(data, in_function=True).lines).encode("latin-1")


class _File:
    """`lines` is the text as rewritten; `in_function`: it is the body of a function in a C file."""

    def __init__(self, data: bytes, in_function: bool = False) -> None:
        self._in_function = in_function
        self._dialect: Dialect = "armasm" if in_function else dialect_of(data)
        self.lines = data.decode("latin-1").split("\n")
        clean = blank_comments(data, self._dialect)
        self._clean = clean.decode("latin-1").split("\n")
        self._language = GNU if self._dialect == "gnu" else language_of(clean)
        self._constants = self._find_constants()
        self._asked: set[str] = set()
        if self._dialect == "armasm":
            self._ask_by_preprocessor()
        self._rewrite_conditions()
        for number, (name, value) in self._definitions.items():
            if name in self._asked:
                self.lines[number] = f"#define {name} {value}"

    def _find_constants(self) -> set[str]:
        """Names that are integers wherever they are defined."""
        self._definitions: dict[int, tuple[str, str]] = {}
        self._own: set[str] = set()
        others = set()
        for number, line in enumerate(self._clean):
            line = line.rstrip("\r")
            if constant := _CONSTANTS[self._dialect].fullmatch(line):
                self._definitions[number] = constant.group(1), constant.group(2)
            elif defined := _DEFINES[self._dialect].match(line):
                others |= {name for name in defined.groups() if name}
        constants = {name for name, _ in self._definitions.values()}
        self._own = constants | others
        return constants - others

    def _ask_by_preprocessor(self) -> None:
        """IAR's: its authors ask `#if` for what EQU defines, and for the FPU in its own words."""
        for number, line in enumerate(self.lines):
            directive = _DIRECTIVE.match(line)
            if directive is None:
                continue
            self.lines[number] = _IAR_FPU.sub("__ARM_FP", line)
            if directive.group(1) in ("if", "elif"):
                self._asked |= self._constants & set(_NAME.findall(directive.group(2)))

    def _rewrite_conditions(self) -> None:
        opens, elses, otherwise, ends = (
            re.compile(word, re.IGNORECASE) for word in _WORDS[self._dialect]
        )
        groups: list[_Group] = []
        done: list[_Group] = []
        for number, line in enumerate(self._clean):
            if opens.match(line) or (self._dialect == "gnu" and _OTHER_IF.match(line)):
                groups.append(_Group())
                self._condition(groups[-1], number, "#if" if opens.match(line) else "")
            elif groups and elses.match(line):
                self._condition(groups[-1], number, "#elif")
            elif groups and otherwise.match(line):
                groups[-1].lines[number] = "#else"
            elif groups and ends.match(line):
                groups[-1].lines[number] = "#endif"
                done.append(groups.pop())
        for group in done:
            if group.known:
                self._asked |= group.asked
                for number, text in group.lines.items():
                    self.lines[number] = text

    def _condition(self, group: _Group, number: int, word: str) -> None:
        """One that isn't understood makes the group unknown."""
        text = _WORD.sub("", self._clean[number], count=1).strip()
        if self._dialect == "armasm":
            for pattern, replacement in _REWRITTEN:
                text = pattern.sub(replacement, text)
        try:
            text = rewritten(text, self._language, C, condition=True)
        except NotTranscribable:
            group.known = False
        names = _names(text)
        group.known &= bool(word) and _EXPRESSION.fullmatch(text) is not None
        group.known &= names <= self._constants
        defined = set(_DEFINED.findall(text))
        group.known &= not self._own & defined
        if self._in_function:
            group.known &= not names and defined <= {"__ARM_FP"}
        group.asked |= names
        group.lines[number] = f"{word} {text}"


def _names(text: str) -> set[str]:
    """What a condition asks the values of."""
    found: Iterable[str] = _NAME.findall(_DEFINED.sub("1", text))
    return set(found)
