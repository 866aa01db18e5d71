"""Assembler text of Arm's and IAR's assemblers as GNU as reads it, line by line: an instruction
stays on its line. Instructions are the same in all three; labels, directives and operators aren't.
"""

from __future__ import annotations

import re

from porter.context_switch.code_labels import code_labels
from porter.context_switch.dialect_macros import PIECE, Macros, with_parameters
from porter.context_switch.expression import (
    ARM,
    GNU,
    Language,
    is_expression,
    language_of,
    rewritten,
)
from porter.context_switch.local_labels import LocalLabels
from porter.context_switch.own_conditions import in_c
from porter.context_switch.place import Place
from porter.context_switch.result import OWN_CONDITION, NotTranscribable
from porter.source.asm_text import blank_comments

PROLOGUE = ".syntax unified\n.thumb\n"
_STATEMENT = re.compile(
    r"(?:([A-Za-z_.|][\w.|$]*(?:\\@)?|\d[\d\\@]*(?=:))(:?)(?=[\s:]|$))?\s*(\S+)?\s*(.*?)\s*$"
)
# A parameter with something in front of it or behind it, `$name.Exit`: of Arm's, without a colon.
_MADE_LABEL = re.compile(
    r"(?!\\\w+:?(?:\s|$))(?=[^\s:]*\\\w)((?:[\w.$]|\\\w+|\\\(\)|\\@)+):?(?=\s|$)"
)
_GLOBAL = frozenset({"export", "public", "pubweak", "public_weak", "global"})
_EXTERNAL = frozenset({"import", "extern", "extrn", "extweak"})
_SECTION = frozenset({"area", "rseg", "section", "aseg", "aseggn"})
_NOTHING = frozenset(
    {"thumb", "code16", "code32", "code", "require8", "preserve8", "end", "endp", "endfunc", "keep",
     "program", "module", "name", "data", "require", "cfi", "ttl", "subt", "opt", "nofp", "proc",
     "aapcs", "attr", "assert", "call_graph_root", "entry", "frame", "macro", "rout",
     "section_type"}
)  # fmt: skip
_DATA = {
    "dcd": ".word", "dc32": ".word", "dcdu": ".word", "dcw": ".hword", "dc16": ".hword",
    "dcb": ".byte", "dc8": ".byte", "space": ".space", "ds8": ".space", "%": ".space",
    "dcq": ".quad", "dc64": ".quad", "fill": ".space", "even": ".balign 2",
    "dci": ".inst.n", "dci.n": ".inst.n", "dci.w": ".inst.w",
}  # fmt: skip
_EQUATE = frozenset({"equ", "set", "define", "seta", "setl", "=", "*"})
_NAMING = frozenset({"equ", "set", "define"})  # what is in front is a name, as "FRAME EQU 36"
_CONDITIONAL = frozenset(
    {"if", "else", "elif", "elseif", "endif", "ifdef", "ifndef", "[", "]", "|"}
)
_REPEATED = frozenset({"rept", "rep", "while", "wend", "get", "include"})
_MACRO_END = frozenset({"mend", "endm"})
# VSTMFD and the like, which GNU as knows of core registers only.
_STACK_FORM = re.compile(r"v(st|ld)m(fd|ea)(\w*)")
_DIRECTION = {"stfd": "db", "ldfd": "ia", "stea": "ia", "ldea": "db"}
_QUOTED = re.compile(r"(?<![\w)])\|([^|\s]+)\|")  # behind a value | is an operator
_ATTRIBUTE = re.compile(r"\[[^\]]*\]?|,\s*weak\b", re.IGNORECASE)  # behind a name
_WORDS = frozenset(
    {
        *("align", "alignrom", "alignram", "ltorg"),
        *(*_MACRO_END, *_GLOBAL, *_EXTERNAL, *_SECTION),
        *(*_NOTHING, *_DATA, *_CONDITIONAL, *_REPEATED),
    }
)


def gnu_text(data: bytes, place: Place, conditions: bool = True) -> bytes:
    """The text for GNU as, with as many lines; to be read behind PROLOGUE. `place` is where it
    begins; `conditions`: those that the preprocessor can decide become its own.

    NotTranscribable for the assembler's own conditions and macros: what they leave out is never
    looked at.
    """
    data = in_c(data) if conditions else data
    blanked = blank_comments(data, "armasm")
    clean, source = _lines(blanked), language_of(blanked)
    macros = Macros(clean, source)
    originals = _lines(data)
    labels = LocalLabels(
        [text if text.lstrip().startswith("#") else line
         for text, line in zip(originals, clean, strict=True)], macros.heads
    )  # fmt: skip
    typed = code_labels(clean, [macro.name for macro in macros.heads.values()])
    lines: list[str] = []
    carried = ""  # a label whose directive is on the next line
    for number, (original, line) in enumerate(zip(originals, clean, strict=True)):
        line = macros.bodies.get(number, line)
        if original.lstrip().startswith("#"):
            lines.append(original)
        elif line.rstrip().endswith("\\"):
            carried = line.rstrip().rstrip("\\")
            lines.append("")
        elif number in macros.heads:
            lines.append(macros.heads[number].head)
        else:
            whole = carried + line if carried and line.strip() else line
            with place.told(number):
                whole = labels.written(number, whole) if source is ARM else whole
                lines.append(_of_macro(whole, macros, source) or _line(whole, source, typed))
            carried = "" if line.strip() else carried
    return "\n".join(lines).encode("latin-1")


