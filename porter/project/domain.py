"""The domain file that compose writes: what the virtual machine grants, and which id is whose."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from porter.ledger.acknowledged import Acknowledgement, read_acknowledgements
from scanner.report.errors import FvmError, MissingError

SCHEMA = 1


@dataclass(frozen=True)
class Frame:
    """Records wake the VM when `register` holds one of `ends`, or after `longest` of them."""

    register: str
    ends: tuple[int, ...]
    longest: int


@dataclass(frozen=True)
class Count:
    """Records are counted under `name` whose `register` has one of `bits`."""

    name: str
    register: str
    bits: int


@dataclass(frozen=True)
class Split:
    """An interrupt in three sections: its mid-section `section` runs in `process`, which has the
    registers of `device`, [base, base + size), in hand."""

    process: str
    device: str
    base: int
    size: int
    section: str
    frame: Frame | None
    counts: tuple[Count, ...]
    policy: str | None


@dataclass(frozen=True)
class Vector:
    """A virtual vector; `irq`: the physical line of kind `irq`; `handler` None: there is none."""

    virt_id: int
    kind: str
    name: str
    handler: str | None
    irq: int | None
    maskable: bool
    split: Split | None = None


@dataclass(frozen=True)
class BootRegister:
    """A register that only the boot table writes; `name` is its value in C, of which the bits in
    `known` are certain."""

    name: str
    address: int
    value: int
    known: int


@dataclass(frozen=True)
class Replacement:
    """A source file (relative to the project) that another file is built for."""

    file: str
    by: str


@dataclass(frozen=True)
class Domain:
    """What the porter needs of a domain file; `original` may be relative to it."""

    path: Path
    name: str
    chip: str
    clock_hz: int
    kernel_tick_hz: int
    tick_hz: int | None
    watchdog_ms: int | None
    fpu: bool
    vectors: tuple[Vector, ...]
    pins: frozenset[tuple[str, int]]
    replaced: tuple[Replacement, ...]
    startup: tuple[str, ...]
    sources: tuple[str, ...] = ()
    """Files of the project that the image is built from, whatever the project's makefile says."""
    includes: tuple[str, ...] = ()
    """Folders of the project that they find headers in."""
    defines: tuple[str, ...] = ()
    """Macros that they are compiled with, without -D."""
    original: Path | None = None
    own_pins: frozenset[tuple[str, int]] = frozenset()
    """Pins that it may read; `pins` are the outputs among them that it may set."""
    registers: tuple[BootRegister, ...] = ()
    cpu_flags: tuple[str, ...] = ()
    """Compiler options that select the machine's core."""
    writes_log: bool = False
    """It may call hyp_putc."""
    priority_bits: int | None = None
    """Of each priority in the chip's NVIC."""
    acknowledged: tuple[Acknowledgement, ...] = ()
    """Places that a person answers for."""
    entry: str = "main"
    """What the generated start-up calls when all is set up."""
    grants: tuple[range, ...] | None = None
    """Addresses that it may use; None in a file that doesn't tell."""
    beside: tuple[Path, ...] = ()
    """Files that the image is built from and that aren't the project's."""

    def register_at(self, address: int) -> BootRegister | None:
        """The register at an address, if the boot table determines it."""
        return next((r for r in self.registers if r.address == address), None)

    def vector_of_irq(self, irq: int) -> Vector | None:
        """The vector that a physical line is delivered to."""
        return next((v for v in self.vectors if v.kind == "irq" and v.irq == irq), None)


