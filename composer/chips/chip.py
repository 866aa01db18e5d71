"""What is known of a chip, its core and its board, read from the JSON files next to this module."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

from composer.description.model import Place


@dataclass(frozen=True)
class Memory:
    """One memory of a chip; `kind` is flash or ram."""

    name: str
    kind: str
    base: int
    size: int


@dataclass(frozen=True)
class Device:
    """One peripheral block. `nobody` says why no domain may own it, '' when one may.

    `interrupts` are the lines that it raises, alone or with others. `depends` says of other blocks
    why who owns them has this one in its hands; `drives` are pins that it drives as its own
    registers say, whatever they are set up for.
    """

    name: str
    base: int
    size: int
    kind: str
    bus: str
    enable: tuple[int, int] | None
    nobody: str
    interrupts: tuple[str, ...]
    depends: Mapping[str, str]
    drives: tuple[str, ...]


@dataclass(frozen=True)
class Core:
    """What the tool chain and the layout need of a processor core."""

    name: str
    arch: str
    runtime: tuple[str, ...]
    cflags: tuple[str, ...]
    fpu_cflags: tuple[str, ...]
    soft_cflags: tuple[str, ...]
    tool_prefix: str
    fpu: bool
    protection_kind: str
    protection_regions: int
    late_errors: bool  # a store to a device may fail when the next exception was entered already

    def machine_flags(self, fpu: bool) -> tuple[str, ...]:
        """Compiler options for code with or without a grant of the FPU."""
        return (*self.cflags, *(self.fpu_cflags if fpu else self.soft_cflags))


@dataclass(frozen=True)
class Chip:
    """One chip as its JSON file describes it.

    `lines_of_fpu` are raised by the flags of whoever calculates; `lines_without_block` say why no
    block in `devices` raises them.
    """

    name: str
    family: str
    core: Core
    priority_bits: int
    clock_limits: Mapping[str, Any]
    console_drivers: Mapping[str, str]
    memory: tuple[Memory, ...]
    interrupts: Mapping[str, int]
    lines_of_fpu: tuple[str, ...]
    lines_without_block: Mapping[str, str]
    devices: Mapping[str, Device]
    pins: Mapping[str, Mapping[str, list[str]]]

    @cached_property
    def lines(self) -> int:
        """Number of interrupt lines, gaps included."""
        return max(self.interrupts.values()) + 1

    def raisers(self, line: str) -> tuple[Device, ...]:
        """The blocks that can raise a line."""
        return tuple(device for device in self.devices.values() if line in device.interrupts)

    def bank(self, kind: str) -> Memory:
        """The largest contiguous memory of `kind`: neighbours count as one.

        Smaller ones (core-coupled RAM, one-time programmable flash) are left alone.
        """
        banks: list[Memory] = []
        for memory in sorted((m for m in self.memory if m.kind == kind), key=lambda m: m.base):
            if banks and banks[-1].base + banks[-1].size == memory.base:
                last = banks.pop()
                memory = Memory(
                    f"{last.name}+{memory.name}", kind, last.base, last.size + memory.size
                )
            banks.append(memory)
        return max(banks, key=lambda m: m.size)


@dataclass(frozen=True)
class Board:
    """A board: its chip and how QEMU knows it."""

    name: str
    chip: str
    machine: str
    serial: tuple[str, ...]


def load_chip(name: str, place: Place) -> Chip:
    """The chip called `name`; an error at `place` lists the known ones."""
    data = _load("data", name, "chip", place)
    devices = {
        device: Device(
            device,
            record["base"],
            record["size"],
            record["kind"],
            record.get("bus", ""),
            (record["enable"]["address"], record["enable"]["bit"]) if "enable" in record else None,
            record.get("nobody", ""),
            tuple(record["interrupts"]),
            record.get("depends", {}),
            tuple(record.get("drives", ())),
        )
        for device, record in data["devices"].items()
    }
    return Chip(
        data["name"],
        data["family"],
        _load_core(data["core"]),
        data["priority_bits"],
        data["clock_limits"],
        data["console_drivers"],
        tuple(Memory(m["name"], m["kind"], m["base"], m["size"]) for m in data["memory"]),
        data["interrupts"],
        tuple(data["lines_of_fpu"]),
        data["lines_without_block"],
        devices,
        data["pins"],
    )


def load_board(name: str, place: Place) -> Board:
    """The board called `name`; an error at `place` lists the known ones."""
    data = _load("boards", name, "board", place)
    return Board(data["name"], data["chip"], data["qemu"]["machine"], tuple(data["qemu"]["serial"]))


def suggest(name: str, known: Iterable[str]) -> str:
    """A hint that names the nearest known names."""
    names = list(known)
    near = difflib.get_close_matches(name.upper(), [n.upper() for n in names], n=3, cutoff=0.6)
    nearest = [n for n in names if n.upper() in near]
    return f"did you mean {' or '.join(nearest)}?" if nearest else "check the name"


def _load_core(name: str) -> Core:
    data = json.loads((files("composer.chips") / "cores.json").read_text("utf-8"))[name]
    return Core(
        name,
        data["arch"],
        tuple(data["runtime"]),
        tuple(data["cflags"]),
        tuple(data["fpu_cflags"]),
        tuple(data["soft_cflags"]),
        data["tool_prefix"],
        data["fpu"],
        data["protection"]["kind"],
        data["protection"]["regions"],
        data["late_errors"],
    )


def _load(folder: str, name: str, what: str, place: Place) -> Any:
    folder_files = (files("composer.chips") / folder).iterdir()
    known = {f.name[: -len(".json")]: f for f in folder_files if f.name.endswith(".json")}
    if name not in known:
        raise place.error(f"unknown {what} '{name}'", f"known: {', '.join(sorted(known))}")
    return json.loads(known[name].read_text("utf-8"))
