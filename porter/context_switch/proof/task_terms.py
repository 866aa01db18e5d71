"""Whether a path of the original and one of the port resume the same first task, for all states.

The rules are those of `first_task`, on terms instead of words.
"""

from __future__ import annotations

from typing import Any

import z3

from porter.context_switch.proof.image import CODE, RETURN
from porter.context_switch.proof.machine import Path
from porter.context_switch.proof.model import CONTEXT, CORE, FPU, USR_REG
from porter.context_switch.proof.start import FRAME, SAVED, THREAD_ON_PSP, THUMB
from porter.context_switch.proof.terms import Term, Truth, add, binary, bits, same, symbol, truth

Difference = tuple[str, Truth]
WORD = 0xFFFF_FFFF


def goes_to_task(native: Path) -> bool:
    """Whether the original leaves for something else than its caller."""
    return native.exit is not None and not same(native.exit, RETURN | 1)


def usr(port: Path, name: str) -> Term:
    """A word of USR_REG."""
    return port.block[USR_REG + 4 * CONTEXT.index(name)]


def free(native: Path) -> Term:
    """Where the task's frame is, or would be: nobody's memory once the task runs."""
    return add(native.read("sp"), -FRAME & WORD)


def differences(native: Path, port: Path) -> list[Difference]:
    """All that could differ in the tasks."""
    frame = free(native)
    there = [native.peek(add(frame, 4 * index)) for index in range(8)]
    here = [port.peek(add(frame, 4 * index)) for index in range(8)]
    found = [
        ("the task's SP", unequal(usr(port, "PSP"), frame)),
        ("the task's EXC_RETURN", unequal(usr(port, "EXC_RETURN"), THREAD_ON_PSP)),
        ("the task's r0", unequal(native.read("r0"), here[0])),
        ("where the task begins", unequal(_even(native.exit), _even(here[6]))),
    ]
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