def _of_macro(line: str, macros: Macros, source: Language) -> str:
    """A line with the label that a macro was given, with one that it makes of what it was given, or
    one that gives it; "" for any other."""
    if match := re.match(r"\\(\w+)(?=\s|$)", line):
        return f"{match.group()} {_line(' ' + line[match.end() :].strip(), source)}"
    if match := _MADE_LABEL.match(with_parameters(line)):
        given = {f"\\{macro.label}" for macro in macros.heads.values() if macro.label}
        if given & set(re.findall(r"\\\w+", match[1])):
            raise NotTranscribable("a label is made of the one in front of the macro's call")
        rest = with_parameters(line)[match.end() :]
        return f"{match[1]}: {_line(' ' + rest.strip(), source)}"
    match = re.match(r"([A-Za-z_][\w.]*):?\s+([A-Za-z_]\w*)(?=\s|$)\s*(.*)", line)
    if match and (parameter := macros.label_of(match[2])):
        operands = _expressions(_operands(match[3]), source)
        return f"{match[2]} {operands}{', ' if operands else ''}{parameter}={match[1]}:"
    return ""


def _lines(data: bytes) -> list[str]:
    """Only LF ends one: other bytes that str would split at may stand in a comment."""
    return [line.decode("latin-1").rstrip("\r") for line in data.split(b"\n")]


def _line(line: str, source: Language, typed: frozenset[str] = frozenset()) -> str:
    """`typed`: labels that begin functions."""
    if not line.strip():
        return ""
    at_margin = not line[0].isspace()
    match = _STATEMENT.match(line if at_margin else f" {line.strip()}")
    label, colon, word, operands = "", "", "", ""
    if match is not None and at_margin:
        label, colon, word, operands = (part or "" for part in match.groups())
        is_named = operands and word.lower() in _NAMING
        if not colon and label.lower() in _WORDS and not is_named:
            label, word, operands = "", label, f"{word} {operands}".strip()
    else:
        word, _, operands = line.strip().partition(" ")
        if "\t" in word:
            word, _, operands = line.strip().partition("\t")
        if word.endswith(":"):
            name = _name(word[:-1])
            return f"{_type(name, typed)}{name}: {_line(' ' + operands, source)}"
    label = _name(label)
    kind = word.lower()
    told = "" if kind in ("proc", "function", *_EQUATE) else _type(label, typed)
    return told + _translated(label, kind, word, _operands(operands), source)


def _type(label: str, typed: frozenset[str]) -> str:
    """What tells GNU as that a label begins a function."""
    return f".thumb_func; .type {label}, %function; " if label in typed else ""


def _translated(label: str, kind: str, word: str, operands: str, source: Language) -> str:
    if kind in _CONDITIONAL or kind in _REPEATED:
        raise NotTranscribable(f"'{word}' {OWN_CONDITION}")
    if kind in _MACRO_END:
        return ".endm"
    if kind in _EQUATE and label:
        return f".equ {label}, {_expressions(operands, source)}"
    prefix = f"{label}: " if label else ""
    if kind in ("proc", "function"):
        return _type(label, frozenset({label})) + prefix
    if kind in _GLOBAL:
        is_weak = "weak" in kind or re.search(r"\[\s*weak\b", operands, re.IGNORECASE)
        return prefix + _declared(".weak" if is_weak else ".global", operands)
    if kind in _EXTERNAL:
        is_weak = kind == "extweak" or re.search(r"[\[,]\s*weak\b", operands, re.IGNORECASE)
        return prefix + _declared(".weak" if is_weak else ".extern", operands)
    if kind in _SECTION:
        code = re.search(r"\bcode\b|\.text", operands, re.IGNORECASE)
        return ".text" if code else ".data"
    if kind in _NOTHING or not kind:
        return prefix
    operands = _expressions(operands, source)
    if kind in ("align", "alignrom", "alignram"):
        unit = ".balign" if kind == "align" else ".p2align"
        return f"{prefix}{unit} {operands.split(',')[0] or '4'}"
    if kind == "ltorg":
        return f"{prefix}.ltorg"
    if kind in _DATA:
        return f"{prefix}{_DATA[kind]} {operands}"
    if kind in ("vpush", "vpop", "push", "pop") and not operands.startswith("{"):
        return f"{prefix}{word} {{{operands}}}"
    if match := _STACK_FORM.fullmatch(kind):
        word = f"v{match[1]}m{_DIRECTION[match[1] + match[2]]}{match[3]}"
    if kind == "mov32":
        register, _, value = operands.partition(",")
        return f"{prefix}ldr {register}, ={value.strip().lstrip('#')}"
    return f"{prefix}{with_parameters(word)} {operands}"


def _declared(word: str, operands: str) -> str:
    """A directive with the names that stand in a list, each with attributes behind it or not."""
    names = [it.split()[0] for it in _ATTRIBUTE.sub("", operands).split(",") if it.strip()]
    return f"{word} {', '.join(names)}" if names else ""


def _operands(text: str) -> str:
    text = with_parameters(text)
    return _QUOTED.sub(r"\1", text).strip()


def _expressions(operands: str, source: Language) -> str:
    """Operands with the values that their expressions have in the source's assembler."""

    def piece(match: re.Match[str]) -> str:
        lead, text = match.groups()
        if text is None or not is_expression(text, source):
            return match.group()
        return lead + rewritten(text, source, GNU, condition=False)

    return PIECE.sub(piece, operands)


def _name(text: str) -> str:
    return text.strip("|")
