"""Whether a path of the original and one of the port resume the same first task, for all states.

The rules are those of `first_task`, on terms instead of words.
"""

from __future__ import annotations

from typing import Any

import z3

from porter.context_switch.proof.image import CODE, RETURN
from porter.context_switch.proof.machine import Path
from porter.context_switch.proof.model import CONTEXT, CORE, FPU, MODES, USR_REG
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.start import (
    FPSCR,
    FPU_FRAME,
    FRAME,
    SAVED,
    THREAD_ON_PSP,
    THREAD_WITH_FPU,
    THUMB,
)
from porter.context_switch.proof.terms import Term, Truth, add, binary, bits, same, symbol, truth

Difference = tuple[str, Truth]
WORD = 0xFFFF_FFFF


def goes_to_task(native: Path) -> bool:
    """Whether the original leaves for something else than its caller."""
    return native.exit is not None and not same(native.exit, RETURN | 1)


def usr(port: Path, name: str) -> Term:
    """A word of USR_REG."""
    return port.block[USR_REG + 4 * CONTEXT.index(name)]


def has_fpu_state(native: Path) -> bool:
    """Whether the task begins with FPU state: the start used the FPU for it."""
    in_use = native.read("FPCA")
    if native.uses_fpu and not isinstance(in_use, int):
        raise NotProved("uses the FPU, and CONTROL.FPCA isn't known at the end")
    return native.uses_fpu and in_use == 1


def free(native: Path) -> tuple[Term, int]:
    """Where the task's frame is, or would be, and its bytes: nobody's memory once the task runs."""
    size = FPU_FRAME if has_fpu_state(native) else FRAME
    return add(native.read("sp"), -size & WORD), size


def differences(native: Path, port: Path) -> list[Difference]:
    """All that could differ in the tasks."""
    frame, _ = free(native)
    with_fpu = has_fpu_state(native)
    there = [native.peek(add(frame, 4 * index)) for index in range(8)]
    here = [port.peek(add(frame, 4 * index)) for index in range(8)]
    found = [
        ("the task's SP", unequal(usr(port, "PSP"), frame)),
        (
            "the task's EXC_RETURN",
            unequal(usr(port, "EXC_RETURN"), THREAD_WITH_FPU if with_fpu else THREAD_ON_PSP),
        ),
        ("the task's r0", unequal(native.read("r0"), here[0])),
        ("where the task begins", unequal(_even(native.exit), _even(here[6]))),
    ]
    if with_fpu:
        modes = (native.read("FPSCR"), port.peek(add(frame, FPSCR)))
        found.append(("the task's FPSCR", unequal(*(binary("&", it, MODES) for it in modes))))
    back = native.read("lr")
    if not isinstance(back, int) or not CODE <= back <= RETURN | 1:
        found.append(("the task's lr", unequal(back, here[5])))
    popped = same(_even(there[6]), _even(native.exit))
    found.append(("the task's xPSR", unequal(here[7], there[7] if popped else THUMB)))
    below = [native.peek(add(frame, -4 * (number + 1) & WORD)) for number in range(SAVED)]
    for name in CORE:
        if any(same(native.read(name), word) for word in below):
            found.append((f"the task's {name}", unequal(usr(port, name), native.read(name))))
    return found + [(f"the task's {name}", unequal(usr(port, name), symbol(name))) for name in FPU]


def _even(word: Term) -> Term:
    return binary("&", word, ~1 & WORD)


def unequal(one: Any, other: Any) -> Truth:
    """When two words differ."""
    return False if same(one, other) else truth(z3.simplify(bits(one) != bits(other)))
