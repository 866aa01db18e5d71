"""Names and text of the record, the same in the VM's sources and in the mid-section's."""

from __future__ import annotations

from collections.abc import Sequence

from porter.interrupt_split.capture import Field

MOST_FIELDS = 8  # FVM_SPLIT_WORDS of fvm/split.h
PARAMETER = "fvm_io"


def struct_name(line: str) -> str:
    """The struct of an interrupt line's records."""
    return f"{line.lower()}_record"


def struct_text(line: str, device: str, fields: Sequence[Field], eol: str = "\n") -> str:
    """The definition of the struct."""
    rows = [f"struct {struct_name(line)} {{"]
    for field in fields:
        once = "" if field.name == field.register.name else f", {field.register.name} once more"
        rows.append(
            f"    uint32_t {field.name}; /* {device} 0x{field.register.address:08X}{once} */"
        )
    return eol.join([*rows, "};", ""])
