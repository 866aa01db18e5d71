"""The memory map as a person reads it: every area with base, size, rounding and owner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from composer.description.units import show_size
from composer.layout.allocate import Placed, Range, least_rounding
from composer.layout.grants import joined
from composer.layout.used import Used
from composer.plan import DomainPlan, Plan

_SMALLEST_AREA = 1024  # bytes, as check_domain wants it


def memory_map(plan: Plan, used: Mapping[str, Used]) -> str:
    """Text of several lines; `used` has the sizes of parts that are built."""
    lines = [f"{plan.system.name} on {plan.chip.name}: {plan.cpu_hz / 1e6:g} MHz"]
    flash = [("kernel", plan.kernel_flash), *((d.name, d.flash) for d in plan.domains)]
    ram = [("kernel", plan.kernel_ram), *((d.name, d.ram) for d in plan.domains)]
    ram += [(f"shared {s.name}", s.place) for s in plan.shared]
    flash_used = {name: u.flash for name, u in used.items()}
    ram_used = {name: u.ram for name, u in used.items()}
    lines += _memory("flash", plan.flash, flash, plan.free_flash, flash_used)
    lines += _memory("RAM", plan.ram, ram, plan.free_ram, ram_used)
    lines += ["", f"protection regions (of {plan.unit.regions})"]
    for domain in plan.domains:
        lines += _regions(plan, domain)
    if all(domain.name in used for domain in plan.domains):
        lines += ["", *_right_sizes(plan, used)]
    return "\n".join(lines)


def _right_sizes(plan: Plan, used: Mapping[str, Used]) -> list[str]:
    """The smallest sizes that hold what is built, in steps that one region can express."""
    sizes: list[str] = []
    saved = {"flash": 0, "RAM": 0}
    for domain in plan.domains:
        least: list[str] = []
        for what, size, area in (
            ("flash", used[domain.name].flash, domain.flash),
            ("RAM", used[domain.name].ram, domain.ram),
        ):
            size = max(size + least_rounding(size, 1, plan.unit), _SMALLEST_AREA)
            least.append(f"{what} {show_size(size)}")
            saved[what] += max(0, area.granted - size)
        sizes.append(f"  {domain.name}: {', '.join(least)}")
    title = (
        f"smallest sizes for what is built: they would free {saved['flash'] / 1024:.1f}K of flash"
        f" and {saved['RAM'] / 1024:.1f}K of RAM (leave room for the heap)"
    )
    return [title, *sizes]


def _memory(
    title: str,
    bank: Range,
    areas: Sequence[tuple[str, Placed]],
    free: Sequence[Range],
    used: Mapping[str, int],
) -> list[str]:
    lines = ["", f"{title} 0x{bank.base:08x}-0x{bank.end:08x} ({show_size(bank.size)})"]
    rows = [(area.base, area.granted, owner + _notes(owner, area, used)) for owner, area in areas]
    rows += [(gap.base, gap.size, "(free)") for gap in free]
    lines += [f"  0x{base:08x} {show_size(size):>9}  {text}" for base, size, text in sorted(rows)]
    asked = sum(area.size for _, area in areas)
    granted = sum(area.granted for _, area in areas)
    gap = f"{100 * (granted - asked) / asked:.1f} % above the lower bound"
    lines.append(
        f"  granted {show_size(granted)}, lower bound {show_size(asked)} (sum of the sizes): {gap};"
        f" free {show_size(sum(f.size for f in free))}"
    )
    return lines


def _notes(owner: str, area: Placed, used: Mapping[str, int]) -> str:
    notes = []
    if area.granted != area.size:
        notes.append(f"asked {show_size(area.size)}, rounding {area.granted - area.size} B")
    if owner in used:
        notes.append(f"used {used[owner]} B, {100 * used[owner] // area.granted} %")
    return f" ({'; '.join(notes)})" if notes else ""


def _regions(plan: Plan, domain: DomainPlan) -> list[str]:
    lines = []
    total = 0
    for grant in joined(domain.grants):
        count = plan.unit.cover(grant.base, grant.size) or 0
        total += count
        name = grant.name if grant.kind != "shared" else f"shared {grant.name}"
        lines.append(
            f"    0x{grant.base:08x}-0x{grant.end:08x} {grant.access:<2}  {name}"
            + (f" ({count} regions)" if count > 1 else "")
        )
    return [f"  {domain.name}: {total}", *lines]
