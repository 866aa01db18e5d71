"""What can be wrong with a file as a whole, before any instruction is looked at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FileRule:
    """Why such a file can't be trusted, and what to do about it. Every one of them rejects."""

    id: str
    why: str
    fix: str


FILE_RULES = {
    rule.id: rule
    for rule in (
        FileRule(
            "elf-malformed",
            "what such a file would put into flash is not known",
            "link the program again and pass the linker's own output",
        ),
        FileRule(
            "elf-overlap",
            "which of the two contents reaches the chip depends on the loader",
            "separate the sections in the linker script",
        ),
        FileRule(
            "wx-segment",
            "code that is written at run time was never scanned",
            "give code and data segments of their own in the linker script",
        ),
        FileRule(
            "wrong-machine",
            "its instructions are not those that the rules know",
            "compile for the core of the chip",
        ),
        FileRule(
            "no-host",
            "guests must run without privilege, and this chip has no such mode or no rules",
            "choose a chip with a Cortex-M0+, M3, M4, M7 or M33",
        ),
    )
}
