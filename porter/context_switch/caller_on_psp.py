"""Assembler functions that put whoever calls them on PSP: main() on its way to the first task.

`msr psp, r0 ... msr control, r1 ... bx lr`, from where on the caller pushes to the stack that r0
leads to. A guest's code has one stack pointer, and so `mov sp, r0` in place of the first does all
of it. The function stays assembler: C can't move its caller's stack. Whatever it calculates
besides stays too, and where CONTROL is given what nobody knows, the port asks for the bit that
selects PSP, and faults without it: there is no other stack to be on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import function_name
from porter.context_switch.decode import Immediate, Instruction, decode
from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.result import NotTranscribable
from porter.context_switch.roles import constant_of, loads_from
from porter.context_switch.services import Services
from porter.project.vectors import Vectors
from porter.source.c_tree import enclosing_function

REASON = "puts its caller on the stack that a guest's code has"
IN_C = (
    "puts its caller on PSP, which no C can: move it, as it is, to an assembler file, where it "
    "stays with 'mov sp' in place of 'msr psp'"
)
_SPSEL = 2
_SETS_PSP = re.compile(rb"\bmsr(\s+)psp\s*,", re.IGNORECASE)
_SETS_CONTROL = re.compile(rb"\bmsr\s+control\s*,\s*(\w+)", re.IGNORECASE)
_ARMS = re.compile(rb"(?im)^\s*[#.]?\s*(?:if\w*|elif|else)\b")
_SYSTEM = 0xE000_0000  # from here on all is the processor's
_MOST = 200  # functions on the way up

Meaning = tuple[object, ...]
_IT_EQ: Meaning = ("it", b"\x08\xbf")  # for one instruction
_UDF: Meaning = ("udf", b"\x00\xde")


def on_one_stack(
    unit: ObjectFile, function: Function, lines: Sequence[str], text: bytes, first: int
) -> bytes:
    """What becomes of its `text`, which begins with line `first` of the file. NotTranscribable
    where that isn't the original."""
    found = _straight(unit, function, lines)
    psp, control = (_only(found, name) for name in ("psp", "control"))
    if found.index(control) < found.index(psp):
        raise NotTranscribable("selects PSP before it says where that is: turn the two around")
    check = b"" if _selects_psp(found, control) else _check(control.registers()[0])
    if _ARMS.search(text):
        raise NotTranscribable("puts its caller on PSP, with an #if inside: write one for each arm")
    rows = text.splitlines(keepends=True)
    for it, pattern, new in (
        (psp, _SETS_PSP, rb"mov\1sp,"),
        (control, _SETS_CONTROL, check or b"/* CONTROL: a guest's code has one stack */"),
    ):
        row = (unit.line(function.section, it.address) or 0) - first
        changed, count = pattern.subn(new, rows[row]) if 0 <= row < len(rows) else (b"", 0)
        if count != 1:
            raise NotTranscribable(f"'{it.text}' stands in a macro: write it in the function")
        rows[row] = changed
    return b"".join(rows)


def refuse_another(
    before: tuple[ObjectFile, Function], after: tuple[ObjectFile, Function], lines: Sequence[str]
) -> None:
    """The proof. NotTranscribable where the port isn't the original, instruction by instruction,
    but for what sets PSP and what selects it: as these are all that use sp from there on, and
    nothing but registers changes, the caller goes on with the same registers on the same stack."""
    wanted: list[Meaning] = []
    found = _straight(*before, lines)
    for it in found:
        if it.name == "msr" and it.detail.startswith("psp"):
            wanted.append(("mov", "", False, ("sp", it.registers()[0])))
        elif it.name == "msr" and not _selects_psp(found, it):
            asked = it.registers()[0]
            wanted += [("tst", "", asked, _SPSEL), _IT_EQ, _UDF]
        elif it.name != "msr":
            wanted.append(_meaning(it, *before))
    made = [_meaning(it, *after) for it in decode(*after, ())]
    if made != wanted:
        raise NotTranscribable("isn't the same but for its stack pointer")


