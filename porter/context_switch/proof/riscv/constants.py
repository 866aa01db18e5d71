"""Numbers that an RV32 original asks for: as `proof.constants` finds a Cortex-M's."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from porter.context_switch.proof.constants import WORD, calculated, met, rare
from porter.context_switch.proof.image import Image
from porter.context_switch.proof.riscv.decode import Code, Instruction

_SP = 2
_NARROW = frozenset({"lb", "lbu", "lh", "lhu", "sb", "sh"})
_ASKING = frozenset({"slt", "sltu"})


def asked_by(image: Image, addresses: Iterable[int]) -> tuple[int, ...]:
    """What the instructions at these addresses compare with: constants in them, alone and in
    pairs, and words beside the code."""
    reader = Code(image)
    code = [reader.at(address) for address in sorted(addresses)]
    known = {0: 0}
    found: set[int] = set()
    for it, after in pairwise([*code, *code[-1:]]):
        left = known.get(it.rs1)
        right = it.second if it.constant else known.get(it.second)
        if it.is_condition or it.name in _ASKING:
            found |= set(met("sub", left, right))
        elif (after.is_condition or after.name in _ASKING) and _SP not in (it.rd, it.rs1):
            found |= set(met(it.name, left, right))
        if it.rd:
            value = it.second if it.name == "li" else calculated(it.name, left, right)
            value = _loaded(it, left, image) if it.name == "lw" else value
            known.pop(it.rd, None)
            if value is not None:
                known[it.rd] = value
    return rare(found, any(it.name in _NARROW for it in code))


def _loaded(it: Instruction, base: int | None, image: Image) -> int | None:
    return None if base is None else image.word(base + it.offset & WORD)
