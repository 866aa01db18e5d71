"""A handler that does more than one call between saving and restoring, or saves under a condition:
what it does there is a function of the port's own, by which the guest library switches. It is held
to the handler as every transcription is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch import c_function
from porter.context_switch.ir import Note, Store
from porter.context_switch.pick import Pick
from porter.context_switch.result import SwitchPort
from porter.context_switch.structure import Node
from tests.porter.context_switch.trees import M3, fixture

HEAD = """
struct task { unsigned *sp; unsigned state; };
struct task *volatile running, *volatile ready, *volatile leaving;
volatile unsigned char priority, urgent, wanted;
void hook(void);
__attribute__((naked)) void PendSV_Handler(void)
{
    __asm volatile(
"""
TAIL = '    ".ltorg\\n");\n}\nvoid hook(void) { priority = 3; }\n'
SAVE = "mrs r0, psp; tst lr, #0x10; it eq; vstmdbeq r0!, {s16-s31}; stmdb r0!, {r4-r11, lr}"
LOAD = "ldmia r0!, {r4-r11, lr}; tst lr, #0x10; it eq; vldmiaeq r0!, {s16-s31}; msr psp, r0"
KEEP = "ldr r5, =running; ldr r1, [r5]; str r0, [r1]"
HOOK = "mov r4, lr; bl hook; mov lr, r4"
COPY = "ldr r0, =priority; ldr r1, =urgent; ldrb r2, [r1]; strb r2, [r0]"
NEXT = "ldr r1, =ready; ldr r2, [r1]; str r2, [r5]; ldr r0, [r2]"
SAVE_SHORT, LOAD_SHORT = "mrs r0, psp; stmdb r0!, {r4-r11}", "ldmia r0!, {r4-r11}; msr psp, r0"
TAKEN = "ldr r1, =ready; ldr r2, [r1]; ldr r0, [r2]"
LEFT = f"ldr r1, =leaving; ldr r1, [r1]; cbz r1, 1f; {SAVE_SHORT}; str r0, [r1]; 1: {TAKEN}"
ASKED = "ldr r0, =wanted; ldrb r1, [r0]; cbz r1, 2f; movs r1, #0; strb r1, [r0]"
SHAPES = {
    "a hook and two variables": (SAVE, KEEP, HOOK, COPY, NEXT, LOAD, "bx lr"),
    "without FPU": (SAVE_SHORT, KEEP, HOOK, COPY, NEXT, LOAD_SHORT, "bx lr"),
    "nobody to save": (LEFT, LOAD_SHORT, "bx lr"),
    "nothing wanted": (ASKED, LEFT, LOAD_SHORT, "2: orr lr, lr, #4; bx lr"),
}


def handler(folder: Path, *parts: str, more: str = "") -> SwitchPort:
    """As the porter leaves it; it is proved in any case."""
    lines = [line.strip() for part in parts for line in part.split(";")]
    text = HEAD + "".join(f'    "{line}\\n"\n' for line in lines) + TAIL + more
    tree = fixture(folder, text, *([] if "s16-s31" in text else [M3]))
    (found,) = [it for it in tree.port() if it.name == "PendSV_Handler"]
    assert found.status == "rewritten" and found.proof is not None, found.reason
    says = b"VIRT_YIELD_OVER(PendSV_Handler, PendSV_Handler_sp, PendSV_Handler_choose, "
    assert (says in found.replacement) == ("through PendSV_Handler_choose()" in found.reason)
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_what_lies_between_is_a_function(shape: str, tmp_path: Path) -> None:
    found = handler(tmp_path, *SHAPES[shape])
    assert "fast yield through PendSV_Handler_choose()" in found.reason
    assert found.proof is not None and found.proof.yields >= 200
    choice = found.replacement.decode().rpartition("PendSV_Handler_choose(void)\n")[2]
    assert "USR_REG" not in choice and "USR_STMDB" not in choice
    assert ("hook();" in choice) == ("bl hook" in "".join(SHAPES[shape]))


def _without_a_store(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    place = next(i for i, node in enumerate(nodes) if isinstance(node, Store))
    return (*nodes[:place], *nodes[place + 1 :])


MISTAKES = {
    "a store less": _without_a_store,
    "a call less": lambda nodes: tuple(it for it in nodes if "Call" not in type(it).__name__),
    "the same task": lambda nodes: nodes[:-1],
    "nothing": lambda nodes: tuple(it for it in nodes if isinstance(it, Note)),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_one_that_does_another_thing_is_not_taken(
    mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = c_function.Writer.choice

    def wrong(self: object, running: object, pick: Pick) -> list[str]:
        pick = replace(pick, nodes=MISTAKES[mistake](pick.nodes))  # type: ignore[no-untyped-call]
        return right(self, running, pick)  # type: ignore[arg-type]

    monkeypatch.setattr(c_function.Writer, "choice", wrong)
    found = handler(tmp_path, *SHAPES["a hook and two variables"])
    assert "fast yield by itself (not proved, a yield" in found.reason


ELSE = {
    "leaves a mask set": (
        (SAVE, KEEP, "movs r3, #0x50; msr basepri, r3", NEXT, LOAD, "bx lr"),
        "what virt_int_mask() does is another thing in user mode",
    ),
    "uses the task's registers": (
        (SAVE, KEEP, "ldr r2, =priority; strb r6, [r2]", NEXT, LOAD, "bx lr"),
        "reads the context of the last one",
    ),
    "restores first": (
        (TAKEN, LOAD_SHORT, SAVE_SHORT, KEEP, "bx lr"),
        "reads the context of the last one",
    ),
}


@pytest.mark.parametrize("case", ELSE)
def test_what_is_another_thing_on_a_tasks_stack_stays_in_the_handler(
    case: str, tmp_path: Path
) -> None:
    parts, reason = ELSE[case]
    found = handler(tmp_path, *parts).reason
    assert "through PendSV_Handler_choose()" not in found and reason in found


FAULT = """
__attribute__((naked)) void %s(void)
{
    __asm volatile("mrs r0, psp\\n stmdb r0!, {r4-r11}\\n msr psp, r0\\n bx lr\\n");
}
"""


def test_a_fault_handler_resumes_no_task_of_a_guest(tmp_path: Path) -> None:
    shape = SHAPES["nothing wanted"]
    found = handler(tmp_path, *shape, more=FAULT % "HardFault_Handler").reason
    assert "fast yield through PendSV_Handler_choose()" in found
    found = handler(tmp_path, *shape, more=FAULT % "EXTI1_IRQHandler").reason
    assert "EXTI1_IRQHandler() of switch.c resumes tasks, too" in found
