"""Wrong transcriptions, made from a right one, and what each oracle says of them."""

from __future__ import annotations

import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from porter.context_switch.accept import with_runtime
from porter.context_switch.assemble import CompileError, compile_object
from porter.context_switch.proof import Model, NotProved
from porter.context_switch.proof.compare import compare
from porter.context_switch.proof.equivalence import equivalent
from porter.context_switch.proof.link import link_pair
from porter.context_switch.proved import port_object
from tests.porter.context_switch.cases import HANDLERS, Handler, tree_of

REGISTERS = re.compile(
    r"\b(R(?:[4-9]|1[01])|LR|SP|S(?:1[6-9]|2\d|3[01])|[XF](?:[1-9]|[12]\d|3[01])|PC|MSTATUS|FCSR)\b"
)
LOCALS = re.compile(r"\b(sp|lr|r(?:\d|1[0-2])(?:_\d+)?|x\d+(?:_\d+)?)\b")
NUMBER = re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+)[uU]?\b")
OPERATORS = {" += ": " -= ", " -= ": " += ", " == ": " != ", " != ": " == ", " & ": " | ",
             " | ": " & ", " + ": " - ", " - ": " + ", "++": "--"}  # fmt: skip
STATES = 300


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


class Subject:
    """A handler's right port, to be spoiled."""

    def __init__(self, handler: Handler, folder: Path) -> None:
        tree = tree_of(handler.file, folder)
        self.handler = handler
        self._file = tree.files[0]
        self._options = with_runtime(tree.options)
        self._original = compile_object(self._file, self._options)
        tree.apply(tree.port())
        self._texts = {file.name: file.read_bytes() for file in tree.files}
        text = self._texts[self._file.name].decode()
        head = re.search(rf"\b{handler.name}\( ?void ?\)\s*{{[^\n]*\n", text)
        assert head is not None
        end = text.index("\n}", head.end())
        self._before, self.body, self._after = (
            text[: head.end()],
            text[head.end() : end],
            text[end:],
        )
        self._code = self._compiled(self.body)

    def _compiled(self, body: str) -> bytes:
        text = (self._before + body + self._after).encode()
        return port_object(self._file, {**self._texts, self._file.name: text}, self._options)

    def verdict(self, mutant: Mutant) -> str:
        """'not C', 'same code', 'proved equal', or which oracles caught it."""
        try:
            code = self._compiled(mutant.body)
        except CompileError:
            return "not C"
        if code == self._code:
            return "same code"
        model = Model(self.handler.role, self.handler.calls, frozenset({"pcTaskGetName"}))
        symbol = self.handler.symbol
        command = (self._options.compiler, *self._options.cpu_flags)
        images = link_pair(
            self._original, code, (symbol, symbol), dict(self.handler.calls), command
        )
        caught = []
        try:
            compare(*images, model, STATES, STATES // 3)
        except NotProved:
            caught.append("emulator")
        try:
            equivalent(*images, model)
        except NotProved as reason:
            unsure = "in the time" in str(reason)
            caught.append("time" if unsure else "solver")
        return " and ".join(caught) or "proved equal"


def campaign(handler: Handler, most: int, seed: int) -> dict[str, list[str]]:
    """What was done, by verdict, for up to `most` mutants of a handler chosen at random."""
    with tempfile.TemporaryDirectory() as folder:
        subject = Subject(handler, Path(folder))
        chosen = mutants(subject.body)
        if len(chosen) > most:
            chosen = random.Random(seed).sample(chosen, most)
        found: dict[str, list[str]] = {}
        for mutant in chosen:
            found.setdefault(subject.verdict(mutant), []).append(mutant.what)
    return found


def main(most: int) -> None:
    """The whole campaign, a line a handler; what both oracles let pass is listed."""
    total: Counter[str] = Counter()
    for handler in HANDLERS:
        found = campaign(handler, most, 1)
        counts = {verdict: len(changes) for verdict, changes in sorted(found.items())}
        total.update(counts)
        print(f"{handler}: {counts}", flush=True)
        for verdict in ("emulator", "proved equal", "time"):
            for what in found.get(verdict, []):
                print(f"    {verdict}: {what}")
    print(f"all: {dict(total)}")
    if total["emulator"]:
        sys.exit("the solver proved what the emulator refuted")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
