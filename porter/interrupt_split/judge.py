"""What becomes of a record: the frame rule and the user's policy as C."""

from __future__ import annotations

from collections.abc import Sequence

from porter.interrupt_split.capture import Field
from porter.interrupt_split.record import struct_name
from porter.project.domain import Frame, Split


def needs_judge(split: Split) -> bool:
    """Whether any record is not simply posted."""
    return split.frame is not None or split.policy is not None


def tells_characters(register: str) -> str:
    """The variable that tells captures with the frame's register from others."""
    return f"{register.lower()}_was_read"


def judge_text(split: Split, fields: Sequence[Field], other_causes: bool) -> str:
    """The function `judge`; a line of `void NAME(void)` is named after its section."""
    record = f"struct {struct_name(split.section.removesuffix('_mid'))}"
    rows: list[str] = []
    if split.policy is not None:
        rows += [f"enum fvm_verdict {split.policy}(const {record} *record);", ""]
    if split.frame is not None:
        ends = ", ".join(_character(end) for end in split.frame.ends)
        rows.append(
            f"/* The VM is woken at the end of a frame ({ends}) or after {split.frame.longest} "
            "records, and at once\n * for what only it can serve. */"
        )
    rows += [
        "static enum fvm_verdict judge(const uint32_t *words, bool consumed)",
        "{",
    ]
    if split.frame is not None:
        rows.append("    static uint32_t length; /* records since the VM was woken */")
    rows.append(f"    const {record} *record = (const {record} *)words;")
    if split.policy is not None:
        rows.append(f"    enum fvm_verdict verdict = consumed ? {split.policy}(record) : FVM_POST;")
    rows.append("")
    if split.policy is not None and split.frame is None:
        return "\n".join([*rows, "    return verdict;", "}"])
    if split.policy is not None:
        rows += ["    if (verdict != FVM_POST) {", "        return verdict;", "    }"]
    if split.frame is not None:
        rows += _frame(split.frame, fields, other_causes)
    return "\n".join([*rows, "}"])


def _frame(frame: Frame, fields: Sequence[Field], other_causes: bool) -> list[str]:
    also = f" || !{tells_characters(frame.register)}" if other_causes else ""
    mask = 0xFF if all(end <= 0xFF for end in frame.ends) else 0xFFFF
    tests = [
        f"(record->{field.name} & 0x{mask:X}U) == {end}U"
        for field in fields
        if field.register.name == frame.register and field.reads
        for end in frame.ends
    ]
    rows = ["    length++;", f"    if (!consumed{also} || length >= {frame.longest}U"]
    rows[-1] += "".join(f" ||\n        {test}" for test in tests) + ") {"
    return [
        *rows,
        "        length = 0;",
        "        return FVM_POST;",
        "    }",
        "    return FVM_POSTPONE;",
    ]


def _character(code: int) -> str:
    names = {0: "NUL", 3: "ETX", 4: "EOT", 10: "LF", 13: "CR", 27: "ESC"}
    if code in names:
        return names[code]
    return chr(code) if 0x21 <= code < 0x7F and chr(code) not in "*/\\" else f"0x{code:02X}"
