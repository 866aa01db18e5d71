"""What is measured: where each operation begins and ends, and what is expected of it."""

from __future__ import annotations

from dataclasses import dataclass

LINE = "line"  # entry of the exception of a line
TICK = "tick"  # entry of the SysTick exception
OUTSIDE = "outside"  # the first instruction that isn't the kernel's
LEFT = "left"  # the same, or the entry of another exception that comes before it


@dataclass(frozen=True)
class Target:
    """At most this many instructions, or times the bare-metal mean; for cm4f at -O2."""

    limit: float
    relative: bool = False

    def __str__(self) -> str:
        return f"{self.limit:.2f}x" if self.relative else f"{self.limit:.0f}"


@dataclass(frozen=True)
class Operation:
    """A name, what it is in words, and the marks that it lies between.

    `rounds` names the loop that performs it. `authors` are figures of the FVM authors' own system
    in the same QEMU, -O3, for their own RTOS: bare metal -> virtual machine, or instructions.
    """

    name: str
    text: str
    start: str
    stop: str
    rounds: str
    bare: bool = False  # FreeRTOS on bare metal has it too
    fpu: bool = False  # needs one
    target: Target | None = None
    authors: str = ""


def _tasks(name: str, text: str, limit: float, authors: str = "", fpu: bool = False) -> Operation:
    mark = name.replace("/", "_")
    return Operation(
        name, text, f"{mark}_start", f"{mark}_stop", mark, True, fpu, Target(limit, True), authors
    )


def _from_handler(kind: str, text: str, authors: str) -> Operation:
    mark = f"{kind}_i"
    target = Target(1.5, True)
    return Operation(
        f"{kind}/i", text, f"{mark}_start", f"{mark}_stop", mark, True, False, target, authors
    )


def _from_line(kind: str, text: str) -> Operation:
    mark = f"{kind}_i"
    target = Target(2.0, True)
    return Operation(f"{kind}/t", text, LINE, f"{mark}_stop", mark, True, False, target, "about 6x")


def _own(
    name: str,
    text: str,
    start: str,
    stop: str,
    rounds: str,
    limit: float | None = None,
    authors: str = "",
) -> Operation:
    target = None if limit is None else Target(limit)
    return Operation(name, text, start, stop, rounds, target=target, authors=authors)


def _call(name: str, text: str, limit: float | None = None) -> Operation:
    return _own(name, text, f"{name}_start", f"{name}_stop", name, limit)


OPERATIONS = (
    _tasks("ctx", "taskYIELD, both tasks yield", 0.9, "74 -> 174, 2.35x"),
    _tasks("ctx/p", "taskYIELD to a task that was interrupted", 1.5, "689 (slow path)"),
    _tasks("ctx/fp", "taskYIELD, both tasks use the FPU", 1.2, fpu=True),
    Operation("tick", "tick to a delayed task", TICK, "tick_stop", "tick", True),
    _tasks("ntf", "xTaskNotify to the waiting task", 1.0, "167 -> 281, 1.68x"),
    _tasks("sem", "xSemaphoreGive to the waiting task", 1.0, "141 -> 244, 1.73x"),
    _tasks("msg", "xQueueSend to the waiting task", 1.0, "241 -> 357, 1.48x"),
    _from_handler("ntf", "handler to task, notification", "148 -> 503, 3.40x"),
    _from_handler("sem", "handler to task, semaphore", "126 -> 470, 3.73x"),
    _from_handler("msg", "handler to task, queue", "186 -> 540, 2.90x"),
    _from_line("ntf", "interrupt to task, notification"),
    _from_line("sem", "interrupt to task, semaphore"),
    _from_line("msg", "interrupt to task, queue"),
    _own("handler", "interrupt to the virtual handler", LINE, "handler", "ntf_i", 110, "863-891"),
    _own("native", "interrupt to a process", LINE, "native_stop", "native", 90, "188-201"),
    _call("mask", "virt_int_mask and virt_int_unmask", 8),
    _call("call_kernel", "hyp_wdg_clr, served by the kernel", 45),
    _call("call_cycles", "virt_cycles, served by the kernel", 45),
    _call("call_refused", "hyp_evt_add, refused since the lockdown"),
    _call("call_hypervisor", "hyp_vct_phys, granted by the hypervisor", 250),
    _own("switch", "one process to another", "switch_start", "signal_return", "signal", 85, "230"),
    _own("signal", "signal to a process", "signal_start", "signal_stop", "signal", 110, "273"),
    _own("signal_round", "signal, and back", "signal_start", "signal_return", "signal"),
    _own("invoke", "invocation and back", "invoke_start", "invoke_stop", "invoke", 130, "267"),
    _own("invoke_in", "invocation", "invoke_start", "invoke_inside", "invoke"),
    _own("event", "event of a process, to the handler", "event_start", "event_stop", "event"),
    _own("kernel_tick", "kernel tick", TICK, OUTSIDE, "mask"),
)
BY_NAME = {operation.name: operation for operation in OPERATIONS}
