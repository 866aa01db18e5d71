"""What can be wrong with a file as a whole, before any instruction is looked at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FileRule:
    """Why such a file can't be trusted, and what to do about it. Every one of them rejects.

    `hardware` says what would happen on the chip, `manual` where the format is laid down.
    """

    id: str
    why: str
    fix: str
    hardware: str
    manual: str


_LINK_AGAIN = "link the program again and pass the linker's own output"
_CONVERT_AGAIN = "make the file again from the linked program (objcopy, elf2uf2)"
_CUT_OR_CHANGED = (
    "A flash tool stops in the middle, leaves the record out, or writes it all the same: the chip"
    " then holds something that nobody built."
)
_TWO_CONTENTS = (
    "The tool that writes last wins, or the tool refuses, or flash cells end as the AND of both."
)
_ELF = "System V ABI (gABI 4.1), chapters 4 and 5"
_HEX = "Intel, Hexadecimal Object File Format Specification, revision A, 1988"
_SREC = "Motorola, M68000 Family Programmer's Reference Manual, appendix C"
_UF2 = "UF2 specification (github.com/microsoft/uf2)"

FILE_RULES = {
    rule.id: rule
    for rule in (
        FileRule(
            "empty",
            "there is nothing to judge",
            "pass the program that the linker wrote",
            "Nothing is written, and the chip runs what it held before.",
            "none",
        ),
        FileRule(
            "unknown-format",
            "what can't be read can't be judged",
            "pass ELF, Intel HEX, S-record or UF2, or say where a raw binary lies with --base",
            "What a flash tool makes of it is not known.",
            "none",
        ),
        FileRule(
            "too-large",
            "no microcontroller holds so much, and it was not read",
            "pass the program alone, without debug information if that is what makes it large",
            "It does not fit into the chip.",
            "none",
        ),
        FileRule(
            "encrypted",
            "what looks like noise is not code that can be judged: encrypted, signed as a whole, or"
            " compressed",
            "scan the program before it is encrypted or packed",
            "A boot loader turns it into other bytes before the core executes them, and those were"
            " never scanned.",
            "none",
        ),
        FileRule(
            "elf-malformed",
            "what such a file would put into flash is not known",
            _LINK_AGAIN,
            "Loaders trust different fields of the file, so each writes something else.",
            _ELF,
        ),
        FileRule(
            "elf-overlap",
            "which of the two contents reaches the chip depends on the loader",
            "separate the sections in the linker script",
            _TWO_CONTENTS,
            _ELF,
        ),
        FileRule(
            "wx-segment",
            "code that is written at run time was never scanned",
            "give code and data segments of their own in the linker script",
            "Where the protection unit opens the region for both, a guest can write any instruction"
            " and run it.",
            f"{_ELF}: p_flags; ARMv7-M ARM (DDI 0403E) B3.5.9: AP and XN",
        ),
        FileRule(
            "wrong-machine",
            "its instructions are not those that the rules know",
            "compile for the core of the chip",
            "The core decodes the bytes by its own tables, so nothing that is said of them holds.",
            f"{_ELF}: e_ident, e_machine; Arm IHI 0045 (build attributes)",
        ),
        FileRule(
            "unknown-core",
            "what its instructions do depends on the core",
            "name the core with --arch or --chip, or leave --no-guess out",
            "Another core knows other instructions, and obeys or traps others without privilege.",
            "none",
        ),
        FileRule(
            "no-code",
            "what nothing is known to start can't be followed, so nothing is known of what it does",
            "name where it starts with --entry, where it lies with --base, its core with --arch",
            "The core starts somewhere else, or these are no instructions of this core.",
            "ARMv7-M ARM (DDI 0403E) B1.5.3: the vector table",
        ),
        FileRule(
            "no-guest",
            "nothing in it would run without privilege, so nothing was judged",
            "scan the guests' own programs; `--privileged none` judges all of this one",
            "What runs with privilege may do everything that the rules are about.",
            "ARMv7-M ARM (DDI 0403E) B1.3.1",
        ),
        FileRule(
            "no-host",
            "guests must run without privilege, and this chip has no such mode or no rules",
            "choose a chip whose core has an unprivileged mode and a protection unit",
            "Every instruction of the guest runs with privilege, whatever it was scanned for.",
            "ARMv6-M ARM (DDI 0419E) B1.3.1: the unprivileged extension is optional",
        ),
        FileRule(
            "hex-malformed",
            "what such a file would put into flash depends on the tool that reads it",
            _CONVERT_AGAIN,
            _CUT_OR_CHANGED,
            _HEX,
        ),
        FileRule(
            "hex-checksum",
            "the record was changed or damaged after it was written",
            _CONVERT_AGAIN,
            _CUT_OR_CHANGED,
            _HEX,
        ),
        FileRule(
            "hex-overlap",
            "which of the two contents reaches the chip depends on the tool",
            "merge only files that leave each other's addresses alone",
            _TWO_CONTENTS,
            _HEX,
        ),
        FileRule(
            "srec-malformed",
            "what such a file would put into flash depends on the tool that reads it",
            _CONVERT_AGAIN,
            _CUT_OR_CHANGED,
            _SREC,
        ),
        FileRule(
            "srec-checksum",
            "the record was changed or damaged after it was written",
            _CONVERT_AGAIN,
            _CUT_OR_CHANGED,
            _SREC,
        ),
        FileRule(
            "srec-overlap",
            "which of the two contents reaches the chip depends on the tool",
            "merge only files that leave each other's addresses alone",
            _TWO_CONTENTS,
            _SREC,
        ),
        FileRule(
            "uf2-malformed",
            "what a boot loader makes of such a file is not known",
            _CONVERT_AGAIN,
            "The boot loader leaves blocks out, waits for those that are missing, or starts the"
            " program with parts of an older one.",
            _UF2,
        ),
        FileRule(
            "uf2-overlap",
            "which of the two contents reaches the chip depends on the order of blocks",
            _CONVERT_AGAIN,
            _TWO_CONTENTS,
            _UF2,
        ),
        FileRule(
            "raw-range",
            "the bytes can't lie where --base and --entry say",
            "give --base as the address of a raw binary's first byte, --entry as one inside",
            "Nothing of it would be where the rules looked for it.",
            "none",
        ),
    )
}
