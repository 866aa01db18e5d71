"""`python -m tests.porter.context_switch.riscv.campaign`: the campaign on handlers of RV32."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from porter.context_switch.accept import with_runtime
from porter.context_switch.assemble import assemble, compile_object
from porter.context_switch.proof import Model
from porter.context_switch.proof.image import Image
from porter.context_switch.proof.link import link_pair
from porter.context_switch.proof.riscv.compare import compare
from porter.context_switch.proof.riscv.equivalence import equivalent, explore
from tests.porter.context_switch.campaign import STATES, Subject, run
from tests.porter.context_switch.riscv.trees import freertos, own


@dataclass(frozen=True)
class Handler:
    """A function of an assembler file. `calls`: its callees with the number of their arguments."""

    file: str
    name: str
    calls: tuple[tuple[str, int], ...]
    role: str = "switch"

    @property
    def ported(self) -> str:
        """The function of the port that is compared."""
        return f"{self.name}_first" if self.role == "start" else self.name


_FREERTOS_CALLS = (
    ("vTaskSwitchContext", 0),
    ("xTaskIncrementTick", 0),
    ("freertos_risc_v_application_exception_handler", 0),
    ("freertos_risc_v_application_interrupt_handler", 0),
)
HANDLERS = (
    Handler("FreeRTOS", "freertos_risc_v_trap_handler", _FREERTOS_CALLS),
    Handler("vectored", "on_timer", (("next_task", 2),)),
    Handler("switch_by_call", "switch_tasks", (), "start"),
    Handler("context_in_mscratch", "trap_entry", (("trap_dispatch", 2),)),
    Handler("context_in_mscratch", "first_task", (), "start"),
    Handler("fpu_on_stack", "timer_trap", (("tick", 0), ("choose", 0))),
)


class RiscvSubject(Subject):
    """A handler of RV32."""

    def __init__(self, handler: Handler, folder: Path) -> None:
        tree = freertos(folder) if handler.file == "FreeRTOS" else own(folder, handler.file)
        self._source = folder / "spoiled.c"
        self._handler = handler
        self._options = with_runtime(tree.options)
        self._original = assemble(tree.files[0], tree.options).object.raw
        (companion,) = [it for it in tree.port() if it.file.name.endswith("_fvm.c")]
        text = companion.replacement.decode()
        start = text.index("{\n", text.index(f"void {handler.ported}(void)")) + 2
        end = text.index("\n}", start)
        super().__init__(text[:start], text[start:end], text[end:])

    def compiled(self, text: str) -> bytes:
        """As a project would."""
        self._source.write_text(text)
        return compile_object(self._source, self._options, "-O2")

    def images(self, body: str) -> tuple[Image, Image]:
        """The original, and the port with this body."""
        return self._linked(self.compiled(self._before + body + self._after))

    def oracles(self, code: bytes) -> tuple[Callable[[], object], Callable[[], object]]:
        """As Subject says."""
        original, ported = self._linked(code)
        model = Model(self._handler.role, self._handler.calls)
        natives, ways = explore(original, model)
        return (
            lambda: compare(original, ported, model, ways, STATES, STATES // 3),
            lambda: equivalent(natives, ported, model),
        )

    def _linked(self, code: bytes) -> tuple[Image, Image]:
        names = (self._handler.name, self._handler.ported)
        command = (self._options.compiler, *self._options.cpu_flags)
        return link_pair(self._original, code, names, dict(self._handler.calls), command)


def riscv(handler: Handler) -> Callable[[Path], Subject]:
    """What makes the subject of a handler in a folder."""
    return lambda folder: RiscvSubject(handler, folder)


if __name__ == "__main__":
    run(
        ((f"{it.file}:{it.name}", riscv(it)) for it in HANDLERS),
        int(sys.argv[1]) if len(sys.argv) > 1 else 400,
    )
