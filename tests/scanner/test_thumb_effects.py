"""What is known of instructions while an address is followed, against Capstone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import capstone
import numpy as np
import pytest
from capstone import arm

from scanner.decode.effects import NONE, Effect
from scanner.decode.thumb_effects import effects

ADDRESS = 0x08000000
NUMBERS = {getattr(arm, f"ARM_REG_R{n}"): n for n in range(13)} | {
    arm.ARM_REG_SP: 13, arm.ARM_REG_LR: 14,
}  # fmt: skip
SAMPLES = 12


def encodings() -> list[tuple[int, int]]:
    """Every narrow instruction; of every first half of a wide one some with a random second."""
    generator = random.Random(6)
    narrow = [(first, 0) for first in range(0xE800)]
    return narrow + [
        (first, generator.randrange(0x10000)) for first in range(0xE800, 0x10000)
        for _ in range(SAMPLES)
    ]  # fmt: skip


def disassembled(pairs: list[tuple[int, int]]) -> Iterator[tuple[int, Any]]:
    """Rows with what Capstone says, where it says anything."""
    handle = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)
    handle.detail = True
    for row, (first, second) in enumerate(pairs):
        code = first.to_bytes(2, "little") + second.to_bytes(2, "little")
        instruction = next(handle.disasm(code, ADDRESS, 1), None)
        if instruction is not None and not _is_odd(instruction):
            yield row, instruction


def _is_odd(instruction: Any) -> bool:
    """Calls, hints to the cache, what the M-profile lacks, and what Capstone has wrong."""
    name, operands = instruction.mnemonic, instruction.op_str
    is_vector = name.startswith(("vld", "vst")) and name[3] in "1234"
    loads_part_into_pc = name.startswith("ldr") and name[3:4] in ("b", "h", "s")
    loads_part_into_pc &= operands.startswith("pc")
    adds_pc = ", pc" in operands.partition("[")[2]
    return (
        instruction.group(capstone.CS_GRP_CALL)
        or name.startswith(("pl", "tb"))
        or name in ("strbt", "strht", "svc")
        or is_vector
        or name in ("vldr.16", "vstr.16")
        or loads_part_into_pc
        or adds_pc
    )


@pytest.fixture(scope="module")
def rows() -> list[tuple[Any, dict[str, int]]]:
    pairs = encodings()
    first, second = (np.array(column, dtype=np.uint16) for column in zip(*pairs, strict=True))
    decoded = effects(first, second, np.full(len(pairs), ADDRESS, dtype=np.int64))
    columns = ("kind", "target", "base", "index", "shift", "number", "update", "written")
    lists = {name: getattr(decoded, name).tolist() for name in columns}
    return [
        (instruction, {name: column[row] for name, column in lists.items()})
        for row, instruction in disassembled(pairs)
    ]


def test_no_register_keeps_a_value_that_it_lost(rows: list[tuple[Any, dict[str, int]]]) -> None:
    wrong = []
    for instruction, effect in rows:
        changed = {n for n in range(16) if effect["written"] >> n & 1}
        if effect["kind"] not in (Effect.OTHER, Effect.STORE):
            changed.add(effect["target"])
        if effect["update"]:
            changed.add(effect["base"])
        _, written = instruction.regs_access()
        if instruction.op_str.endswith(("#0]!", "#-0]!", "#0", "#-0")):
            changed.add(effect["base"])  # by nothing
        lost = {NUMBERS[register] for register in written if register in NUMBERS} - changed
        if lost:
            wrong.append(f"{instruction.bytes.hex()} {instruction.mnemonic} {instruction.op_str}")
    assert wrong == []


def test_addresses_of_loads_and_stores(rows: list[tuple[Any, dict[str, int]]]) -> None:
    wrong, seen = [], 0
    for instruction, effect in rows:
        memory = [o.mem for o in instruction.operands if o.type == arm.ARM_OP_MEM]
        if (
            not memory
            or memory[0].base not in NUMBERS
            or instruction.mnemonic[:3] in ("pld", "pli")
        ):
            continue
        if instruction.mnemonic[:3] in ("tbb", "tbh"):
            continue
        seen += 1
        kind = Effect.STORE if instruction.mnemonic.startswith(("st", "vst")) else Effect.LOAD
        number = 0 if instruction.post_index else memory[0].disp
        expected = (kind, NUMBERS[memory[0].base], NUMBERS.get(memory[0].index, NONE), number)
        found = (effect["kind"], effect["base"], effect["index"], effect["number"])
        if found != expected:
            text = f"{instruction.bytes.hex()} {instruction.mnemonic} {instruction.op_str}"
            wrong.append(f"{text}: {found}")
    assert seen > 5000
    assert wrong == []
