"""Which numbers in assembler text control gets to: instructions, and not constants or tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from porter.source.asm_text import Instruction

_LOADS = re.compile(r"(?:v?ldr|adr|f?l[bhwd]u?$|l?la$)")
_BY_TABLE = frozenset({"tbb", "tbh"})  # whose distances stand behind them
_ENDS = _BY_TABLE | frozenset({"b", "bx", "bal", "j", "jr", "ret", "tail", "mret", "c.j", "c.jr"})
_TO_PC = frozenset({"mov", "ldr", "add", "sub"})
_POPS = re.compile(r"(?:pop|ldm)")
_SECTION = frozenset({".section", ".pushsection", "area", "rseg", "section"})
_DATA = re.compile(r"\.?(?:s?data|s?bss|rodata|rdata|comment|note|debug|str)", re.IGNORECASE)
_FLAGS = re.compile(r'"(\w*)"')
_LOCAL = re.compile(r"(\d+)[fb]")


def reached(instructions: Sequence[Instruction]) -> Iterator[bool]:
    """For each instruction whether control may get there: behind a jump a label brings it back,
    unless the code loads from there."""
    loaded = _loaded(instructions)
    sections = [True]
    is_live, before = True, ""
    for it in instructions:
        if it.label is not None:
            is_live = is_live or (it.label not in loaded and before not in _BY_TABLE)
        elif it.mnemonic in _SECTION or it.mnemonic in (".text", ".data", ".bss"):
            is_code = _is_code(it)
            if it.mnemonic == ".pushsection":
                sections.append(is_code)
            sections[-1] = is_code
            is_live = True
        elif it.mnemonic in (".popsection", ".previous"):
            sections = sections[:-1] or [True]
            is_live = True
        yield is_live and sections[-1]
        if _ends_flow(it):
            is_live = False
        before = before if it.label is not None else it.mnemonic


def _is_code(directive: Instruction) -> bool:
    """Whether a section has instructions; one without flags has, unless its name is of data's."""
    if directive.mnemonic in (".data", ".bss"):
        return False
    text = ", ".join(directive.operands)
    if directive.mnemonic in ("area", "rseg", "section"):  # of Arm's and IAR's assemblers
        return re.search(r"\b(?:DATA|CONST)\b", text, re.IGNORECASE) is None
    if (flags := _FLAGS.search(text)) is not None:
        return "x" in flags.group(1)
    return _DATA.match(text) is None


def _ends_flow(it: Instruction) -> bool:
    operands = [operand.lower() for operand in it.operands]
    if it.condition:
        return False
    if it.base in _ENDS:
        return True
    if _POPS.match(it.base):
        return re.search(r"\bpc\b", ", ".join(operands)) is not None
    if it.mnemonic == "jalr":
        return operands[:1] in (["x0"], ["zero"])
    return it.base in _TO_PC and operands[:1] == ["pc"]


def _loaded(instructions: Sequence[Instruction]) -> set[str]:
    """Labels that code loads from, or whose address it takes, and that are no function's."""
    loads: set[str] = set()
    others: set[str] = set()
    for it in instructions:
        is_load = _LOADS.match(it.mnemonic) is not None
        if it.mnemonic.startswith(".") and not _is_of_function(it):
            continue
        for operand in it.operands:
            name = operand.removeprefix("=").strip()
            found = _LOCAL.fullmatch(name)
            (loads if is_load else others).add(found.group(1) if found else name)
    return loads - others


def _is_of_function(directive: Instruction) -> bool:
    """Whether what a directive names may be called from elsewhere."""
    if directive.mnemonic == ".type":
        return any("function" in operand.lower() for operand in directive.operands)
    return directive.mnemonic in (".global", ".globl", ".thumb_func")
