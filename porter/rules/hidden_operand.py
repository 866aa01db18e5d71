"""Inline assembler whose instruction or register is what a macro is given."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.asm.privileged import judged_by_operand, privileged
from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.program.macro_callers import uses_in_code
from porter.program.macro_uses import MacroUse
from porter.rules.rule import Rule, Sample
from porter.sites.hidden_parts import hidden_instructions
from porter.sites.region import Region, constant_in
from porter.sites.site import SiteKind
from porter.source.asm_text import Instruction
from porter.source.c_lexer import lex_fragment
from porter.source.inline_asm import ASM_WORDS, AsmStatement, find_asm

_REGISTER = re.compile(r"[A-Za-z_]\w*|0[xX][0-9a-fA-F]+")
_SHOWN = 6
_READ = (
    '#define READ(reg) ({ unsigned long v; asm volatile("csrr %0, " #reg : "=r"(v)); v; })\n'
    "unsigned long f(void) { return READ(REGISTER); }\n"
)
_THROUGH = _READ.replace("READ(REGISTER)", "NOW(REGISTER)") + "#define NOW(reg) READ(reg)\n"
_WRITE = (
    "#define TEXT(x) #x\n"
    '#define WRITE(reg, v) asm volatile("msr " TEXT(reg) ", %0" :: "r"(v))\n'
    "void f(void) { WRITE(REGISTER, 1); }\n"
)
_ANY = "#define DO(text) asm volatile(#text)\nvoid f(void) { DO(INSTRUCTION); }\n"
_NUMBER = '#define EMIT(op) asm(".short " #op)\nvoid f(void) { EMIT(OPCODE); }\n'
_LABEL = '#define MARK(name) asm volatile("mark_" #name ".%=:")\nvoid f(void) { MARK(here); }\n'


class HiddenOperand(Rule):
    """Every use of the macro says what it does: all are harmless, or a person looks."""

    id = "hidden-operand"
    finds = "asm statements in macros whose register or instruction is an argument of the macro"
    becomes = "itself, if no use names a register of the kernel"
    why = "what such an instruction does is known only where the macro is used"
    samples = (
        Sample(_READ.replace("REGISTER", "mstatus"), "", escalates=True),
        Sample(_THROUGH.replace("REGISTER", "mstatus"), "", escalates=True),
        Sample(_THROUGH.replace("REGISTER", "cycle"), "", escalates=True),
        Sample(_THROUGH.replace("REGISTER", "frm"), _THROUGH.replace("REGISTER", "frm")),
        Sample(_WRITE.replace("REGISTER", "basepri"), "", escalates=True),
        Sample(_WRITE.replace("REGISTER", "APSR"), _WRITE.replace("REGISTER", "APSR")),
        Sample(_ANY.replace("INSTRUCTION", "cpsid i"), "", escalates=True),
        Sample(_ANY.replace("INSTRUCTION", "nop"), _ANY.replace("INSTRUCTION", "nop")),
        Sample(_NUMBER.replace("OPCODE", "0xb672"), "", escalates=True),
        Sample(_NUMBER.replace("OPCODE", "0xbf00"), _NUMBER.replace("OPCODE", "0xbf00")),
        Sample(_LABEL, _LABEL),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Macro by macro."""
        for site in unit.pending(SiteKind.ASM):
            region = unit.region(site)
            statement = unit.found.asm[site]
            if region.name is None or not _is_hidden(unit, statement, region):
                continue
            uses = list(uses_in_code(region.name, unit.macro_uses))
            done = [_does(use, unit) for use in uses]
            is_only = len(unit.text.evaluator.macros.all_of(region.name)) < 2
            if not uses:
                yield self.left(site, "no code that may run uses the macro")
            elif is_only and not any(map(_needs_kernel, done)):
                yield self.left(site, "no use of the macro names a register of the kernel")
            else:
                yield self.escalated(site, _reason(region.name.decode("latin-1"), done))


def _is_hidden(unit: Unit, statement: AsmStatement, region: Region) -> bool:
    macros = unit.text.evaluator.macros
    return any(hidden_instructions(statement, region.parameters, macros))


def _does(use: MacroUse, unit: Unit) -> list[Instruction] | None:
    """The instructions that a use becomes; None where a part of them is still hidden."""
    macros = use.text.evaluator.macros
    text = b" ".join(macros.expand(lex_fragment(use.text.file.data[use.start : use.end])))
    found: list[Instruction] = []
    for written in find_asm(lex_fragment(text), text, ASM_WORDS.__contains__):
        statement = unit.found.numbered.statement(written, constant_in(use.text.evaluator))
        if any(hidden_instructions(statement, (), macros)):
            return None
        found += statement.instructions
    return found or None


def _needs_kernel(instructions: list[Instruction] | None) -> bool:
    return instructions is None or any(map(privileged, instructions))


def _reason(macro: str, done: list[list[Instruction] | None]) -> str:
    names = dict.fromkeys(
        name
        for instructions in done
        for instruction in instructions or ()
        if privileged(instruction)
        for name in _names(instruction)
    )
    shown = ", ".join(list(names)[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    used = f" ({macro} is used with {shown})" if names else f" ({macro})"
    return f"a part of the template is a macro: write it out{used}"


def _names(instruction: Instruction) -> list[str]:
    """The registers, or all of an instruction that isn't for the kernel by its register."""
    if not judged_by_operand(instruction.mnemonic):
        return [str(instruction)]
    return [it for it in instruction.operands if _REGISTER.fullmatch(it)]
