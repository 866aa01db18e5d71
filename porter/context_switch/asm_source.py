"""Where functions stand in an assembler source file, by lines, directives and comments included."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from porter.context_switch.result import NotTranscribable
from porter.source.asm_text import Dialect, blank_comments, dialect_of

# What an author puts in front of a function's label and behind its last instruction.
_FRONT = re.compile(
    rb"\s*(?:\.?(?:thumb_func|type|global|globl|weak|export|public|pubweak|align|alignrom|balign"
    rb"|p2align)|\.fnstart|\.cantunwind)\b\s*([\w.$]*(?:\s*,\s*[\w.$]+)*)",
    re.IGNORECASE,
)
_TYPE = re.compile(rb"\s*\.type\b", re.IGNORECASE)
_NAMELESS = re.compile(
    rb"\s*(?:\.thumb_func|\.fnstart|\.cantunwind|\.?\w*align\w*)\b", re.IGNORECASE
)
_BACK = re.compile(rb"\s*(?:\.size|\.fnend|endp|endfunc|\.endfunc)\b", re.IGNORECASE)
_OUTSIDE = re.compile(
    rb"\s*(?:\.(?:section|text|data|bss|syntax|thumb|arm|code|cpu|arch|fpu|file|equ|set|extern|include"
    rb"|macro|endm|end|eabi_attribute|comm|lcomm|local|pushsection|popsection|previous)"
    rb"|end|area|section|rseg|import|extern|preserve8|require8|thumb|equ|get|include)\b",
    re.IGNORECASE,
)
# What may stand between a label and its first instruction and says nothing of either.
_BETWEEN = re.compile(rb"\s+(?:import|extern|if|else|endif|\.cfi_\w+)\b", re.IGNORECASE)
_NUMBER = re.compile(rb"\s*\d+\w*\s*:?\s*\Z")  # a local label alone
_MACRO = re.compile(rb"\s*\.macro\b", re.IGNORECASE)
_ENDM = re.compile(rb"\s*\.endm\b", re.IGNORECASE)
_UNWINDING = re.compile(rb"\s*\.cfi_(startproc|endproc)\b", re.IGNORECASE)
_REPEATS = re.compile(rb"\s*\.(?:irpc?|rept)\b", re.IGNORECASE)
_SECTION = re.compile(
    rb"\s*(?:(\.(?:text|data|bss)|\.popsection|\.previous)\b"
    rb"|(\.pushsection|\.?section|area|rseg)\s+[|\"]?([^\s,:|\"]+))",
    re.IGNORECASE,
)
_EXPORT = re.compile(rb"(?m)^[ \t]*(\.globa?l|export|public)\b", re.IGNORECASE)
_EQUATED = re.compile(  # of GNU's assembler: no other has names of places in other files
    rb"\s*(?:\.(?:set|equ|thumb_set)\s+([\w.$]+)\s*,|([\w.$]+)\s*=)\s*[\w.$]+\s*;?\s*",
    re.IGNORECASE,
)
_LABEL = re.compile(rb"\s*([A-Za-z_.$][\w.$]*)\s*:|([A-Za-z_][\w]*)(?=\s|\Z)")
_DIRECTIVE = re.compile(  # a comment may begin like one
    rb"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif|define|undef|include|error|warning|pragma)\b"
)


class _Sections:
    """Which section the assembler is in."""

    def __init__(self) -> None:
        self._before: list[bytes] = []
        self._here = self._previous = b".text"

    def behind(self, code: bytes) -> bytes:
        """The one behind another line."""
        for statement in code.split(b";"):
            if match := _SECTION.match(statement):
                self._switch((match.group(1) or match.group(2)).lower(), match.group(3))
        return self._here

    def _switch(self, word: bytes, name: bytes | None) -> None:
        here = self._here
        if word == b".pushsection":
            self._before.append(here)
        if word == b".popsection":
            self._here = self._before.pop() if self._before else here
        elif word == b".previous":
            self._here = self._previous
        else:
            self._here = name or word
        self._previous = here


@dataclass(frozen=True)
class _Line:
    start: int
    end: int
    code: bytes  # without comments; empty for preprocessor lines too
    directive: bytes  # the preprocessor's word
    section: bytes  # in which it stands


class AsmSource:
    """One file as it is on disk. `expanded`: what the preprocessor makes of its lines, from 1; of
    those in an arm that isn't built it makes nothing."""

    def __init__(self, data: bytes, expanded: Mapping[int, bytes] | None = None) -> None:
        self.data = data
        self.dialect = dialect_of(data)
        self.eol = b"\r\n" if b"\r\n" in data else b"\n"
        clean = blank_comments(data, self.dialect)
        export = _EXPORT.search(clean)
        self._export = export.group(1) if export else b".global"
        self._lines: list[_Line] = []
        sections = _Sections()
        built = _lines_of(expanded or {}, self.dialect)
        start, in_macro = 0, False
        for number, line in enumerate(data.splitlines(keepends=True), 1):
            end = start + len(line)
            directive = _DIRECTIVE.match(data, start, end)
            code = built.get(number) or clean[start:end].rstrip()
            word = directive.group(1) if directive and not code.strip() else b""
            in_macro = (in_macro or _MACRO.match(code) is not None) and not _ENDM.match(code)
            code = b"" if in_macro else code  # its body belongs to no function
            code = code if code.strip() else b""
            self._lines.append(_Line(start, end, code, word, sections.behind(code)))
            start = end

    def comment(self, text: str) -> bytes:
        """A line that stands for a function."""
        line = f"; {text}" if self.dialect == "armasm" else f"/* {text} */"
        return line.encode("latin-1") + self.eol

    def export(self, name: str) -> bytes:
        """A line that makes a name known to other files."""
        return b"    " + self._export + b" " + name.encode("latin-1") + self.eol

    def equated(self, name: str) -> Iterator[tuple[int, int]]:
        """The lines that say nothing but what a name is another one of."""
        for line in self._lines:
            match = _EQUATED.fullmatch(line.code)
            if match is not None and (match[1] or match[2]) == name.encode("latin-1"):
                yield line.start, line.end

    def half_of_unwinding(self, start: int, end: int) -> bytes:
        """What [start, end) opens or closes of a procedure that the unwinder sees: the rest of the
        file has the other half."""
        open_before = is_open = 0
        for line in self._lines:
            if start <= line.start < end and (found := _UNWINDING.match(line.code)):
                is_open += 1 if found.group(1).lower() == b"startproc" else -1
                open_before = max(open_before, -is_open)
        ends, starts = open_before, is_open + open_before
        lines = [b"    .cfi_endproc"] * ends + [b"    .cfi_startproc"] * starts
        return b"".join(line + self.eol for line in lines)

    def ranges(self, first: Mapping[str, int]) -> dict[str, tuple[int, int]]:
        """[start, end) of each function, by the line (from 1) of its first instruction.

        A function's text ends with the last line of code or data that its section has in front of
        the next one's.
        """
        names = sorted(first, key=lambda name: first[name])
        starts = [self._start(first[name] - 1, name) for name in names]
        found = {}
        limits = [*starts, len(self._lines)][1:]
        for name, start, limit in zip(names, starts, limits, strict=True):
            end = self._end(start, limit)
            found[name] = (self._lines[start].start, self._lines[end - 1].end)
        return found

    def start_of(self, line: int, name: str) -> int:
        """Where the text begins, its label included, whose first instruction is on a line."""
        return self._lines[self._start(line - 1, name)].start

    def _start(self, index: int, name: str) -> int:
        """The first line that belongs to a function: its label, and what announces it."""
        called = re.compile(rb"(?<![\w.$])" + re.escape(name.encode("latin-1")) + rb"(?![\w.$])")
        names = self._labels(index)
        top = index
        place = index
        while place > 0:
            place -= 1
            line = self._lines[place]
            if line.directive in (b"endif", b"else", b"elif") and not names:
                place = self._opening(place)  # arms between label and code that aren't built
                continue
            if line.directive.startswith(b"if") and not names:
                continue
            if _NUMBER.match(line.code) or (not names and _BETWEEN.match(line.code)):
                continue
            if line.directive or _BACK.match(line.code):
                break
            if label := self._label(line):
                names.add(label)
                top = place
            elif not names and called.search(line.code):  # a macro of the assembler's makes it
                names.add(name.encode("latin-1"))
                top = place
            elif self._announces(line, names) or (not names and _REPEATS.match(line.code)):
                top = place
            elif line.code and (names or not _FRONT.match(line.code)):
                break
        return top

    def _opening(self, index: int) -> int:
        """The line of the #if to which an #endif, #else or #elif belongs."""
        depth = 0 if self._lines[index].directive == b"endif" else 1
        for place in range(index, -1, -1):
            word = self._lines[place].directive
            depth += (word == b"endif") - word.startswith(b"if")
            if depth == 0:
                return place
        return index

    def _announces(self, line: _Line, names: set[bytes]) -> bool:
        front = _FRONT.match(line.code)
        if front is None:
            return False
        if _NAMELESS.match(line.code) is not None:
            return True
        announced = [name.strip() for name in front.group(1).split(b",")]
        if _TYPE.match(line.code):
            return announced[0] in names
        return names.issuperset(announced)  # a list that has others too stays for them

    def _end(self, start: int, limit: int) -> int:
        last = start
        for place in range(start, limit):
            line = self._lines[place]
            inside = line.code and line.section == self._lines[start].section
            if inside and not _OUTSIDE.match(line.code) and not self._foreign(line, start):
                last = place
        last += 1
        while self._open(start, last):  # an #endif behind the last instruction
            if last >= len(self._lines) or self._lines[last].code:
                raise NotTranscribable("an #if begins or ends in the middle of the function")
            last += 1
        return last

    def _foreign(self, line: _Line, start: int) -> bool:
        front = _FRONT.match(line.code)
        return front is not None and not self._announces(line, self._labels(start))

    def _open(self, start: int, end: int) -> bool:
        depth = 0
        for line in self._lines[start:end]:
            depth += line.directive.startswith(b"if")
            depth -= line.directive == b"endif"
        return depth > 0

    def _labels(self, index: int) -> set[bytes]:
        label = self._label(self._lines[index])
        return {label} if label else set()

    def _label(self, line: _Line) -> bytes:
        for statement in line.code.split(b";"):
            match = _LABEL.match(statement)
            if match is None:
                continue
            if match.group(1) or (self.dialect != "gnu" and not _OUTSIDE.match(statement)):
                return match.group(1) or match.group(2)
        return b""


def _lines_of(expanded: Mapping[int, bytes], dialect: Dialect) -> dict[int, bytes]:
    """Lines that have something else than comments."""
    text = b"\n".join(expanded.get(number, b"") for number in range(max(expanded, default=0) + 1))
    lines = blank_comments(text, dialect).split(b"\n")
    return {number: line.rstrip() for number, line in enumerate(lines) if line.strip()}
