"""Wrong transcriptions, made from a right one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

REGISTERS = re.compile(
    r"\b(R(?:[4-9]|1[01])|LR|SP|S(?:1[6-9]|2\d|3[01])|[XF](?:[1-9]|[12]\d|3[01])|PC|MSTATUS|FCSR)\b"
)
LOCALS = re.compile(r"\b(sp|lr|r(?:\d|1[0-2])(?:_\d+)?|x\d+(?:_\d+)?)\b")
NUMBER = re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+)[uU]?\b")
OPERATORS = {" += ": " -= ", " -= ": " += ", " == ": " != ", " != ": " == ", " & ": " | ",
             " | ": " & ", " + ": " - ", " - ": " + ", "++": "--"}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A changed function body and what was done to it."""

    what: str
    body: str


def mutants(body: str) -> list[Mutant]:
    """Every change that is made of a function body, each once."""
    lines = body.splitlines()
    found: dict[str, Mutant] = {}
    for what, changed in _changes(lines):
        text = "\n".join(changed)
        if text != body:
            found.setdefault(text, Mutant(what, text))
    return list(found.values())


def _changes(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    declares = re.compile(r"(uint32_t|extern|void)\b")
    statements = [
        number
        for number, line in enumerate(lines)
        if (code := _code(line)).endswith(";") and not declares.match(code)
    ]
    for place, number in enumerate(statements):
        line = lines[number]
        yield f"delete '{_code(line)}'", _with(lines, number, "")
        yield f"twice '{_code(line)}'", _with(lines, number, f"{line}\n{_code(line)}")
        for later in statements[place + 1 :]:
            swapped = list(lines)
            swapped[number], swapped[later] = lines[later], line
            yield f"swap '{_code(line)}' and '{_code(lines[later])}'", swapped
            moved = _with(_with(lines, number, ""), later, f"{lines[later]}\n{_code(line)}")
            yield f"'{_code(line)}' behind '{_code(lines[later])}'", moved
    for number, line in enumerate(lines):
        for what, changed in _in_line(line, lines):
            yield what, _with(lines, number, changed)
    yield from _everywhere(lines)


def _in_line(line: str, lines: list[str]) -> Iterator[tuple[str, str]]:
    code = _code(line)
    names = sorted({m[1] for text in lines for m in LOCALS.finditer(_code(text))})
    for match in REGISTERS.finditer(code):
        for other in _others(match[1]):
            yield f"{match[1]} as {other} in '{code}'", _replaced(code, match, other)
    for match in LOCALS.finditer(code):
        for other in names:
            yield f"{match[1]} as {other} in '{code}'", _replaced(code, match, other)
    for match in NUMBER.finditer(code):
        value = int(match[1], 0)
        for other in {value + 1, value + 4, value ^ 0x10, value << 1, 0} - {value}:
            yield f"{match[1]} as {other:#x} in '{code}'", _replaced(code, match, f"{other:#x}")
    for operator, other in OPERATORS.items():
        if operator in code:
            yield f"{other.strip()} in '{code}'", code.replace(operator, other, 1)
    if code.startswith("if"):
        condition, brace = code[2:].strip().removesuffix("{").strip(), "{" * code.endswith("{")
        yield f"not {condition}", f"if (!{condition}) {brace}"
        yield f"never {condition}", f"if (0) {brace}"
        yield f"always {condition}", f"if (1) {brace}"


def _others(register: str) -> tuple[str, ...]:
    """Registers that an author may take for this one."""
    if register[0] == "F":
        return ("F0", "F1", "F30", "FCSR")
    if register[0] in "XPM":
        return ("X1", "X2", "X5", "X30", "PC", "MSTATUS")
    every = ("R4", "R5", "R11", "LR", "SP", "S16", "S17")
    return every if register in ("LR", "SP") else tuple(it for it in every if it[0] == register[0])


def _everywhere(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Mistakes that save and restore share, so that the frame still fits itself."""
    text = "\n".join(map(_code, lines))
    for one, other in (("R4", "R5"), ("R4, LR", "R4, R11"), ("R11", "R10"), ("0x10", "0x20")):
        yield f"{one} as {other} everywhere", re.sub(rf"\b{one}\b", other, text).splitlines()
    yield "no FPU registers", re.sub(r"USR_V\w+\([^)]*\);", ";", text).splitlines()
    yield "FPU registers loaded twice", text.replace("USR_VSTMDB", "USR_VLDMIA").splitlines()


def _with(lines: list[str], number: int, text: str) -> list[str]:
    return [*lines[:number], text, *lines[number + 1 :]]


def _replaced(code: str, match: re.Match[str], other: str) -> str:
    return code[: match.start(1)] + other + code[match.end(1) :]


def _code(line: str) -> str:
    return line.split("/*")[0].strip()
