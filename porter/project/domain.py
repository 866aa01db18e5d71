"""The domain file that compose writes: what the virtual machine grants, and which id is whose."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scanner.report.errors import FvmError, MissingError

SCHEMA = 1


@dataclass(frozen=True)
class Vector:
    """A virtual vector; `irq`: the physical line of kind `irq`; `handler` None: there is none."""

    virt_id: int
    kind: str
    name: str
    handler: str | None
    irq: int | None
    maskable: bool


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
    original: Path | None = None

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
        pins=frozenset((str(pin["port"]), int(pin["pin"])) for pin in data.get("pins", ())),
        replaced=tuple(
            Replacement(str(item["file"]), str(item["by"])) for item in data.get("replaced", ())
        ),
        startup=tuple(str(name) for name in data.get("startup", ())),
        sources=tuple(str(name) for name in data.get("sources", ())),
        original=_path(data.get("project", {}).get("original")),
    )


def _vector(item: dict[str, Any]) -> Vector:
    handler = item.get("handler")
    return Vector(
        int(item["virt_id"]),
        str(item["kind"]),
        str(item["name"]),
        None if handler is None else str(handler),
        _optional(item.get("irq")),
        item.get("mask", "maskable") == "maskable",
    )


def _path(value: object) -> Path | None:
    return Path(value) if isinstance(value, str) else None


def _optional(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) else None