def refuse_handlers(
    names: Iterable[str], vectors: Vectors, units: CUnits, services: Services
) -> None:
    """NotTranscribable where a handler may come to it, whose code stays on MSP, or somebody whom
    nobody knows."""
    waiting = [name.encode("latin-1") for name in names]
    own, seen = frozenset(waiting), set(waiting)
    while waiting:
        callee = waiting.pop()
        name = callee.decode("latin-1")
        if vectors.served_by([name]) or name in services.functions:
            raise NotTranscribable(
                f"puts its caller on PSP, and {name}(), a handler, comes to it, whose own stack "
                "stays MSP: let only what starts the OS call it"
            )
        others = units.cplusplus_naming(callee) is not None or next(units.jumps(callee), None)
        if others or len(seen) > _MOST or (callee not in own and _in_assembler(callee, units)):
            raise NotTranscribable(_unknown(name))
        uses = list(units.calls(callee))
        if not uses and callee != units.entry:
            raise NotTranscribable(_unknown(name))
        for use in uses:
            around = enclosing_function(use)
            if use.type != "call_expression" or around is None:
                raise NotTranscribable(_unknown(name))
            caller = function_name(around)
            waiting += [caller] if caller not in seen else []
            seen.add(caller)


def _unknown(name: str) -> str:
    return (
        f"puts its caller on PSP, and not all that calls {name}() is known: let only C that starts "
        "the OS call it, by its name"
    )


def _in_assembler(name: bytes, units: CUnits) -> bool:
    word = re.compile(rb"(?<![\w.$])%s(?![\w.$])" % re.escape(name))
    return any(map(word.search, units.assembler_code()))


def _straight(unit: ObjectFile, function: Function, lines: Sequence[str]) -> list[Instruction]:
    """The instructions, up to the return. NotTranscribable where they do something else."""
    found = decode(unit, function, tuple(lines))
    while found and found[-1].name == "nop":
        found.pop()
    is_set = False
    for it in found:
        if constant_of(it, unit, function.section) >= _SYSTEM or (is_set and _uses_sp(it)):
            raise NotTranscribable(
                f"puts its caller on PSP, and '{it.text}' isn't understood there: let it do "
                "nothing else"
            )
        is_set |= it.name == "msr" and it.detail.startswith("psp")
    return found


def _uses_sp(instruction: Instruction) -> bool:
    return re.search(r"\bsp\b", instruction.detail) is not None


def _only(found: Sequence[Instruction], special: str) -> Instruction:
    """The one that writes a special register."""
    (it,) = [it for it in found if it.name == "msr" and it.detail.startswith(special)]
    return it


def _selects_psp(found: Sequence[Instruction], control: Instruction) -> bool:
    """Whether a constant says that what CONTROL is given has that bit."""
    (register,) = control.registers()
    before = [it for it in found[: found.index(control)] if it.registers()[:1] == (register,)]
    if not before or before[-1].name not in ("mov", "movw", "orr"):
        return False
    last = before[-1].operands[-1]
    return isinstance(last, Immediate) and last.value & _SPSEL != 0


def _check(register: str) -> bytes:
    asked = register.encode("latin-1")
    return b"tst %s, #2\n        it eq\n        udfeq #0" % asked + (
        b" /* CONTROL selects MSP, and a guest's code has one stack */"
    )


def _meaning(it: Instruction, unit: ObjectFile, function: Function) -> Meaning:
    """What an instruction does, wherever it and its constants stand."""
    if it.name in ("it", "udf"):  # by its encoding: Capstone leaves a condition out
        return (it.name, unit.data[function.section][it.address : it.next])
    if it.name == "tst":
        return ("tst", it.condition, *it.registers(), *_immediates(it))
    if (place := loads_from(it)) != it.address:
        relocation = unit.relocation(function.section, place)
        word = unit.word(function.section, place)
        target = (relocation.symbol, relocation.offset) if relocation is not None else (word,)
        return ("ldr", it.condition, it.registers(), target)
    if it.name == "mov" and len(it.registers()) == len(it.operands):
        return ("mov", it.condition, it.sets_flags, it.registers())
    relocation = unit.relocation(function.section, it.address)
    named = (relocation.kind, relocation.symbol, relocation.offset) if relocation else ()
    return (it.name, it.condition, it.sets_flags, it.operands, it.detail, named)


def _immediates(it: Instruction) -> Iterator[int]:
    yield from (operand.value for operand in it.operands if isinstance(operand, Immediate))
