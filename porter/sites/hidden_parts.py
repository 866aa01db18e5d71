"""asm templates of which a macro's argument, or a macro that isn't here, is a part.

`"csrr %0, " #reg` reads whatever register the macro is given: each use says which.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from porter.asm.numbered import is_numbered
from porter.asm.privileged import judged_by_operand
from porter.source.asm_text import Instruction
from porter.source.c_lexer import Token
from porter.source.inline_asm import AsmStatement, in_template
from porter.source.macros import MacroTable

# What stands for the hidden text, so that it is read as a part of the instruction.
_GIVEN = "fvm_given_"
_UNKNOWN = "fvm_unknown_"


def hidden_instructions(
    statement: AsmStatement, parameters: tuple[bytes, ...], macros: MacroTable
) -> Iterator[Instruction]:
    """Instructions that may be ones for the kernel, with the name of what is hidden in place."""
    for instruction in _marked(statement, parameters, macros):
        operands = " ".join(instruction.operands)
        is_judged = judged_by_operand(instruction.mnemonic)
        is_hidden = is_judged and (_GIVEN in operands or _UNKNOWN in operands)
        is_number = is_numbered(instruction) and _GIVEN in operands
        if is_hidden or is_number or _GIVEN in instruction.mnemonic:
            yield replace(
                instruction,
                mnemonic=_plain(instruction.mnemonic),
                operands=tuple(map(_plain, instruction.operands)),
            )


def _marked(
    statement: AsmStatement, parameters: tuple[bytes, ...], macros: MacroTable
) -> tuple[Instruction, ...]:
    if statement.template:
        tokens = [_marked_token(token, parameters) for token in statement.template]
        return in_template(filter(None, map(_as_string, macros.expand(tokens))))
    if statement.form != "block":
        return ()
    given = {name.decode("latin-1") for name in parameters}
    return tuple(
        replace(it, operands=tuple(_GIVEN + o if o in given else o for o in it.operands))
        for it in statement.instructions
    )


def _marked_token(token: Token, parameters: tuple[bytes, ...]) -> Token:
    marked = _GIVEN.encode() + token.text
    return token._replace(text=marked) if token.text in parameters else token


def _as_string(text: bytes) -> bytes:
    """A part of an expanded template as a string; b"" for what is no text of it."""
    if text.startswith(b'"'):
        return text
    if not text.replace(b"_", b"a").isalnum():
        return b""
    mark = b"" if text.startswith(_GIVEN.encode()) else _UNKNOWN.encode()
    return b'"' + mark + text + b'"'


def _plain(text: str) -> str:
    return text.replace(_GIVEN, "").replace(_UNKNOWN, "")
