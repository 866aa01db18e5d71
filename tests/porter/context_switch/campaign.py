"""`python -m tests.porter.context_switch.campaign`: what oracles say of wrong transcriptions."""

from __future__ import annotations

import random
import re
import sys
import tempfile
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from porter.context_switch.accept import with_runtime
from porter.context_switch.assemble import CompileError, compile_object
from porter.context_switch.proof import Model, NotProved
from porter.context_switch.proof.compare import compare
from porter.context_switch.proof.equivalence import equivalent
from porter.context_switch.proof.link import link_pair
from porter.context_switch.proved import port_object
from tests.porter.context_switch.cases import HANDLERS, Handler, tree_of
from tests.porter.context_switch.mutants import Mutant, mutants

STATES = 300


class Subject(ABC):
    """The right port of a handler, to be spoiled. `before`, `body` and `after` are its text."""

    def __init__(self, before: str, body: str, after: str) -> None:
        self.body = body
        self._before, self._after = before, after
        self._code = self.compiled(before + body + after)

    @abstractmethod
    def compiled(self, text: str) -> bytes:
        """The port with this text as an object. Raises CompileError."""

    @abstractmethod
    def oracles(self, code: bytes) -> tuple[Callable[[], object], Callable[[], object]]:
        """The emulator's comparison of an object with the original, and the solver's; each raises
        NotProved."""

    def verdict(self, mutant: Mutant) -> str:
        """'not C', 'same code', 'proved equal', or which oracles caught it."""
        try:
            code = self.compiled(self._before + mutant.body + self._after)
        except CompileError:
            return "not C"
        if code == self._code:
            return "same code"
        emulator, solver = self.oracles(code)
        caught = []
        try:
            emulator()
        except NotProved:
            caught.append("emulator")
        try:
            solver()
        except NotProved as reason:
            caught.append("gave up" if "gave up" in str(reason) else "solver")
        return " and ".join(caught) or "proved equal"


class ArmSubject(Subject):
    """A handler of a Cortex-M."""

    def __init__(self, handler: Handler, folder: Path) -> None:
        tree = tree_of(handler.file, folder)
        self._handler = handler
        self._file = tree.files[0]
        self._options = with_runtime(tree.options)
        self._original = compile_object(self._file, self._options)
        tree.apply(tree.port())
        self._texts = {file.name: file.read_bytes() for file in tree.files}
        text = self._texts[self._file.name].decode()
        head = re.search(rf"\b{handler.name}\( ?void ?\)\s*{{[^\n]*\n", text)
        assert head is not None
        end = text.index("\n}", head.end())
        super().__init__(text[: head.end()], text[head.end() : end], text[end:])

    def compiled(self, text: str) -> bytes:
        """As a project would."""
        texts = {**self._texts, self._file.name: text.encode()}
        return port_object(self._file, texts, self._options)

    def oracles(self, code: bytes) -> tuple[Callable[[], object], Callable[[], object]]:
        """As Subject says."""
        model = Model(self._handler.role, self._handler.calls, frozenset({"pcTaskGetName"}))
        names = (self._handler.symbol, self._handler.symbol)
        command = (self._options.compiler, *self._options.cpu_flags)
        images = link_pair(self._original, code, names, dict(self._handler.calls), command)
        return (
            lambda: compare(*images, model, STATES, STATES // 3),
            lambda: equivalent(*images, model),
        )


def campaign(subject: Callable[[Path], Subject], most: int, seed: int) -> dict[str, list[str]]:
    """What was done, by verdict, for up to `most` mutants of a subject chosen at random."""
    with tempfile.TemporaryDirectory() as folder:
        spoiled = subject(Path(folder))
        chosen = mutants(spoiled.body)
        if len(chosen) > most:
            chosen = random.Random(seed).sample(chosen, most)
        found: dict[str, list[str]] = {}
        for mutant in chosen:
            found.setdefault(spoiled.verdict(mutant), []).append(mutant.what)
    return found


def run(subjects: Iterable[tuple[str, Callable[[Path], Subject]]], most: int) -> None:
    """The whole campaign, a line a handler; what both oracles let pass is listed."""
    total: Counter[str] = Counter()
    for name, subject in subjects:
        found = campaign(subject, most, 1)
        counts = {verdict: len(changes) for verdict, changes in sorted(found.items())}
        total.update(counts)
        print(f"{name}: {counts}", flush=True)
        for verdict in ("emulator", "proved equal", "gave up"):
            for what in found.get(verdict, []):
                print(f"    {verdict}: {what}")
    print(f"all: {dict(total)}")
    if total["emulator"]:
        sys.exit("the solver proved what the emulator refuted")


def arm(handler: Handler) -> Callable[[Path], Subject]:
    """What makes the subject of a handler in a folder."""
    return lambda folder: ArmSubject(handler, folder)


if __name__ == "__main__":
    run(((str(it), arm(it)) for it in HANDLERS), int(sys.argv[1]) if len(sys.argv) > 1 else 400)
