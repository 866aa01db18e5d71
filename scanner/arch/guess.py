"""What a program is written for that says nothing of its core: hex files and raw binaries."""

from __future__ import annotations

import numpy as np

from scanner.arch.model import Architecture
from scanner.arch.registry import ARCHITECTURES, DEFAULTS, MACHINES, architecture
from scanner.decode.code_map import CodeMap
from scanner.decode.code_space import CodeSpace
from scanner.decode.search import matching, search
from scanner.image.model import Image
from scanner.target import Target

_RISCV = 243
_BX_LR, _C_JR_RA = 0x4770, 0x8082
"""How functions return. Either is rare among the other's instructions, and among data."""


def guessed_architecture(image: Image) -> str:
    """What such a machine is known by; for no machine, the likelier."""
    machine = image.machine
    if machine is None and _count(image, _C_JR_RA) > _count(image, _BX_LR):
        machine = _RISCV
    return DEFAULTS[machine]


def fitting_cores(space: CodeSpace, code: CodeMap, guessed: str) -> tuple[str, ...]:
    """The cores of the guessed one's machine that have every instruction known to be reached.

    The guessed one comes first if it is among them. None of them is left out for what is but
    possible: it may be data.
    """
    names = [name for name in ARCHITECTURES if MACHINES[name] == MACHINES[guessed]]
    names.sort(key=lambda name: name != guessed)
    cores = [architecture(name) for name in names]
    newest = [core for core in cores if core.newer and _uses(space, code, core)]
    fitting = newest or [core for core in cores if _runs(space, code, core)]
    return tuple(core.name for core in fitting) or (guessed,)


def _uses(space: CodeSpace, code: CodeMap, core: Architecture) -> bool:
    """Whether something is reached that only this core has."""
    found = matching(space, core.isa, core.newer, code.certain)
    return any(code.certain[indices].any() for _, indices in found)


def _runs(space: CodeSpace, code: CodeMap, core: Architecture) -> bool:
    """Whether nothing is reached that this core doesn't have."""
    rules, target = [rule for rule in core.rules if rule.tells_cores], Target(core.name)
    for hits in search(space, core.isa, rules, code.certain):
        for value in np.unique(hits.values & np.uint32(hits.rule.decisive)).tolist():
            judgement = hits.rule.judge(value, target)
            if judgement is not None and judgement.severity == "traps":
                return False
    return True


def _count(image: Image, instruction: int) -> int:
    found = 0
    for segment in image.segments:
        if segment.executable:
            halfwords = np.frombuffer(segment.data, dtype="<u2", count=len(segment.data) // 2)
            found += int(np.count_nonzero(halfwords == instruction))
    return found
