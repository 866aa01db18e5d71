"""Names and text of the record, the same in the VM's sources and in the mid-section's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from porter.interrupt_split.capture import Field

MOST_FIELDS = 8  # FVM_SPLIT_WORDS of fvm/split.h


@dataclass(frozen=True)
class VmNames:
    """What the port adds to the handler's file, under names that nothing there has."""

    parameter: str  # the record that the bottom is given
    record: str  # its struct
    bottom: str  # the legacy handler, run for one record
    once: str  # counts the one round of a loop
    copy: str  # of a function that serves other lines too

    @classmethod
    def free(cls, function: str, line: str, is_taken: Callable[[str], bool]) -> VmNames:
        """For a handler of a line: the usual names, with a number where they are taken."""

        def free(wanted: str) -> str:
            name, number = wanted, 1
            while is_taken(name):
                number += 1
                name = f"{wanted}_{number}"
            return name

        return cls(free("fvm_io"), free(struct_name(line)), free(f"{function}_bottom"),
                   free("fvm_once"), free(f"{function}_{line}"))  # fmt: skip


def struct_name(line: str) -> str:
    """The struct of an interrupt line's records."""
    return f"{line.lower()}_record"


def struct_text(name: str, device: str, fields: Sequence[Field], eol: str = "\n") -> str:
    """The definition of the struct."""
    rows = [f"struct {name} {{"]
    for field in fields:
        once = "" if field.name == field.register.name else f", {field.register.name} once more"
        rows.append(
            f"    uint32_t {field.name}; /* {device} 0x{field.register.address:08X}{once} */"
        )
    return eol.join([*rows, "};", ""])
