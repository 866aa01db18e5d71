"""The handlers whose transcriptions are proved: what they are, and what they call."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.porter.context_switch.trees import Tree, fixture, freertos

SOURCES = Path(__file__).parent / "handlers"


@dataclass(frozen=True)
class Handler:
    """A function of a file. `calls` are its callees with the number of their arguments, `yields`
    whether the port registers a cooperative yield, `symbol` its name for the linker."""

    file: str
    name: str
    role: str
    calls: tuple[tuple[str, int], ...] = ()
    yields: bool = False
    linked_as: str = ""

    @property
    def symbol(self) -> str:
        """Its name in the object."""
        return self.linked_as or self.name

    def __str__(self) -> str:
        return f"{self.file}:{self.name}"


SCHEDULE = (("schedule", 0),)
SWITCH = (("vTaskSwitchContext", 0),)
HANDLERS = (
    Handler("FreeRTOS", "xPortPendSVHandler", "switch", SWITCH, True, "PendSV_Handler"),
    Handler("FreeRTOS", "vPortSVCHandler", "svc", linked_as="SVC_Handler"),
    Handler("flagged.c", "PendSV_Handler", "switch"),
    Handler("first_by_psp.c", "PendSV_Handler", "switch", (("switch_hook", 0),)),
    Handler("compare_tasks.c", "PendSV_Handler", "switch", (), True),
    Handler("scheduler_says.c", "PendSV_Handler", "switch", SCHEDULE),
    Handler("high_registers.c", "PendSV_Handler", "switch", (("choose_task", 0),)),
    Handler("running_task.c", "PendSV_Handler", "switch", SCHEDULE, True),
    Handler("short_frame.c", "PendSV_Handler", "switch", SCHEDULE, True),
    Handler("second_word.c", "PendSV_Handler", "switch", SCHEDULE, True),
    Handler("mask_in_frame.c", "PendSV_Handler", "switch"),
    Handler("counted_loop.c", "PendSV_Handler", "switch", (("choose", 1),)),
    Handler("fpu_if_there.c", "PendSV_Handler", "switch", SCHEDULE),
    Handler("numbered_call.c", "SVC_Handler", "call", (("serve", 1),)),
    Handler("stack_in_stack_out.c", "PendSV_Handler", "switch", (("next_stack", 2),), True),
)


def tree_of(file: str, folder: Path) -> Tree:
    """The project a handler belongs to, as its author wrote it."""
    return freertos(folder) if file == "FreeRTOS" else fixture(folder, (SOURCES / file).read_text())
