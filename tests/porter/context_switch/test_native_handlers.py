"""Handlers without a privileged instruction: they stay, unless they use what an entry leaves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.result import SwitchPort
from tests.porter.context_switch.trees import M3, M4F, fixture

HEAD = "    .syntax unified\n    .thumb\n    .text\n"
FUNCTION = "    .global {name}\n    .type {name}, %function\n{name}:\n{body}\n"
USES = {
    "the frame": "ldr r0, [sp, #24]\nldrb r0, [r0, #-2]\nbx lr",
    "its address": "mov r0, sp\nb serve",
    "its address behind what is saved": "push {r4, lr}\nadd r0, sp, #8\nbl serve\npop {r4, pc}",
    "what is saved and the frame": "push {r4-r7, lr}\nmov r0, sp\nbl serve\npop {r4-r7, pc}",
    "words of the frame": "pop {r0, r1}\nbx lr",
    "a bit of EXC_RETURN": "tst lr, #4\nbeq 1f\nb serve\n1: bx lr",
    "EXC_RETURN for C": "mov r0, lr\nb serve",
    "EXC_RETURN kept": "push {r4, lr}\nmov r4, lr\nbl serve\ncmp r4, #-3\npop {r4, pc}",
    "EXC_RETURN put back": "push {r4, lr}\nbl serve\npop {r4, lr}\ncmp lr, #-3\nbx lr",
    "EXC_RETURN in memory": "ldr r1, =last\nstr lr, [r1]\nbx lr\n.ltorg",
    "a number": "push {r4, lr}\nbl serve\nadd sp, #8\nldr r0, =0xFFFFFFFD\nbx r0\n.ltorg",
}
STAYS = {
    "saves registers": "push {r4, lr}\nbl serve\npop {r4, pc}",
    "keeps lr in a register": "mov r4, lr\nbl serve\nbx r4",
    "has locals": "push {lr}\nsub sp, #12\nmov r0, sp\nbl serve\nadd sp, #12\npop {pc}",
    "saves scratch registers": "push {r0-r3, lr}\nldr r0, [sp, #4]\nbl serve\npop {r0-r3, pc}",
    "is a loop": "b .",
    "goes on in C": "b serve",
}


def ports(folder: Path, text: str, more: str = "", cpu: tuple[str, ...] = M3) -> list[SwitchPort]:
    folder.mkdir(exist_ok=True)
    tree = fixture(folder, text, cpu, "isr.S")
    (folder / "more.S").write_text(HEAD + more)
    (folder / "serve.c").write_text("unsigned last;\nvoid serve(void *p) { (void)p; }\n")
    files = (*tree.files, folder / "more.S", folder / "serve.c")
    return replace(tree, files=files).port()


@pytest.mark.parametrize("name", USES)
def test_what_uses_the_entry_is_told(name: str, tmp_path: Path) -> None:
    text = HEAD + FUNCTION.format(name="TIM2_IRQHandler", body=USES[name])
    (found,) = ports(tmp_path, text)
    assert (found.name, found.status) == ("TIM2_IRQHandler", "escalated")
    assert "uses EXC_RETURN or the frame on the main stack" in found.reason
    assert not ports(tmp_path / "other", text.replace("TIM2_IRQHandler", "plain"))


@pytest.mark.parametrize("name", STAYS)
def test_what_does_not_stays(name: str, tmp_path: Path) -> None:
    assert not ports(tmp_path, HEAD + FUNCTION.format(name="TIM2_IRQHandler", body=STAYS[name]))


def test_a_helper_that_changes_the_main_stack_is_told(tmp_path: Path) -> None:
    """Of the same file, and of another."""
    body = "push {r4-r7, lr}\nbl swap\npop {r4-r7, pc}"
    handler = HEAD + FUNCTION.format(name="PendSV_Handler", body=body)
    swap = FUNCTION.format(
        name="swap", body="ldr r1, =last\nldr r0, [r1]\nmov sp, r0\nbx lr\n.ltorg"
    )
    for found in (ports(tmp_path / "a", handler + swap), ports(tmp_path / "b", handler, swap)):
        (told,) = found
        assert told.name == "PendSV_Handler" and "calls swap(), which switches" in told.reason


def test_a_naked_handler_is_one(tmp_path: Path) -> None:
    text = "void serve(void *);\n__attribute__((naked)) void SVC_Handler(void)\n{\n"
    text += '    __asm volatile("mov r0, sp\\n b serve");\n}\n'
    (found,) = fixture(tmp_path, text, M4F).port()
    assert found.status == "escalated" and "virt_svc_frame()" in found.reason
