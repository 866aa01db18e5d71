"""Sizes of the domains that are already built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from composer.description.units import show_size
from composer.layout.allocate import Placed
from composer.plan import Plan
from scanner.report.errors import FvmError


@dataclass(frozen=True)
class Used:
    """Bytes of flash and RAM that an ELF occupies; RAM without what the heap may grow into."""

    flash: int
    ram: int


def used_sizes(plan: Plan, out: Path) -> dict[str, Used]:
    """Sizes by part, of the ELFs that exist; an FvmError when one exceeds its area."""
    used: dict[str, Used] = {}
    parts = [("kernel", plan.kernel_flash, plan.kernel_ram)]
    parts += [(d.name, d.flash, d.ram) for d in plan.domains]
    for name, flash, ram in parts:
        elf = out / name / f"{name}.elf"
        if not elf.is_file():
            continue
        used[name] = _measure(elf)
        _refuse(plan, name, "flash", used[name].flash, flash)
        _refuse(plan, name, "ram", used[name].ram, ram)
    return used


def _measure(elf: Path) -> Used:
    flash = ram = 0
    try:
        with elf.open("rb") as stream:
            image = ELFFile(stream)
            for segment in image.iter_segments("PT_LOAD"):
                flash += segment["p_filesz"]
            for section in image.iter_sections():
                if section["sh_flags"] & SH_FLAGS.SHF_WRITE and section["sh_flags"] & 2:
                    ram += section["sh_size"]
    except (OSError, ELFError, KeyError, ValueError) as error:
        raise FvmError(
            f"can't be read as ELF: {error}", file=elf, hint="delete it and build again"
        ) from None
    return Used(flash, ram)


def _refuse(plan: Plan, name: str, what: str, used: int, area: Placed) -> None:
    if used <= area.granted:
        return
    attributes: Mapping[str, str] = {"kernel": what, "hypervisor": f"hypervisor-{what}"}
    place = next((d.place for d in plan.system.domains if d.name == name), plan.system.kernel.place)
    raise place.error(
        f"'{name}' as built uses {used} bytes of {what}, it is granted {area.granted}"
        f" ({show_size(area.granted)})",
        f"raise {attributes.get(name, what)} to at least {show_size(-(-used // 1024) * 1024)}",
    )