def read_domain(path: Path) -> Domain:
    """Raises MissingError if the file can't be opened, FvmError if it is no domain file."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise MissingError(f"can't be opened: {error.strerror}", file=path) from error
    except UnicodeDecodeError as error:
        raise FvmError("is no domain file", file=path, hint="run fvmkit compose again") from error
    try:
        data = json.loads(text)
        if data["schema"] != SCHEMA:
            raise FvmError(f"schema {data['schema']} is not known", file=path)
        return _domain(path, data)
    except ValueError as error:
        raise FvmError(f"is no JSON: {error}", file=path) from error
    except (KeyError, TypeError, AttributeError) as error:
        raise FvmError(
            f"is no domain file: {error!r}", file=path, hint="run fvmkit compose again"
        ) from error


def _domain(path: Path, data: dict[str, Any]) -> Domain:
    return Domain(
        path=path,
        name=str(data["name"]),
        chip=str(data["chip"]),
        clock_hz=int(data["clock_hz"]),
        kernel_tick_hz=int(data["kernel_tick_hz"]),
        tick_hz=_optional(data.get("tick_hz")),
        watchdog_ms=_optional(data.get("watchdog_ms")),
        fpu=bool(data["fpu"]),
        vectors=tuple(_vector(item) for item in data["vectors"]),
        pins=_pins(data.get("pins", ())),
        own_pins=_pins(data.get("own_pins", ())),
        registers=tuple(_register(item) for item in data.get("registers", ())),
        replaced=tuple(
            Replacement(str(item["file"]), str(item["by"])) for item in data.get("replaced", ())
        ),
        startup=tuple(str(name) for name in data.get("startup", ())),
        sources=tuple(str(name) for name in data.get("sources", ())),
        includes=tuple(str(name) for name in data.get("includes", ())),
        defines=tuple(str(name) for name in data.get("defines", ())),
        entry=str(data.get("entry", "main")),
        original=_path(data.get("project", {}).get("original")),
        cpu_flags=cpu_flags(data.get("cpu_flags", ())),
        writes_log=bool(data.get("writes_log", False)),
        priority_bits=_optional(data.get("priority_bits")),
        acknowledged=read_acknowledgements(data.get("acknowledged", ())),
        grants=_grants(data.get("grants")),
        beside=tuple(path.parent / str(name) for name in data.get("beside", ())),
    )


def _grants(items: list[dict[str, Any]] | None) -> tuple[range, ...] | None:
    if items is None:
        return None
    return tuple(range(int(it["base"]), int(it["base"]) + int(it["size"])) for it in items)


def _register(item: dict[str, Any]) -> BootRegister:
    return BootRegister(
        _name(item["name"]), int(item["address"]), int(item["value"]), int(item["known"])
    )


def cpu_flags(words: Iterable[object]) -> tuple[str, ...]:
    """Options for a compiler, which must select a core and nothing else. Raises ValueError."""
    flags = tuple(str(word) for word in words)
    for flag in flags:
        if re.fullmatch(r"-m[\w=.+-]+", flag, re.ASCII) is None:
            raise ValueError(f"{flag!r} is no option that selects a core")
    return flags


def _pins(items: list[dict[str, Any]]) -> frozenset[tuple[str, int]]:
    return frozenset((str(pin["port"]), int(pin["pin"])) for pin in items)


def _vector(item: dict[str, Any]) -> Vector:
    handler = item.get("handler")
    return Vector(
        int(item["virt_id"]),
        str(item["kind"]),
        str(item["name"]),
        None if handler is None else str(handler),
        _optional(item.get("irq")),
        item.get("mask", "maskable") == "maskable",
        _split(item["split"]) if item.get("split") is not None else None,
    )


def _split(item: dict[str, Any]) -> Split:
    frame = item.get("frame")
    policy = item.get("policy")
    split = Split(
        process=_name(item["process"]),
        device=_name(item["device"]),
        base=int(item["base"]),
        size=int(item["size"]),
        section=_name(item["section"]),
        frame=None
        if frame is None
        else Frame(
            str(frame["register"]),
            tuple(int(end) for end in frame["ends"]),
            int(frame["longest"]),
        ),
        counts=tuple(
            Count(str(count["name"]), str(count["register"]), int(count["bits"]))
            for count in item.get("counts", ())
        ),
        policy=None if policy is None else _name(policy),
    )
    if re.fullmatch(r"[A-Za-z_]\w*", split.section, re.ASCII) is None:
        raise ValueError(f"section {split.section!r} is no C name")
    return split


def _name(value: object) -> str:
    """Text that goes into generated C as a name or in a comment."""
    text = str(value)
    if re.fullmatch(r"[\w.-]+", text, re.ASCII) is None:
        raise ValueError(f"{text!r} is no name")
    return text


def _path(value: object) -> Path | None:
    return Path(value) if isinstance(value, str) else None


def _optional(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) else None
