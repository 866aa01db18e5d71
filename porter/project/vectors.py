"""The legacy vector table: which function serves which exception, from the start-up file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from porter.source.asm_text import Instruction, dialect_of, instructions
from porter.source.c_tree import Node, SyntaxTree, text_of, walk
from porter.source.source_file import SourceFile

FIRST_IRQ = 16
FAULTS = frozenset({2, 3, 4, 5, 6, 7, 12})
CMSIS_HANDLER = re.compile(r"(?:PendSV|SVC|SysTick)_Handler|\w+_IRQHandler")
FAULT_HANDLERS = frozenset(
    {"NMI_Handler", "HardFault_Handler", "MemManage_Handler", "BusFault_Handler",
     "UsageFault_Handler", "DebugMon_Handler"}
)  # fmt: skip
SYSTEM = {11: "svc", 14: "switch", 15: "tick"}
_LONGEST = 512  # entries, more than the architecture has
_SHORTEST = 15  # entries up to SysTick's neighbour: less is no vector table
_WORDS = frozenset({".word", ".long", ".4byte", "dcd", "dc32"})
_RESET = re.compile(r"reset", re.IGNORECASE)
_SYMBOL = re.compile(r"[A-Za-z_]\w*")
Number = Callable[[Node], int | None]
"""Evaluates the constant of `[index] = handler`."""
Counts = Callable[[Node], bool]
"""Whether an entry is in the table: not if an #if switches it off."""


@dataclass(frozen=True)
class VectorTable:
    """Handler name by exception number; `file` holds the table."""

    file: SourceFile
    handlers: dict[int, str]


def tables_in_asm(file: SourceFile) -> Iterator[VectorTable]:
    """Runs of data words of which the second names the reset handler."""
    run: list[str] = []
    for instruction in instructions(file.data, dialect_of(file.data)):
        if instruction.mnemonic in _WORDS:
            run += instruction.operands
        elif run and _ends_table(instruction):
            yield from _table(file, run)
            run = []
    yield from _table(file, run)


def _ends_table(instruction: Instruction) -> bool:
    """A label, an instruction, or the size of what came before."""
    name = instruction.mnemonic
    return instruction.label is not None or name == ".size" or not name.startswith(".")


def tables_in_c(
    file: SourceFile, tree: SyntaxTree, counts: Counts = lambda _node: True
) -> Iterator[VectorTable]:
    """Array initialisers of which the second entry names the reset handler."""
    for node in walk(tree.root):
        yield from table_in(file, node, lambda _node: None, counts)


def table_in(
    file: SourceFile, node: Node, number: Number, counts: Counts = lambda _node: True
) -> Iterator[VectorTable]:
    """The vector table that an initialiser is, if it is one."""
    if node.type != "initializer_list":
        return
    entries: dict[int, str] = {}
    position = 0
    for child in node.named_children:
        if child.type == "comment" or not counts(child):
            continue
        designator = child.child_by_field_name("designator")
        if designator is not None and designator.named_children:
            index = number(designator.named_children[-1])  # of a range the last
            if index is None or not 0 <= index < _LONGEST:
                continue
            position = index
        value = child.child_by_field_name("value") if designator is not None else child
        entries[position] = _entry(value) if value is not None else "0"
        position += 1
    yield from _table(file, [entries.get(n, "0") for n in range(max(entries, default=0) + 1)])


def _entry(node: Node) -> str:
    names = [text_of(item).decode("latin-1") for item in walk(node) if item.type == "identifier"]
    return names[-1] if names else "0"


def _table(file: SourceFile, entries: Sequence[str]) -> Iterator[VectorTable]:
    if len(entries) < _SHORTEST or not _RESET.search(entries[1]):
        return
    handlers = {
        number: match.group()
        for number, entry in enumerate(entries)
        if number and (match := _SYMBOL.search(entry)) is not None
    }
    yield VectorTable(file, handlers)
