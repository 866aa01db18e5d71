"""What the project's C declares volatile is accessed as often, and as wide, as it was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.result import REWRITTEN, SwitchPort
from tests.porter.context_switch.test_devices import HANDLER, KERNEL
from tests.porter.context_switch.test_refusals import FRAME, RESUME
from tests.porter.context_switch.trees import M3, fixture

PORT = "ldr r3, =port\nldr r3, [r3]\n"
POINTERS = {
    "pointer": (PORT, "volatile uint32_t *port;\n"),
    "own typedef": (PORT, "typedef uint32_t volatile reg_t; reg_t *const *unused, *port;\n"),
    "structure's member": (
        PORT,
        "#define __IO volatile\nstruct regs { uint32_t used; __IO uint32_t fifo[4]; } *port;\n",
    ),
    "volatile structure": (
        PORT,
        "struct regs { uint32_t word[4]; }; volatile struct regs *port;\n",
    ),
    "pointer in a structure": (
        "ldr r3, =board\nldr r3, [r3, #4]\n",
        "struct board { uint32_t used; volatile uint32_t *port; } board;\n",
    ),
    "pointer behind a pointer": (
        "ldr r3, =board\nldr r3, [r3]\nldr r3, [r3, #4]\n",
        "struct board { uint32_t used; volatile uint32_t *port; } *board;\n",
    ),
    "result": (
        "push {r0-r2, lr}\nbl board\nmov r3, r0\npop {r0-r2, lr}\n",
        "volatile uint32_t *port;\nvolatile uint32_t *board(void) { return port; }\n",
    ),
    "result's member": (
        "push {r0-r2, lr}\nmov r0, #1\nbl board\nldr r3, [r0, #4]\npop {r0-r2, lr}\n",
        "struct board { uint32_t used; volatile uint32_t *port; } boards[2];\n"
        "struct board *board(int i) { return &boards[i]; }\n",
    ),
    "array": ("ldr r3, =port\n", "extern volatile uint32_t port[];\n"),
}


def handler(folder: Path, body: str, text: str) -> tuple[SwitchPort, str]:
    """What is said of it, and the body of its C without comments."""
    tree = fixture(folder, HANDLER + FRAME + body + RESUME, M3, "switch.S")
    (folder / "k.c").write_text(KERNEL + text)
    ports = replace(tree, files=(*tree.files, folder / "k.c")).port()
    (found,) = [port for port in ports if port.name == "PendSV_Handler"]
    return found, code_of(ports)


def code_of(ports: Sequence[SwitchPort]) -> str:
    """The handler alone, without comments: behind it stands the same as a yield does it."""
    written = b"".join(port.replacement for port in ports).decode()
    written = written.partition("/* What a yield does of it")[0]
    return re.sub(r"\s*/\*.*?\*/", "", written, flags=re.DOTALL)


@pytest.mark.parametrize("name", POINTERS)
def test_what_c_declares_volatile_is_accessed_so(name: str, tmp_path: Path) -> None:
    pointer, text = POINTERS[name]
    body = pointer + "str r0, [r3, #4]\nstr r0, [r3, #4]\nldr r12, [r3, #8]\nldr r12, [r3, #12]\n"
    found, written = handler(tmp_path, body + "strb r12, [r3, #4]\n", text)
    assert found.proof is not None
    accesses = re.findall(r"volatile (?:fvm_word|uint8_t) \*\)", written)
    assert len(accesses) == 5, written
    assert len(re.findall(r"^ +\(void\).*\[2\];$", written, re.MULTILINE)) == 1


def test_a_variable_of_each_thread_is_no_obstacle(tmp_path: Path) -> None:
    """Where debug information has it, only a linker knows."""
    found, text = handler(tmp_path, *(PORT, "volatile uint32_t *port;\n__thread int own = 1;\n"))
    assert found.status == REWRITTEN and "volatile" in text


def test_two_reads_stay_in_order(tmp_path: Path) -> None:
    body = PORT + "ldr r2, [r3]\nldr r12, [r3, #4]\nadd r2, r2, r12\nstr r2, [r3, #8]\n"
    _, written = handler(tmp_path, body, "volatile uint32_t *port;\n")
    assert all(line.count("volatile") <= 2 for line in written.splitlines())
    first, second = (written.index(text) for text in ("*(volatile fvm_word *)", "[1]"))
    assert first < second


def test_other_memory_is_as_before(tmp_path: Path) -> None:
    body = PORT + "str r0, [r3, #4]\nldr r12, [r3, #8]\n"
    text = "struct regs { uint32_t used, fifo; volatile uint32_t other; } *volatile port;\n"
    _, written = handler(tmp_path, body, text.replace("volatile uint32_t", "uint32_t"))
    assert "volatile fvm_word *)" not in written and "    (void)" not in written
    _, written = handler(tmp_path, body, text)
    assert written.count("volatile fvm_word *)") == 1


def test_words_of_a_tasks_stack_are_memory(tmp_path: Path) -> None:
    text = "struct tcb { volatile uint32_t *sp; } *task;\n"
    plain = handler(tmp_path / "plain", "", "")[1]
    tree = fixture(tmp_path, HANDLER + FRAME + RESUME, M3, "switch.S")
    (tmp_path / "k.c").write_text("#include <stdint.h>\n" + text)
    ports = replace(tree, files=(*tree.files, tmp_path / "k.c")).port()
    assert code_of(ports) == plain


def test_a_block_of_volatile_words_is_refused(tmp_path: Path) -> None:
    body = PORT + "ldmia r3, {r2, r12}\nstr r2, [r3]\nstr r12, [r3]\n"
    found, _ = handler(tmp_path, body, "volatile uint32_t *port;\n")
    assert found.status == "escalated" and "ldmia r3, {r2, r12}" in found.reason
    assert "volatile" in found.reason
