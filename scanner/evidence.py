"""How a program's code was found: counted, so that nobody takes an empty search for a clean one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scanner.decode.code_map import CodeMap
from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import InstructionSet
from scanner.decode.marks import CHUNK, Marks
from scanner.image.model import Problem
from scanner.policy import Policy
from scanner.report.evidence import Evidence
from scanner.unjudged import Unjudged

_SHOWN = 3


def evidence_of(
    space: CodeSpace, code: CodeMap, isa: InstructionSet, policy: Policy, unjudged: Unjudged
) -> Evidence:
    """What the code map rests on."""
    ways = code.ways
    return Evidence(
        entries=ways.entries,
        vectors=ways.vectors,
        functions=ways.functions,
        executable=2 * sum(length for _, length, _ in space.runs()),
        reached=_bytes(space, code.certain, isa),
        unreached=_unreached(space, code, isa),
        by_policy=bool(policy.code_grants()),
        privileged=_bytes(space, code.certain & unjudged.marks, isa) if unjudged.known_by else 0,
        privileged_by=unjudged.known_by,
        remarks=(*_remarks(code), *unjudged.remarks),
    )


def no_code(space: CodeSpace, code: CodeMap) -> Problem | None:
    """Why nothing that may be executed is known to be code; None if something is."""
    first = space.address(0) if len(space) else 0
    if code.flows:
        return None
    if code.ways.entries or code.ways.vectors or code.ways.functions:
        text = "from where it starts nothing branches, calls or returns: these are no instructions"
    elif code.ways.astray:
        some = ", ".join(f"0x{pointer:08x}" for pointer in code.ways.astray[:_SHOWN])
        text = f"where it says that it starts is no code of this core: {some}"
    else:
        text = "it names no entry, and no vector table fits its bytes and where they lie"
    return Problem("no-code", text, first)


def _remarks(code: CodeMap) -> Iterator[str]:
    """Starts that lead nowhere."""
    astray = code.ways.astray
    if astray:
        some = ", ".join(f"0x{pointer:08x}" for pointer in astray[:_SHOWN])
        more = f" and {len(astray) - _SHOWN} more" if len(astray) > _SHOWN else ""
        yield f"no code of this core where it says that it starts, {some}{more}"


def _bytes(space: CodeSpace, instructions: Marks, isa: InstructionSet) -> int:
    """Bytes of the marked instructions."""
    halfwords = 0
    for begin in range(0, len(space), CHUNK):
        marks = instructions.part(begin, begin + CHUNK)
        words = space.halfwords[begin : begin + CHUNK][marks]
        halfwords += len(words) + int(np.count_nonzero(isa.wide[words]))
    return 2 * halfwords


def _unreached(space: CodeSpace, code: CodeMap, isa: InstructionSet) -> int:
    """Bytes of what looks like functions, of which neither begin nor end is certain."""
    begins, ends = isa.frames(space)
    apart = ~(code.certain[begins] | code.certain[ends])
    return 2 * int((ends[apart] + 1 - begins[apart]).sum())
