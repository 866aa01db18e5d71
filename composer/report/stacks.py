"""How deep every stack went, from a dump of the RAM.

The runtime fills a stack with a pattern when its domain starts (<fvm/stack.h>); what is still
there at the low end was never used since.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from composer.image.binary import read_binary
from composer.image.composed import Composed, ram_bank
from composer.plan import DomainPlan, Plan
from scanner.image.model import Image
from scanner.report.errors import FvmError

PATTERN = 0xA5
TIGHT = 90  # percent: more is reported
VM_STACKS = ("VCT", "USR")


@dataclass(frozen=True)
class Stack:
    """A stack at [limit, limit + size). `used`: bytes from the top to the deepest that changed."""

    part: str
    name: str
    kind: str
    limit: int
    size: int
    used: int

    @property
    def percent(self) -> int:
        """Of its size, rounded up."""
        return -(-100 * self.used // self.size)

    @property
    def overflowed(self) -> bool:
        """The lowest word is gone: most likely more below it is, too."""
        return self.used >= self.size

    @property
    def tight(self) -> bool:
        """More than TIGHT percent were used."""
        return self.percent > TIGHT


def read_stacks(plan: Plan, system: Composed, dump: bytes, file: Path | None = None) -> list[Stack]:
    """Kernel first, then every thread; FvmError when no stack in the dump was ever painted."""
    base = ram_bank(system.folder).base
    found = []
    for part, name, kind, limit, top in _bounds(plan, system):
        memory = dump[limit - base : top - base]
        if limit < base or len(memory) != top - limit or not memory:
            raise FvmError(f"has no RAM at the stack '{name}' of '{part}'", file=file)
        untouched = len(memory) - len(memory.lstrip(bytes([PATTERN])))
        found.append(Stack(part, name, kind, limit, len(memory), len(memory) - untouched // 4 * 4))
    if all(stack.overflowed for stack in found):
        raise FvmError(
            "has no painted stack, so it is no dump of this system after its start",
            file=file,
            hint="take it from a chip or a machine that runs this image",
        )
    return found


def _bounds(plan: Plan, system: Composed) -> Iterator[tuple[str, str, str, int, int]]:
    """Part, name, kind, limit and top of every stack, by the symbols of the linker scripts."""
    image = read_binary("kernel", system.elf("kernel")).image
    limit, top = (
        _symbol(image, f"kernel_stack_{end}", system, "kernel") for end in ("limit", "top")
    )
    yield "kernel", "kernel", "kernel", limit, top
    for domain in plan.domains:
        image = read_binary(domain.name, system.elf(domain.name)).image
        for thread in domain.stacked:
            symbol = f"fvm_stack_{thread.slot}"
            limit, top = (
                _symbol(image, s, system, domain.name) for s in (f"{symbol}_limit", symbol)
            )
            name = VM_STACKS[thread.slot] if domain.vcpu is not None else thread.function
            yield domain.name, name, _kind(domain), limit, top


def _kind(domain: DomainPlan) -> str:
    if domain.index == 0:
        return "hypervisor thread"
    return "native thread" if domain.vcpu is None else "VM"


def _symbol(image: Image, name: str, system: Composed, part: str) -> int:
    found = None if image.symbols is None else image.symbols.extent(name)
    if found is None:
        raise FvmError(
            f"has no symbol '{name}'", file=system.elf(part), hint="compose and build again"
        )
    return found[0]
