"""What there is to be covered: instructions that control flow can reach, and conditions."""

from __future__ import annotations

from porter.context_switch.proof.image import Image
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.thumb import Code, Instruction


def reachable(
    image: Image,
    ends_with_svc: bool,
    ends: frozenset[int] = frozenset(),
    into_data: bool = False,
    never: frozenset[str] = frozenset(),
) -> dict[int, Instruction]:
    """By address, hints aside. `ends`: instructions that never go on with the next one, `never`
    functions that don't return. NotProved
    where no instruction stands, unless that may be behind one that isn't known to be an end."""
    code = Code(image)
    found: dict[int, Instruction] = {}
    waiting: list[tuple[int, tuple[str, ...]]] = [(image.entry, ())]
    seen = set()
    while waiting:
        address, block = waiting.pop()
        if address in seen:
            continue
        seen.add(address)
        try:
            instruction = code.at(address)
        except NotProved:
            if into_data:
                continue
            raise
        if instruction.name != "nop":
            found[address] = instruction
        if address not in ends:
            waiting += followers(instruction, block, image, ends_with_svc, never)
    return found


def is_condition(instruction: Instruction) -> bool:
    """Whether control flow can go on in two ways."""
    return bool(instruction.it or instruction.branch) or instruction.name in ("cbz", "cbnz")


def followers(
    instruction: Instruction,
    block: tuple[str, ...],
    image: Image,
    ends_with_svc: bool,
    never: frozenset[str],
) -> list[tuple[int, tuple[str, ...]]]:
    """Where control may go from an instruction, with what an IT makes conditional there."""
    after = (instruction.next, instruction.it or block[1:])
    if instruction.name in ("b", "cbz", "cbnz"):
        target = instruction.target()
        found: list[tuple[int, tuple[str, ...]]] = []
        if target not in image.functions:
            found.append((target, ()))
        return [*found, after] if is_condition(instruction) or block else found
    if instruction.name == "bl" and image.functions.get(instruction.target()) in never:
        return [after] if block else []
    return [after] if block or not _leaves(instruction, ends_with_svc) else []


def _leaves(instruction: Instruction, ends_with_svc: bool) -> bool:
    """Whether it never goes on with the next one."""
    operands = "" if instruction.raw is None else str(instruction.raw.op_str)
    if instruction.name in ("pop", "ldm"):
        return "pc" in operands
    if instruction.name == "svc":
        return ends_with_svc
    return instruction.name in ("bx", "udf") or operands.startswith("pc,")
