"""What is measured: where each operation begins and ends, and what is expected of it."""

from __future__ import annotations

from dataclasses import dataclass

LINE = "line"  # entry of the exception of a line
TICK = "tick"  # entry of the SysTick exception
OUTSIDE = "outside"  # the first instruction that isn't the kernel's


@dataclass(frozen=True)
class Operation:
    """A name, what it is in words, and the marks that it lies between.

    `rounds` names the loop that performs it. `limit` is the target: times the bare-metal mean if
    `relative`, else instructions. `authors` are figures of the FVM authors' own system in the same
    QEMU, for their own RTOS.
    """

    name: str
    text: str
    start: str
    stop: str
    rounds: str
    bare: bool = True
    fpu: bool = False
    limit: float | None = None
    relative: bool = False
    authors: str = ""


def _switch(name: str, text: str, limit: float, authors: str = "", fpu: bool = False) -> Operation:
    return Operation(
        name, text, f"{name}_start", f"{name}_stop", name, True, fpu, limit, True, authors
    )


def _from_interrupt(kind: str, text: str, start: str, limit: float, authors: str) -> Operation:
    suffix = "t" if start == LINE else "i"
    begin = LINE if start == LINE else f"{kind}_i_start"
    return Operation(
        f"{kind}_{suffix}",
        text,
        begin,
        f"{kind}_i_stop",
        f"{kind}_i",
        True,
        False,
        limit,
        True,
        authors,
    )


def _own(
    name: str,
    text: str,
    start: str,
    stop: str,
    rounds: str,
    limit: float | None = None,
    authors: str = "",
) -> Operation:
    return Operation(name, text, start, stop, rounds, bare=False, limit=limit, authors=authors)


OPERATIONS = (
    _switch("ctx", "taskYIELD, both tasks yield", 0.9, "74 -> 174 (2.35x)"),
    _switch("ctx_p", "taskYIELD to a task that was interrupted", 1.5, "slow path 689"),
    _switch("ctx_fp", "taskYIELD, both tasks use the FPU", 1.2, fpu=True),
    Operation("tick", "tick to a delayed task", TICK, "tick_stop", "tick"),
    _switch("ntf", "xTaskNotify to the waiting task", 1.0, "167 -> 281 (1.68x)"),
    _switch("sem", "xSemaphoreGive to the waiting task", 1.0, "141 -> 244 (1.73x)"),
    _switch("msg", "xQueueSend to the waiting task", 1.0, "241 -> 357 (1.48x)"),
    _from_interrupt("ntf", "handler to task, notification", "", 1.5, "148 -> 503 (3.40x)"),
    _from_interrupt("sem", "handler to task, semaphore", "", 1.5, "126 -> 470 (3.73x)"),
    _from_interrupt("msg", "handler to task, queue", "", 1.5, "186 -> 540 (2.90x)"),
    _from_interrupt("ntf", "interrupt to task, notification", LINE, 2.0, "about 6x"),
    _from_interrupt("sem", "interrupt to task, semaphore", LINE, 2.0, "about 6x"),
    _from_interrupt("msg", "interrupt to task, queue", LINE, 2.0, "about 6x"),
    _own(
        "handler",
        "interrupt to the first line of the handler",
        LINE,
        "handler",
        "ntf_i",
        110,
        "863-891",
    ),
    _own(
        "native",
        "interrupt to the first line of a process's thread",
        LINE,
        "native_stop",
        "native",
        90,
        "188-201",
    ),
    _own("mask", "virt_int_mask and virt_int_unmask", "mask_start", "mask_stop", "mask", 8),
    _own(
        "call_kernel",
        "hyp_wdg_clr, served by the kernel",
        "call_kernel_start",
        "call_kernel_stop",
        "call_kernel",
        45,
    ),
    _own(
        "call_cycles",
        "virt_cycles, served by the kernel",
        "call_cycles_start",
        "call_cycles_stop",
        "call_cycles",
        45,
    ),
    _own(
        "call_hypervisor",
        "hyp_evt_add, refused by the hypervisor",
        "call_hypervisor_start",
        "call_hypervisor_stop",
        "call_hypervisor",
        250,
    ),
    _own(
        "switch",
        "a process waits, another one goes on",
        "switch_start",
        "signal_return",
        "signal",
        85,
        "230",
    ),
    _own(
        "signal",
        "a process wakes another one",
        "signal_start",
        "signal_stop",
        "signal",
        110,
        "273",
    ),
    _own(
        "signal_round",
        "a process wakes another one, which waits again",
        "signal_start",
        "signal_return",
        "signal",
    ),
    _own(
        "event",
        "a process sends an event, to the VM's handler",
        "event_start",
        "event_stop",
        "event",
    ),
    _own("kernel_tick", "kernel tick, nothing due", TICK, OUTSIDE, "mask"),
)
BY_NAME = {operation.name: operation for operation in OPERATIONS}
