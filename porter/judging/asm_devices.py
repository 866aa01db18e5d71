"""Registers of the chip's shared blocks that assembler files reach, by their addresses.

Nothing is rewritten there: a person moves it to C, where each use of a register is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set

from porter.asm.bases import bases, may_be_base
from porter.asm.equates import Equates, equated
from porter.asm.halves import joined
from porter.asm.macros import spelling_arguments
from porter.asm.namings import names_number
from porter.judging.docket import Docket
from porter.judging.verdict import Status, Verdict
from porter.registers.chip_blocks import STM32_BLOCK
from porter.registers.shared_blocks import (
    ADDRESS,
    BLOCK,
    PLAIN,
    REGISTER,
    ROLED,
    is_device,
)
from porter.registers.system_space import in_system_space
from porter.sites.registers import Registers
from porter.sites.site import Site, SiteKind
from porter.source.asm_text import dialect_of, instructions
from porter.source.source_file import SourceFile
from porter.source.values import Number, Pointer

RULE = "assembler-device"
_WHY = (
    "{what} (0x{address:08X}), which no machine owns: write this in C, where each use of a "
    "register becomes what it is in a machine"
)
_NAMED = (PLAIN, ADDRESS, BLOCK, ROLED, STM32_BLOCK)
_PREFIX = re.compile(r"^[=#]\s*")
_HALF = re.compile(r"#?:(lower|upper)(?:16|0_7|8_15):\(?([^)]*)\)?")
_WORD = re.compile(r"[A-Za-z_]\w*")


def judge_asm_devices(docket: Docket) -> None:
    """A verdict for each operand that is such an address, in files that take part in the build."""
    project = docket.project
    assembled = [source for source in project.live if source.is_asm]
    if not assembled:
        return
    registers = project.registers_of(project.knowledge.evaluator(assembled[0].path))
    equates = Equates(
        (source.data for source in project.sources if source.is_asm),
        lambda text: _calculated(registers, text),
    )
    spelling = spelling_arguments(source.data for source in project.sources if source.is_asm)
    told = {(it.site.file, it.site.start) for it in docket.verdicts()}
    for source in assembled:
        docket.add(source, [
            verdict for verdict in _uses(source, registers, equates, spelling)
            if (verdict.site.file, verdict.site.start) not in told
        ])  # fmt: skip


def _calculated(registers: Registers, text: bytes) -> int | None:
    match registers.evaluator.text(text):
        case Number(value=value) | Pointer(address=int() as value):
            return value & 0xFFFF_FFFF
    return None


def _uses(
    file: SourceFile, registers: Registers, equates: Equates, spelling: Mapping[str, Set[int]]
) -> Iterator[Verdict]:
    elsewhere = equates.names - equated(file.data).keys()
    text = tuple(instructions(file.data, dialect_of(file.data)))
    accessed = bases(text)
    words = dict(joined(text, lambda it: equates.value(it.encode("latin-1"))))
    for index, it in enumerate(text):
        if names_number(it):
            continue
        names = spelling.get(it.mnemonic, ())
        operands = [part for place, part in enumerate(it.operands) if place not in names]
        found = [(words[it], "")] if it in words else _numbers(it.mnemonic, operands, equates)
        only_sure = not may_be_base(text, index, accessed)
        for address, name in found:
            if what := _shared(address, name, registers, elsewhere, only_sure):
                site = Site(file.name, it.start, it.end, SiteKind.ASM, str(it), "")
                reason = _WHY.format(what=what, address=address)
                yield Verdict(site, Status.ESCALATED, RULE, reason)
                break


def _numbers(mnemonic: str, operands: Sequence[str], equates: Equates) -> Iterator[tuple[int, str]]:
    """Operands that are numbers, and the name that they begin with; of halves of one, the upper."""
    for operand in operands:
        half = _HALF.fullmatch(operand)
        if half is not None and half[1] == "upper":
            yield from _number(half[2], equates)
        elif half is None and mnemonic not in ("movw", "movt"):
            yield from _number(_PREFIX.sub("", operand), equates)


def _number(text: str, equates: Equates) -> Iterator[tuple[int, str]]:
    value = equates.value(text.encode("latin-1"))
    if value is not None and (is_device(value) or in_system_space(value)):
        name = _WORD.search(text)
        yield value, name[0] if name is not None else ""


def _shared(
    address: int, name: str, registers: Registers, elsewhere: Set[bytes], only_sure: bool
) -> str:
    """What nobody owns at an address, "" for what may be a machine's own. Of the system space, only
    what has a name from `elsewhere`: the transcriber sees what the file itself says. `only_sure`:
    no access goes by it, and a name that a register's bits may have as well says nothing."""
    word = name.encode("latin-1")
    if in_system_space(address):
        return (registers.describe(address) or name) if word in elsewhere else ""
    if not is_device(address):
        return ""
    if any(it.fullmatch(word) for it in (_NAMED if only_sure else (*_NAMED, REGISTER))):
        return name
    return registers.describe(address) or ""
