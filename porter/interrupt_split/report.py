"""What becomes of a handler, for people and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from porter.interrupt_split.record import struct_name
from porter.interrupt_split.result import HandlerSplit

SCHEMA = 1


def as_json(splits: Sequence[HandlerSplit]) -> str:
    """Schema 1."""
    document = {"schema": SCHEMA, "splits": [_entry(split) for split in splits]}
    return json.dumps(document, indent=1) + "\n"


def _entry(split: HandlerSplit) -> dict[str, object]:
    function = split.function
    done = split.mid is not None
    return {
        "irq": split.vector.name,
        "handler": split.handler,
        "file": function.text.file.name if function is not None else None,
        "function": function.name if function is not None else None,
        "process": split.split.process,
        "section": split.split.section,
        "split": done or split.is_split_already,
        "lines": [
            {"line": line.line, "section": line.section, "why": line.why} for line in split.lines
        ],
        "record": [
            {
                "field": field.name,
                "register": field.register.name,
                "address": field.register.address,
                "effect": field.register.kind.effect,
            }
            for field in (split.fields if done else ())
        ],
        "middle_writes": list(split.writers.middle) if split.writers is not None else [],
        "vm_writes": list(split.writers.vm) if split.writers is not None else [],
        "escalated": list(split.escalated),
    }


def as_text(splits: Sequence[HandlerSplit]) -> str:
    """Every statement of each handler with its section, and what goes between them."""
    return "\n".join("\n".join(_lines(split)) + "\n" for split in splits)


def _lines(split: HandlerSplit) -> Iterator[str]:
    function = split.function
    place = f", {function.name} in {function.text.file.name}" if function is not None else ""
    yield f"{split.vector.name}: {split.handler}{place}"
    if split.is_split_already:
        yield f"  split already: it takes its records from {split.split.section}"
        return
    if split.mid is None:
        yield "  not split: the whole handler stays in the VM"
        return
    if function is None:
        return
    yield f"  top     the kernel's stub closes the line and signals {split.split.process}"
    file = function.text.file
    texts = file.data.decode("latin-1").splitlines()
    for line in split.lines:
        text = texts[line.line - 1].strip() if line.line <= len(texts) else ""
        yield f"  {line.section:7} {line.line:5}  {_short(text):60}  {line.why}"
    yield "  top     opens the line again, once the cause is gone or the VM has served it"
    yield ""
    yield f"  record  struct {struct_name(split.vector.name)}, from {split.split.section} to the VM"
    for field in split.fields:
        register = f"{split.split.device}->{field.register.name}"
        where = ", ".join(str(line) for line in sorted({read.line for read in field.reads}))
        used = f"used in line {where}" if where else "tells whether the cause is gone"
        yield f"          {field.name:8} {register} (0x{field.register.address:08X}), {used}"
    if split.writers is not None:
        yield f"  writes  middle: {', '.join(split.writers.middle) or 'none'}"
        yield f"          VM:     {', '.join(split.writers.vm) or 'none'}"


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
