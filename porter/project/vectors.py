"""The legacy vector table: which function serves which exception, from the start-up file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.source.asm_text import Instruction, dialect_of, instructions
from porter.source.c_tree import Node, SyntaxTree, text_of, walk
from porter.source.source_file import SourceFile

FIRST_IRQ = 16
FAULTS = frozenset({2, 3, 4, 5, 6, 7, 12})
FAULT_HANDLERS = frozenset(
    {"NMI_Handler", "HardFault_Handler", "MemManage_Handler", "BusFault_Handler",
     "UsageFault_Handler", "DebugMon_Handler"}
)  # fmt: skip
SYSTEM = {11: "svc", 14: "switch", 15: "tick"}
_SHORTEST = 15  # entries up to SysTick's neighbour: less is no vector table
_WORDS = frozenset({".word", ".long", ".4byte", "dcd", "dc32"})
_RESET = re.compile(r"reset", re.IGNORECASE)
_SYMBOL = re.compile(r"[A-Za-z_]\w*")


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


def tables_in_c(file: SourceFile, tree: SyntaxTree) -> Iterator[VectorTable]:
    """Array initialisers of which the second entry names the reset handler."""
    for node in walk(tree.root):
        yield from table_in(file, node)


def table_in(file: SourceFile, node: Node) -> Iterator[VectorTable]:
    """The vector table that an initialiser is, if it is one."""
    if node.type == "initializer_list" and node.named_child_count >= _SHORTEST:
        entries = [_entry(child) for child in node.named_children if child.type != "comment"]
        yield from _table(file, entries)


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
