"""An asm statement of a C function as a function in assembler: each operand is a register that
nothing else in the statement uses."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from porter.context_switch.assemble import Assembly, assembled
from porter.context_switch.object_file import Function
from porter.project.compile_options import CompileOptions
from porter.source.c_lexer import lex_fragment
from porter.source.c_strings import decode_strings
from porter.source.c_tree import Node, text_of, walk

_NAME = "fvm_statement"
_HEAD = f"""\
    .syntax {{}}
    .thumb
    .text
    .global {_NAME}
    .type {_NAME}, %function
    .thumb_func
{_NAME}:
"""
_TAIL = "\n    bx lr\n    .ltorg\n"
# As compilers give asm at file scope to the assembler: of Arm in either syntax, of RISC-V plainly.
_HEADS = (".syntax unified; .thumb\n", ".syntax divided; .thumb\n", "")
_COMMENT = re.compile(rb"/\*.*?\*/", re.DOTALL)
_OPERANDS = ("gnu_asm_output_operand", "gnu_asm_input_operand")
_REGISTERS = re.compile(r"\br(\d+)(?:\s*-\s*r(\d+))?\b", re.IGNORECASE)
_OPERAND = re.compile(r"%(?:([A-Za-z]?)(?:(\d+)|\[(\w+)\])|([%={}|]))")
_MEMORY = re.compile(r"[mQoVU]")
_IN_REGISTER = re.compile(r"[rlhwxt0-9]")


@dataclass(frozen=True)
class Alone:
    """A statement as a `function`. `operands`: registers that stand for what C puts in their place,
    `addresses`: those of them that hold a variable's address."""

    assembly: Assembly
    function: Function
    operands: frozenset[str]
    addresses: frozenset[str]


def text_in(statement: Node) -> str:
    """The text for the assembler, as C writes it, of all its strings."""
    return template_of(statement).decode("latin-1")


def template_of(statement: Node) -> bytes:
    """The same in bytes, without comments that the assembler passes over within a line."""
    code = statement.child_by_field_name("assembly_code")
    return b"" if code is None else _joined(text_of(code))


@lru_cache(maxsize=1 << 14)
def _joined(strings: bytes) -> bytes:
    return _COMMENT.sub(b" ", decode_strings(lex_fragment(strings)).text)


def at_file_scope(text: str, options: CompileOptions) -> Assembly | None:
    """What an assembler makes of asm at file scope; None where it refuses."""
    made = (as_file(head + text, options) for head in _HEADS)
    return next((it for it in made if it is not None), None)


def as_file(text: str, options: CompileOptions) -> Assembly | None:
    """What an assembler makes of a text; None where it refuses."""
    with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder:
        file = Path(folder, "statement.s")
        file.write_text(text)
        return assembled(file, options)


def as_function(statement: Node, options: CompileOptions) -> Alone | None:
    """A statement as a function; None where it can't be one."""
    text = text_in(statement)
    operands = [it for it in walk(statement) if it.type in _OPERANDS]
    taken = {number for first, last in _REGISTERS.findall(text)
             for number in range(int(first), int(last or first) + 1)}  # fmt: skip
    free = [f"r{number}" for number in range(13) if number not in taken]
    if len(free) < len(operands):
        return None
    stands_for, named, addresses = [], dict[str, int](), set[str]()
    for place, operand in enumerate(operands):
        symbol = operand.child_by_field_name("symbol")
        if symbol is not None:
            named[text_of(symbol).decode("latin-1")] = place
        kind = text_of(operand.child_by_field_name("constraint") or operand).decode("latin-1")
        if _IN_REGISTER.search(kind):
            stands_for.append(free[place])
        elif _MEMORY.search(kind):
            stands_for.append(f"[{free[place]}]")
            addresses.add(free[place])
        else:
            stands_for.append("#0")

    def put(match: re.Match[str]) -> str:
        modifier, number, name, other = match.groups()
        if other is not None:
            return {"%": "%", "=": "0"}.get(other, other)
        place = int(number) if number else named.get(name, len(stands_for))
        found = stands_for[place] if place < len(stands_for) else "r?"
        bare = found.strip("[]#")
        return {"a": f"[{bare}]", "m": bare, "c": bare}.get(modifier, found)

    own = _OPERAND.sub(put, text) if operands or _has_sections(statement) else text
    for syntax in ("unified", "divided"):
        if (made := as_file(_HEAD.format(syntax) + own + _TAIL, options)) is not None:
            (function,) = (it for it in made.object.functions if it.name == _NAME)
            return Alone(made, function, frozenset(free[: len(operands)]), frozenset(addresses))
    return None


def _has_sections(statement: Node) -> bool:
    """Whether it has operands or clobbers: in the text of others % means nothing."""
    return any(it.type.endswith("_list") for it in statement.named_children)
