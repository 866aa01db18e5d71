"""What is measured while a system grows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from benchmarks.counting import Image, measure
from benchmarks.machines import Machine
from benchmarks.operations import LINE, OUTSIDE, TICK, Operation
from benchmarks.samples import Figures
from benchmarks.scale.shape import Shape, build, with_constants

IDLE = "idle"  # the WFI of the hypervisor's idle thread
_WFI = b"\x30\xbf"


def _span(name: str, text: str, start: str, stop: str, rounds: str) -> Operation:
    return Operation(name, text, start, stop, rounds, bare=False)


QUICK = (
    _span("ctx", "guest task switch (taskYIELD)", "ctx_start", "ctx_stop", "ctx"),
    _span("call", "hypercall served by the kernel", "call_start", "call_stop", "call"),
    _span("handler", "interrupt to virtual handler", LINE, "handler", "interrupt"),
    _span("task", "interrupt to guest task", LINE, "task", "interrupt"),
    _span("native", "interrupt to native mid-section", LINE, "native", "native"),
    _span("event", "event of a process to the last vector", "event_start", "event_stop", "event"),
)
# A sample takes a kernel tick.
SLOW = (
    _span("tick", "kernel tick, to the first instruction outside", TICK, OUTSIDE, "rest"),
    _span("tick_work", "all that follows a kernel tick, until idle", TICK, IDLE, "rest"),
)
TEXT = {operation.name: operation.text for operation in (*QUICK, *SLOW)} | {
    "tick_due": "kernel tick with ticks due, to the first instruction outside",
    "tick_due_work": "all that follows a tick that is due, until idle",
}
VMS, TASKS, VECTORS = (1, 2, 4, 8), (1, 2, 4, 8, 16, 32), (6, 8, 16, 32, 64)


@dataclass(frozen=True)
class Point:
    """One system of a curve. `work` and `due_work` are instructions of a kernel tick's period."""

    size: int
    figures: Mapping[str, Figures]


def _idle(image: Image) -> int:
    """Address of the idle thread's WFI."""
    start = image.symbols.objects["hypervisor", "hyp_idle_thread"] & ~1
    code = image.elf.read_bytes()
    for base, offset, size in segments(image):
        if base <= start < base + size:
            first = offset + start - base
            found = code.find(_WFI, first, first + 64)
            assert found >= 0, "the idle thread has no WFI"
            return base + found - offset
    raise AssertionError("the idle thread is nowhere")


def segments(image: Image) -> Iterator[tuple[int, int, int]]:
    """Address, place in the file and size of what is loaded."""
    from elftools.elf.elffile import ELFFile

    with image.elf.open("rb") as file:
        for segment in ELFFile(file).iter_segments("PT_LOAD"):
            yield segment["p_paddr"], segment["p_offset"], segment["p_filesz"]


def _measured(
    shape: Shape, image: Image, operations: tuple[Operation, ...], count: int
) -> dict[str, Figures]:
    spans = measure(shape.machine, image, operations, count, shape.folder)
    found = {name: span.figures for name, span in spans.items()}
    return {name: figures for name, figures in found.items() if figures is not None}


def point(shape: Shape, tasks: int, count: int, ticks: int) -> dict[str, Figures]:
    """All figures of one system."""
    image = build(shape)
    image.symbols.marks[IDLE] = {_idle(image)}
    folder = shape.folder
    quick = with_constants(image, folder, {"scale_tasks": tasks})
    figures = _measured(shape, quick, QUICK, count)
    if ticks:
        figures |= _measured(shape, image, SLOW, ticks)
    if ticks and shape.vms > 1:
        due = _measured(shape, with_constants(image, folder, {"other_hz": 1000}), SLOW, ticks)
        figures |= {"tick_due": due["tick"], "tick_due_work": due["tick_work"]}
    return figures


def curves(core: Machine, count: int, ticks: int) -> dict[str, list[Point]]:
    """The curves of a core, by what grows."""
    return {
        "vms": [Point(n, point(Shape(core, "2", n, 8), 2, count, ticks)) for n in VMS],
        "tasks": [Point(n, point(Shape(core, "2", 2, 8), n, count, 0)) for n in TASKS],
        "vectors": [Point(n, point(Shape(core, "2", 2, n), 2, count, ticks)) for n in VECTORS],
    }
