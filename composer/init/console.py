"""Where the kernel's log goes: a UART and pins that no project uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from composer.chips.chip import Board, Chip
from composer.init.facts import Decision, ProjectFacts


@dataclass(frozen=True)
class Console:
    """The log's UART and its pins; none where the chip has no free ones."""

    device: str
    pins: tuple[tuple[str, int, int], ...]


def choose_console(
    chip: Chip, board: Board | None, projects: Sequence[ProjectFacts]
) -> tuple[Console, list[Decision]]:  # fmt: skip
    """The last UART that no project uses, with free pins."""
    used = {use.name for p in projects for use in p.devices}
    lines = {line.name for p in projects for line in p.lines}
    used |= {it.name for it in chip.devices.values() if not lines.isdisjoint(it.interrupts)}
    pins = {pin.name for p in projects for pin in p.pins}
    uarts = [d.name for d in chip.devices.values() if d.kind in chip.console_drivers]
    uarts.sort(key=lambda name: (board is not None and name in board.serial, name[-1]))
    for uart in reversed(uarts):
        if uart in used:
            continue
        pair = [_free(chip, f"{uart}_{signal}", pins) for signal in ("TX", "RX")]
        if None not in pair:
            chosen = tuple(pin for pin in pair if pin is not None)
            names = ", ".join(f"P{port}{number}" for port, number, _ in chosen)
            text = f"the log of the kernel goes to {uart} on {names}: are they free on your board?"
            return Console(uart, chosen), [Decision(text)]
    free = next((name for name in reversed(uarts) if name not in used), uarts[-1])
    text = f"no UART with free pins is left for the log of the kernel; {free} has none"
    return Console(free, ()), [Decision(text)]


def _free(chip: Chip, signal: str, used: set[str]) -> tuple[str, int, int] | None:
    order = sorted(chip.pins, key=lambda name: (name[1] != "C", name[:2], int(name[2:])))
    for name in order:
        for function, signals in chip.pins[name].items():
            if signal in signals and name not in used:
                return name[1], int(name[2:]), int(function)
    return None
