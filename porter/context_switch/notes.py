"""Comments: which instructions stand beside which statement, and what needed no C."""

from __future__ import annotations

from dataclasses import replace

from porter.context_switch.ir import Note, Origin
from porter.context_switch.structure import If, Node, flatten


def merge_notes(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Join what needs no C: with the statement behind it, or with the note beside it."""
    shown = {
        address
        for node in flatten(nodes)
        if not isinstance(node, Note)
        for address, _ in node.origin
    }
    merged: list[Node] = []
    waiting: list[Note] = []
    for node in nodes:
        if isinstance(node, Note):
            origin = tuple(item for item in node.origin if item[0] not in shown)
            if origin:
                waiting.append(Note(origin, node.why))
            continue
        told = _last_reason(waiting)
        if told:
            merged.append(_joined(waiting[:told]))
        if waiting[told:]:
            silent = tuple(item for note in waiting[told:] for item in note.origin)
            node = replace(node, origin=(*silent, *node.origin))
        waiting = []
        if isinstance(node, If):
            node = If(
                node.condition, merge_notes(node.then), merge_notes(node.otherwise), node.origin
            )
        merged.append(node)
    if told := _last_reason(waiting):  # what is left is the return: the closing brace says it
        merged.append(_joined(waiting[:told]))
    return tuple(merged)


def written(origin: Origin) -> str:
    """The text of instructions in address order."""
    return "; ".join(text for _, text in sorted(set(origin)))


def comment(note: Note, width: int) -> list[str]:
    """A note as a comment of lines up to a width."""
    text = f"{written(note.origin)}: {note.why}" if note.why else written(note.origin)
    lines = [""]
    for word in f"/* {text}. */".split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(" *")
        lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return lines


def _last_reason(notes: list[Note]) -> int:
    """How many of the notes go into a comment of their own: up to the last that gives a reason."""
    return max((number for number, note in enumerate(notes, 1) if note.why), default=0)


def _joined(notes: list[Note]) -> Note:
    origin = tuple(dict.fromkeys(item for note in notes for item in note.origin))
    return Note(origin, "; ".join(dict.fromkeys(note.why for note in notes if note.why)))
