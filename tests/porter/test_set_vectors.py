"""Programs that put handlers into the vector table when they run, and one for all the rest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.project.domain import Vector
from tests.porter.helpers import DOMAIN, escalations, port_files

SERVED = replace(
    DOMAIN,
    vectors=(
        Vector(0, "switch", "SWITCH", None, None, True),
        Vector(1, "tick", "TICK", "on_tick", None, True),
        Vector(2, "svc", "SVC", None, None, True),
        Vector(3, "irq", "USART1", "on_byte", 37, True),
    ),
)
HEAD = """
#include <stdint.h>
typedef enum {
    HardFault_IRQn = -13, SysTick_IRQn = -1, USART1_IRQn = 37, TIM2_IRQn = 28
} IRQn_Type;
void NVIC_SetVector(IRQn_Type n, uint32_t vector);
void on_tick(void) { }
void on_byte(void) { }
void other(void) { }
void unexpected(void);
volatile uint32_t kept;
void told(uint32_t status) { kept = status; }
void none(void *frame) { told(*(volatile uint32_t *)0xE000ED28u + (uint32_t)frame); }
"""
SETS = """    NVIC_SetVector(SysTick_IRQn, (uint32_t)on_tick);
    NVIC_SetVector(USART1_IRQn, (uint32_t)&on_byte);
"""
ALL = """    for (int n = -14; n < 80; n++) {
        NVIC_SetVector((IRQn_Type)n, (uint32_t)unexpected);
    }
"""
MAIN = "int main(void)\n{{\n{}    for (;;) {{ }}\n}}\n"
START = """
    .syntax unified
    .thumb
    .text
    .global unexpected
    .type unexpected, %function
    .thumb_func
unexpected:
    tst lr, #4
    ite eq
    mrseq r0, msp
    mrsne r0, psp
    push {r4, lr}
    bl none
    pop {r4, lr}
    bx lr
    .size unexpected, . - unexpected
"""


def ported(folder: Path, body: str, more: str = "", start: str = START) -> tuple[str, list[str]]:
    """The C, and reasons of what is escalated."""
    body = body.replace("(IRQn_Type)n", "n")
    files = {"main.c": (HEAD + more + MAIN.format(body)).encode(), "start.S": start.encode()}
    result = port_files(folder, files, SERVED)
    (text,) = [it.ported.decode() for it in result.files if it.file.path.name == "main.c"]
    return text.partition("int main")[2], escalations(result)


def test_a_handler_of_the_description_is_there_from_the_start(tmp_path: Path) -> None:
    text, reasons = ported(tmp_path, ALL + SETS)
    assert not reasons
    assert "NVIC_SetVector" not in text


def test_a_handler_of_a_fault_is_nobodys(tmp_path: Path) -> None:
    text, reasons = ported(tmp_path, "    NVIC_SetVector(HardFault_IRQn, (uint32_t)unexpected);\n")
    assert not reasons and "NVIC_SetVector" not in text


REFUSED = {
    "another handler": (
        ALL + SETS.replace("&on_byte", "other"), "", "the description has on_byte() for USART1"
    ),
    "a line that the machine hasn't": (
        ALL + SETS + "    NVIC_SetVector(TIM2_IRQn, (uint32_t)other);\n", "",
        "28 is not in the description"
    ),
    "a vector that none but the loop sets": (
        ALL + SETS.splitlines(True)[0], "", "none but it sets USART1's"
    ),
    "a function that only the run tells": (
        "    put(37, other);\n" + SETS,
        "void put(int n, void (*h)(void)) { NVIC_SetVector(n, (uint32_t)h); }\n",
        "nobody knows which function",
    ),
    "one that is read from a table": (
        SETS + "    for (int n = 0; n < 2; n++) { NVIC_SetVector(n, (uint32_t)table[n]); }\n",
        "void (*table[2])(void) = {on_tick, on_byte};\n", "nobody knows which function",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_description_doesnt_say_is_asked(tmp_path: Path, case: str) -> None:
    body, more, reason = REFUSED[case]
    _, reasons = ported(tmp_path, body, more)
    assert any("NVIC_SetVector" in it and reason in it for it in reasons), reasons


SERVES = {
    "somebody calls it": (ALL + SETS + "    unexpected();\n", "", START),
    "its address is kept": (ALL + SETS, "void (*kept)(void) = unexpected;\n", START),
    "it is put where the machine has a vector": (
        SETS + "    NVIC_SetVector(USART1_IRQn, (uint32_t)unexpected);\n", "", START
    ),
    "assembler goes there": (
        ALL + SETS, "", START + "    .global go\n    .thumb_func\ngo:\n    b unexpected\n"
    ),
    "a table of assembler has it": (
        ALL + SETS, "", START + "    .data\ntable:\n    .word unexpected\n"
    ),
    "it has a name in C": (
        ALL + SETS, 'void again(void) __attribute__((alias("unexpected")));\n', START
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SERVES)
def test_what_serves_something_else_too_isnt_taken_out(tmp_path: Path, case: str) -> None:
    body, more, start = SERVES[case]
    _, reasons = ported(tmp_path, body, more, start)
    assert any("unexpected" in it and "MSP" in it.upper() for it in reasons), reasons


def test_what_only_such_a_handler_calls_is_nobodys_too(tmp_path: Path) -> None:
    """`none` asks which fault there was."""
    _, reasons = ported(tmp_path, SETS)
    assert any("unexpected" in it for it in reasons)
    _, reasons = ported(tmp_path, ALL + SETS + "    none(0);\n")
    assert any("0xE000ED28" in it or "CFSR" in it for it in reasons), reasons
