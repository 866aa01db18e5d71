"""Numbers that an RV32 original asks for: as `proof.constants` finds a Cortex-M's."""

from __future__ import annotations

from collections.abc import Iterable

from porter.context_switch.proof.constants import rare
from porter.context_switch.proof.derived import UNKNOWN, WORD, Value, compared, result
from porter.context_switch.proof.image import Image
from porter.context_switch.proof.riscv.decode import Code, Instruction

_NARROW = frozenset({"lb", "lbu", "lh", "lhu", "sb", "sh"})
_DESTROYED = frozenset({1, *range(5, 8), *range(10, 18), *range(28, 32)})  # by a call
_ASKING = frozenset({"slt", "sltu"})


def asked_by(image: Image, addresses: Iterable[int]) -> tuple[int, ...]:
    """What the instructions at these addresses compare with: constants in them, alone and in
    pairs, and words beside the code."""
    reader = Code(image)
    code = [reader.at(address) for address in sorted(addresses)]
    known: dict[int, Value] = {0: 0}
    found: set[int] = set()
    for it in code:
        left = known.get(it.rs1, UNKNOWN)
        right = it.second if it.constant else known.get(it.second, UNKNOWN)
        if it.is_condition or it.name in _ASKING:
            found |= set(compared(left, right))
        if it.name in ("jal", "jalr") and it.rd:
            known = {number: word for number, word in known.items() if number not in _DESTROYED}
        elif it.rd:
            value = it.second if it.name == "li" else result(it.name, left, right)
            known[it.rd] = _loaded(it, left, image) if it.name == "lw" else value
    return rare(found, any(it.name in _NARROW for it in code))


def _loaded(it: Instruction, base: Value, image: Image) -> Value:
    word = image.word(base + it.offset & WORD) if isinstance(base, int) else None
    return UNKNOWN if word is None else word
