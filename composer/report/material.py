"""What a page is made from: the linked image, the description behind it, and a run of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from composer.description.parse import parse
from composer.emit.generate import generate
from composer.image.composed import SYSTEM_FILE, Composed, ram_bank, read_json
from composer.plan import Plan
from composer.report.timeline import Timeline, read_timeline
from composer.resolve import resolve
from composer.simulate.image import open_image
from composer.simulate.places import Places
from composer.simulate.transcript import Recording, read_recording
from composer.verify.findings import Unreadable
from composer.verify.formats import load
from composer.verify.memory import Memory
from composer.verify.tables import Tables, read_tables
from scanner.report.errors import FvmError, MissingError


@dataclass(frozen=True)
class Material:
    """A linked system. What a run leaves behind is None where it wasn't given."""

    elf: Path
    system: Composed
    plan: Plan
    manifest: dict[str, Any]
    run: Recording | None
    ram: bytes | None
    timeline: Timeline | None

    @cached_property
    def places(self) -> Places:
        """Functions and source lines of every part."""
        return Places(self.system)

    @cached_property
    def memory(self) -> Memory:
        """What is flashed."""
        return load(self.elf.read_bytes(), self.elf.suffix, 0).memory

    @cached_property
    def tables(self) -> Tables:
        """The kernel's tables as they lie in the image: what the chip will do."""
        try:
            chip = self.plan.chip
            return read_tables(self.memory, self.plan.kernel_flash.base, chip.lines)
        except Unreadable as error:
            raise FvmError(
                str(error), file=self.elf, hint="compose, build and link again"
            ) from None


def gather(
    target: Path,
    run: Path | None = None,
    ram: Path | None = None,
    timeline: Path | None = None,
) -> Material:
    """Read everything; FvmError when something is missing, changed or not of this image."""
    elf, system = open_image(target)
    plan = _plan(system.folder)
    recording = None if run is None else read_recording(run)
    dump = None if ram is None else read_dump(ram, system.folder)
    picture = None if timeline is None else read_timeline(timeline)
    manifest = read_json(elf.with_suffix(".json"))
    return Material(elf, system, plan, manifest, recording, dump, picture)


def read_dump(file: Path, folder: Path) -> bytes:
    """A dump of the chip's RAM; the error says how to take one."""
    bank = ram_bank(folder)
    hint = (
        f"take it with fvmkit run --dump-ram, or in OpenOCD:"
        f" dump_image {file.name} 0x{bank.base:08x} 0x{bank.size:x}"
    )
    try:
        size = file.stat().st_size
        if size != bank.size:
            raise FvmError(f"has {size} bytes, the RAM has {bank.size}", file=file, hint=hint)
        return file.read_bytes()
    except OSError as error:
        raise MissingError(f"can't be opened: {error.strerror}", file=file, hint=hint) from error


def _plan(folder: Path) -> Plan:
    """The plan, made again from the description; it must be the one that lies in the folder."""
    description = folder / str(read_json(folder / SYSTEM_FILE).get("description", ""))
    plan = resolve(parse(description), folder.resolve())
    for name, text in generate(plan, folder.resolve()).items():
        file = folder / name
        try:
            same = file.read_text("utf-8") == text
        except (OSError, ValueError):
            same = False
        if not same:
            raise FvmError(
                "is not what the description says today",
                file=file,
                hint="run fvmkit compose, build and link, then report again",
            )
    return plan
