"""The chip that a project was written for: its part, core, FPU and memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from composer.analyze.memory import memories_of, used_by
from composer.analyze.model import ChipFacts, Told, Work
from composer.analyze.parts import Evidence, alike, evidence, rest_of
from porter.project.build import Build
from scanner.arch.chips import chip as chip_named
from scanner.report.errors import MissingError

_SAID = 3  # places that name the chip
_CONTRADICTS = 4  # rank up to which another part is worth a word
_NO_FPU = ("cortex-m0", "cortex-m0plus", "cortex-m3", "cortex-m23")


def chip_of(
    root: Path, build: Build, tables: Sequence[Path], read: Sequence[Path], stated: str | None
) -> tuple[ChipFacts, list[Work]]:
    """What is known of it, and what isn't; `stated`: the part that the user says."""
    names = evidence(root, build, tables, read)
    part = Told(stated, "said by --part") if stated else _part(names)
    others = _others(names, part.value)
    memories, unread = memories_of(root, part.value or "", build)
    core = _core(build, part.value)
    facts = ChipFacts(
        part, others, tuple(memories), *used_by(root, build), core, _fpu(build, core.value)
    )
    if part.value is None:
        unread.append(Work("the chip", 1, part.by, "say it by --part, as STM32F103RC"))
    return facts, unread


def _part(names: Sequence[Evidence]) -> Told:
    """The part that the files name which say most of the build, as exactly as any file has it."""
    if not names:
        return Told(None, "no build file, linker script, start-up file or device header names it")
    first = names[0]
    rivals = [it for it in names if it.rank == first.rank and not alike(it.part, first.part)]
    if rivals and first.rank:
        several = dict.fromkeys(it.part.upper() for it in names if it.rank == first.rank)
        shown = ", ".join([*several][:_SAID])
        return Told(None, f"several parts are named ({shown}; {first.by}), and nothing says which")
    same = [it for it in names if alike(it.part, first.part)]
    best = max(same, key=lambda it: (len(rest_of(it.part)), -it.rank))
    told = [best.by, *(it.by for it in same)]
    part = best.part.upper() if best.part.islower() else best.part
    return Told(part, ", ".join([*dict.fromkeys(told)][:_SAID]))


def _others(names: Sequence[Evidence], part: str | None) -> tuple[str, ...]:
    """Other parts that build files name."""
    found: dict[str, str] = {}
    for it in names:
        if part is not None and it.rank <= _CONTRADICTS and not _is_alike(it.part, part):
            found.setdefault(it.part.upper(), it.by)
    return tuple(f"{part} ({by})" for part, by in found.items())


def _is_alike(one: str, other: str) -> bool:
    try:
        return alike(one, other)
    except MissingError:  # said by the user, of a family that nobody knows
        return one.upper() == other.upper()


def _core(build: Build, part: str | None) -> Told:
    """By the compiler's options, else by the part."""
    for flag in build.options.cpu_flags:
        for option in ("-mcpu=", "-march="):
            if flag.startswith(option) and not build.is_guess:
                return Told(flag.removeprefix(option), f"{flag} ({build.source})")
    try:
        core = chip_named(part).core if part else None
    except MissingError:
        core = None
    if core is not None:
        return Told(core, f"what {part} has")
    riscv = any(flag.startswith("-march=rv") for flag in build.options.cpu_flags)
    if riscv:
        return Told("rv32", "RISC-V's registers and instructions in the sources")
    return Told(None, "neither compiler options nor a part tell it: say --cpu or --part")


def _fpu(build: Build, core: str | None) -> Told:
    """Whether the build uses one."""
    flags = build.options.cpu_flags
    if build.is_guess:
        if core in _NO_FPU:
            return Told("no", f"{core} has none")
        return Told(None, "no compiler option is known, and one was assumed: say them by --cpu")
    abi = next((it for it in flags if it.startswith("-mfloat-abi=")), "")
    unit = next((it for it in flags if it.startswith("-mfpu=")), "")
    if abi in ("-mfloat-abi=hard", "-mfloat-abi=softfp"):
        return Told(unit.removeprefix("-mfpu=") or "yes", " ".join(filter(None, (unit, abi))))
    return Told("no", abi or "no -mfloat-abi= among the options")
