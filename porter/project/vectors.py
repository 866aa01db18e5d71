"""The legacy vector table: which function serves which exception, from the start-up file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from porter.source.asm_text import Instruction, dialect_of, instructions
from porter.source.c_tree import Node, SyntaxTree, parts_of, text_of, walk
from porter.source.source_file import SourceFile

RESET = 1
FIRST_IRQ = 16
FAULTS = frozenset({2, 3, 4, 5, 6, 7, 12})
CMSIS_HANDLER = re.compile(r"(?:PendSV|SVC|SysTick)_Handler|\w+_IRQHandler")
FAULT_HANDLERS = frozenset(
    {"NMI_Handler", "HardFault_Handler", "MemManage_Handler", "BusFault_Handler",
     "UsageFault_Handler", "DebugMon_Handler"}
)  # fmt: skip
SVC, PENDSV, TICK = 11, 14, 15
SYSTEM = {SVC: "svc", PENDSV: "switch", TICK: "tick"}
_NAMED = {SVC: re.compile(r"svc|sv_?call", re.IGNORECASE),
          PENDSV: re.compile(r"pend_?sv", re.IGNORECASE)}  # fmt: skip
_LONGEST = 512  # entries, more than the architecture has
_SHORTEST = 15  # entries up to SysTick's neighbour: less is no vector table
_WORDS = frozenset({".word", ".long", ".4byte", "dcd", "dc32"})
_RESET = re.compile(r"reset", re.IGNORECASE)
_SYMBOL = re.compile(r"[A-Za-z_]\w*")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_CONDITION = re.compile(rb"(?m)^[ \t]*#[ \t]*(?:if|el|endif)")
Number = Callable[[Node], int | None]
"""Evaluates the constant of `[index] = handler`."""
CallText = Callable[[Node], bytes | None]
"""What a call of a macro stands for; None if it is none."""
Counts = Callable[[Node], bool]
"""Whether an entry is in the table: not if an #if switches it off."""


@dataclass(frozen=True)
class VectorTable:
    """Handler name by exception number; `file` holds the table. `unsure`: numbers that depend on
    what a condition leaves out or on what nobody could calculate."""

    file: SourceFile
    handlers: dict[int, str]
    unsure: frozenset[int] = frozenset()


class Vectors:
    """Which exceptions functions serve: as vector tables and a description (`told`, by name) say,
    and, of a function that they don't have, its name."""

    def __init__(
        self, tables: Iterable[VectorTable] = (), told: Iterable[tuple[str, int]] = ()
    ) -> None:
        self._numbers: dict[str, set[int]] = {}
        entries = [(name, number) for table in tables for number, name in table.handlers.items()
                   if number not in table.unsure]  # fmt: skip
        for name, number in (*entries, *told):
            self._numbers.setdefault(name, set()).add(number)

    def served_by(self, names: Iterable[str]) -> frozenset[int]:
        """Exceptions that end in a function of these names. The kernel takes every fault."""
        names = list(names)
        numbers = frozenset(it for name in names for it in self._numbers.get(name, ())) - FAULTS
        if numbers:
            return numbers
        return frozenset(it for it, name in _NAMED.items() if any(map(name.search, names)))

    def may_be_in(self, text: bytes) -> bool:
        """Whether a text has the name of a function that may serve an exception."""
        words = (it.decode("latin-1") for it in set(_WORD.findall(text)))
        return any(it in self._numbers or CMSIS_HANDLER.fullmatch(it) for it in words)


def tables_in_asm(file: SourceFile) -> Iterator[VectorTable]:
    """Runs of data words of which the second names the reset handler."""
    run: list[str] = []
    sure, end = _LONGEST, 0  # entries in front of what may leave some out or add some
    for instruction in instructions(file.data, dialect_of(file.data)):
        if run and _CONDITION.search(file.data, end, instruction.start):
            sure = min(sure, len(run))
        if instruction.mnemonic in _WORDS:
            run += instruction.operands
        elif run and _ends_table(instruction):
            yield from _table(file, run, frozenset(range(sure, len(run))))
            run, sure = [], _LONGEST
        elif run:
            sure = min(sure, len(run))
        end = instruction.end
    yield from _table(file, run, frozenset(range(sure, len(run))))


def _ends_table(instruction: Instruction) -> bool:
    """A label, an instruction, or the size of what came before."""
    name = instruction.mnemonic
    return instruction.label is not None or name == ".size" or not name.startswith(".")


def tables_in_c(
    file: SourceFile,
    tree: SyntaxTree,
    counts: Counts = lambda _node: True,
    number: Number = lambda _node: None,
    call_text: CallText = lambda _node: None,
) -> Iterator[VectorTable]:
    """Array initialisers of which the second entry names the reset handler."""
    for node in walk(tree.root):
        yield from table_in(file, node, number, counts, call_text)


def table_in(
    file: SourceFile,
    node: Node,
    number: Number,
    counts: Counts = lambda _node: True,
    call_text: CallText = lambda _node: None,
) -> Iterator[VectorTable]:
    """The vector table that an initialiser is, if it is one."""
    if node.type != "initializer_list":
        return
    entries: dict[int, str] = {}
    unsure: set[int] = set()
    position, known = 0, True
    elements = (it for child in parts_of(node) if counts(child) for it in _made(child, call_text))
    for child in elements:
        designator = child.child_by_field_name("designator")
        if designator is not None and designator.named_children:
            index = number(designator.named_children[-1])  # of a range the last
            known = index is not None and 0 <= index < _LONGEST
            if index is None or not known:
                continue
            position = index
        value = child.child_by_field_name("value") if designator is not None else child
        if value is not None and value.type == "initializer_list" and len(parts_of(value)) > 1:
            return  # a table of something else with a handler in it
        entries[position] = _entry(value) if value is not None else "0"
        unsure |= set() if known else {position}
        position += 1
    run = [entries.get(n, "0") for n in range(max(entries, default=0) + 1)]
    yield from _table(file, run, frozenset(unsure))


def _made(child: Node, call_text: CallText) -> list[Node]:
    """An element of an initialiser; those that a macro makes, with their indices."""
    text = call_text(child)
    tree = SyntaxTree(b"int made[] = { %s };" % text, 0) if text is not None else None
    if tree is None or tree.root.has_error:
        return [child]
    return next(parts_of(it) for it in walk(tree.root) if it.type == "initializer_list")


def _entry(node: Node) -> str:
    names = [text_of(item).decode("latin-1") for item in walk(node) if item.type == "identifier"]
    return names[-1] if names else "0"


def _table(
    file: SourceFile, entries: Sequence[str], unsure: frozenset[int]
) -> Iterator[VectorTable]:
    if len(entries) < _SHORTEST or not _RESET.search(entries[1]):
        return
    handlers = {
        number: match.group()
        for number, entry in enumerate(entries)
        if number and (match := _SYMBOL.search(entry)) is not None
    }
    yield VectorTable(file, handlers, unsure)
