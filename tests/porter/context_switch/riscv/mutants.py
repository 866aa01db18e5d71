"""Wrong transcriptions of RV32 handlers, and what each oracle says of them."""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from porter.context_switch.accept import with_runtime
from porter.context_switch.assemble import CompileError, assemble, compile_object
from porter.context_switch.proof import Model, NotProved
from porter.context_switch.proof.link import link_pair
from porter.context_switch.proof.riscv.compare import compare
from porter.context_switch.proof.riscv.equivalence import equivalent, explore
from tests.porter.context_switch.mutants import STATES, Mutant, mutants
from tests.porter.context_switch.riscv.trees import own


@dataclass(frozen=True)
class Handler:
    """A function of an assembler file. `calls`: its callees with the number of their arguments."""

    file: str
    name: str
    calls: tuple[tuple[str, int], ...]


HANDLERS = (
    Handler("context_in_mscratch", "trap_entry", (("trap_dispatch", 2),)),
    Handler("fpu_on_stack", "timer_trap", (("tick", 0), ("choose", 0))),
)


class Subject:
    """A handler's right port, to be spoiled."""

    def __init__(self, handler: Handler, folder: Path) -> None:
        tree = own(folder, handler.file)
        self._source = folder / "spoiled.c"
        self._handler = handler
        self._options = with_runtime(tree.options)
        self._original = assemble(tree.files[0], tree.options).object.raw
        (companion,) = [it for it in tree.port() if it.file.name.endswith("_fvm.c")]
        text = companion.replacement.decode()
        start = text.index("{\n", text.index(f"void {handler.name}(void)")) + 2
        end = text.index("\n}", start)
        self._before, self.body, self._after = text[:start], text[start:end], text[end:]
        self._code = self._compiled(self.body)

    def _compiled(self, body: str) -> bytes:
        self._source.write_text(self._before + body + self._after)
        return compile_object(self._source, self._options, "-O2")

    def verdict(self, mutant: Mutant) -> str:
        """'not C', 'same code', 'proved equal', or which oracles caught it."""
        try:
            code = self._compiled(mutant.body)
        except CompileError:
            return "not C"
        if code == self._code:
            return "same code"
        name, calls = self._handler.name, self._handler.calls
        command = (self._options.compiler, *self._options.cpu_flags)
        original, ported = link_pair(self._original, code, (name, name), dict(calls), command)
        model = Model("switch", calls)
        natives, ways = explore(original, model)
        caught = []
        try:
            compare(original, ported, model, ways, STATES, STATES // 3)
        except NotProved:
            caught.append("emulator")
        try:
            equivalent(natives, ported, model)
        except NotProved as reason:
            caught.append("time" if "in the time" in str(reason) else "solver")
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
        print(f"{handler.file}: {counts}", flush=True)
        for verdict in ("emulator", "proved equal", "time"):
            for what in found.get(verdict, []):
                print(f"    {verdict}: {what}")
    print(f"all: {dict(total)}")
    if total["emulator"]:
        sys.exit("the solver proved what the emulator refuted")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
