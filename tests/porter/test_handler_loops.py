"""A handler that spins until another interrupt comes is told: in a machine none comes between."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import escalations, port_files

HEAD = """\
#include <stdint.h>
volatile uint32_t ticks; volatile int flag; int plain;
#define SR (*(volatile uint32_t *)0x40011000)
struct state { volatile int ready; } state, *p;
uint32_t now(void) { return ticks; }
uint32_t after(void) { return (uint32_t)(ticks); }
int counted; void count(void) { counted++; }
void set(void) { flag = plain; }
void SysTick_Handler(void) { ticks++; flag = 1; state.ready = 1; }
"""
USES = "void USART1_IRQHandler(void) { plain = SR; wait(2); }\nint main(void) { for (;;) { } }\n"
VAIN = {
    "a delay": "uint32_t t = ticks; while (ticks - t < ms) { }",
    "by a getter": "uint32_t t = now(); while (now() - t < ms) { __NOP(); }",
    "a flag": "while (!flag);",
    "do": "do { } while (flag == 0);",
    "for": "for (; !flag; ) ;",
    "a getter with a cast": "uint32_t t = after(); while (after() - t < ms) ;",
    "a member": "while (!state.ready) ;",
    "by a break": "for (;;) { if (flag) break; }",
    "by a return": "while (1) { if (ticks > 5) return; }",
    "a break of another loop": "while (!flag) { for (;;) { if (SR) break; } }",
    "what it calls changes something else": "while (!flag) { count(); }",
}
ENDS = {
    "a device": "while (SR & 1) { }",
    "a device or a flag": "while (SR & 1 && !flag) { }",
    "a count": "for (uint32_t i = 0; i < ms * 9; i++) { }",
    "what it changes": "while (!flag) { flag = SR; }",
    "what is called may change it": "while (!flag) { poll(); }",
    "leaves": "while (!flag) { if (SR & 2) break; }",
    "what no handler writes": "while (plain) { }",
    "a call sets it": "while (!flag) { set(); }",
    "a break for a count": "for (;;) { if (flag) break; if (ms-- == 0) return; }",
    "a bound": "for (int i = 0; i < 9 && !flag; i++) { }",
    "a return from within another loop": "for (;;) { for (; ms; ms--) { if (SR) return; } }",
    "a return from a switch": "for (;;) { if (flag) break; switch (SR) { case 1: return; } }",
    "goto": "while (!flag) { goto out; } out: ;",
    "a member by a pointer": "while (!p->ready) ;",
}


def told(folder: Path, body: str, uses: str = USES) -> list[str]:
    text = f"{HEAD}void poll(void);\nvoid wait(uint32_t ms) {{ {body} }}\n{uses}"
    found = escalations(port_files(folder, {"main.c": text.encode()}, None))
    return [it for it in found if "in vain" in it]


@pytest.mark.parametrize("body", VAIN.values(), ids=VAIN)
def test_what_another_interrupt_ends(body: str, tmp_path: Path) -> None:
    (reason,) = told(tmp_path, body)
    assert "USART1_IRQHandler leads here" in reason and "what SysTick_Handler() sets" in reason


@pytest.mark.parametrize("body", ENDS.values(), ids=ENDS)
def test_what_ends_by_itself(body: str, tmp_path: Path) -> None:
    assert told(tmp_path, body) == []


def test_in_mains_loop_it_is_a_wait(tmp_path: Path) -> None:
    assert told(tmp_path, VAIN["a delay"], "int main(void) { for (;;) { wait(2); } }\n") == []


def test_a_delay_of_a_library_waits_for_the_tick(tmp_path: Path) -> None:
    head = '#include "stm32f4xx_hal.h"\nint plain; volatile int flag, ticks;\n'
    text = (
        head + "void EXTI0_IRQHandler(void) { HAL_Delay(50); }\nint main(void) { HAL_Delay(1); }\n"
    )
    found = escalations(port_files(tmp_path, {"main.c": text.encode()}, None))
    (reason,) = [it for it in found if "in vain" in it]
    assert "EXTI0_IRQHandler leads here" in reason and "HAL_Delay(50)" in reason
