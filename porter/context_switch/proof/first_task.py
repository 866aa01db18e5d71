"""Whether original and port resume the same first task.

What a task begins with is what its entry may read: r0, its stack, where it starts, where it returns
to, and r4-r11 where the original fetched them from below the task's exception frame, as its switch
handler does. The rest of its registers are whatever the start had in them.
"""

from __future__ import annotations

from porter.context_switch.proof.image import CODE, RETURN
from porter.context_switch.proof.outcome import FirstTask, Outcome
from porter.context_switch.proof.start import SAVED, THUMB

_LR, _PC, _XPSR = 5, 6, 7  # words of the frame


class FirstTasks:
    """Looks at pairs of outcomes from many states."""

    def __init__(self) -> None:
        self._restored = [set(range(SAVED)) for _ in range(8)]
        self._unlike: list[str] = [""] * 8

    def difference(self, original: Outcome, ported: Outcome) -> str:
        """The first thing in which they differ; empty if they don't."""
        one, other = original.first, ported.first
        if one is None or other is None:
            return "" if one is other else "only one of them goes to the task itself"
        if original.context[8:] != ported.context[8:]:
            return "EXC_RETURN, PSP or an FPU register isn't what the task begins with"
        if one.sp != other.sp:
            return f"the task's SP is {one.sp:#x} in the original and {other.sp:#x} in the port"
        if one.fpscr != other.fpscr:
            return f"the modes in the task's FPSCR are {one.fpscr:#x} and {other.fpscr:#x}"
        self._compare_core(one, other, ported)
        return _frame_difference(one, other)

    def _compare_core(self, one: FirstTask, other: FirstTask, ported: Outcome) -> None:
        for number, (first, second) in enumerate(zip(one.core, other.core, strict=True)):
            self._restored[number] &= {n for n, word in enumerate(one.saved) if word == first}
            if first != second and not self._unlike[number]:
                self._unlike[number] = f"r{number + 4} is {first:#x} and {second:#x}"

    def lost(self) -> str:
        """A register that the original fetched from the task's stack and the port didn't."""
        for number, unlike in enumerate(self._unlike):
            if unlike and self._restored[number]:
                return f"the task's {unlike}"
        return ""


def _frame_difference(one: FirstTask, other: FirstTask) -> str:
    if one.frame[0] != other.frame[0]:
        return f"the task's r0 is {one.frame[0]:#x} and {other.frame[0]:#x}"
    back = one.frame[_LR]  # code's, not memory's: the start's caller, or behind its call
    if not CODE <= back <= RETURN | 1 and back != other.frame[_LR]:
        return f"the task's lr is {back:#x} and {other.frame[_LR]:#x}"
    if (one.frame[_PC] ^ other.frame[_PC]) & ~1:
        return f"the task begins at {one.frame[_PC]:#x} and {other.frame[_PC]:#x}"
    if other.frame[_XPSR] not in (one.frame[_XPSR], THUMB):
        return f"the task's xPSR is {one.frame[_XPSR]:#x} and {other.frame[_XPSR]:#x}"
    return ""
