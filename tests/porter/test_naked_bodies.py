"""No C gets into a naked function, in whatever way a place in it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.judging.verdict import Status
from tests.porter.helpers import port_text

HEADER = b"""\
#define ENABLE_IRQ() __asm("CPSIE I")
#define GO() do { ENABLE_IRQ(); } while (0)
#define SLEEP() __asm volatile("wfi")
#define KEEP __attribute__((naked))
static inline void irq_on(void) { __asm volatile("cpsie i"); }
static inline void __enable_irq(void) { __asm volatile("cpsie i"); }
"""
MAIN = b"int main(void) { launch(); for (;;) { } }\n"


@pytest.mark.parametrize(
    "use", [b"ENABLE_IRQ()", b"irq_on()", b"__enable_irq()", b"SLEEP()", b"GO()"]
)
@pytest.mark.parametrize("attribute", [b"KEEP ", b"__attribute__((naked)) "])
def test_a_person_is_told_of_what_would_become_c(
    tmp_path: Path, attribute: bytes, use: bytes
) -> None:
    body = b'void launch(void) { __asm("POP {R0-R3}"); __asm("POP {LR}"); %s; __asm("BX LR"); }\n'
    text, port = port_text(tmp_path, HEADER + attribute + body % use + MAIN, None)
    assert body % use in text
    told = {it.site.what for it in port.verdicts if it.status is Status.ESCALATED}
    assert use[:-2].decode() in told


def test_the_same_places_elsewhere_become_c(tmp_path: Path) -> None:
    code = b"void launch(void) { ENABLE_IRQ(); irq_on(); __enable_irq(); GO(); }\n"
    text, port = port_text(tmp_path, HEADER + code + MAIN, None)
    assert b"{ ENABLE_IRQ(); irq_on(); virt_int_unmask(VIRT_PRIMASK); GO(); }" in text
    assert not [it for it in port.verdicts if it.status is Status.ESCALATED]


def test_what_is_taken_out_becomes_nothing(tmp_path: Path) -> None:
    text = (
        b"#define CPACR (*(volatile unsigned *)0xE000ED88)\nint main(void);\n"
        b"__attribute__((naked)) void Reset_Handler(void) { CPACR |= 15 << 20; main(); }\n"
    )
    ported, _ = port_text(tmp_path, text)
    assert b"void Reset_Handler(void) { main(); }" in ported


def test_a_function_is_naked_in_the_arm_that_says_so(tmp_path: Path) -> None:
    """RIOT's isr_svc is naked where calls are dispatched, and C where they aren't."""
    arms = (
        b"#ifdef DISPATCHES\nKEEP void launch(void) { %s; }\n#else\nvoid launch(void) { %s; }\n"
        b"#endif\n"
    )
    fine = arms % (b'__asm("bx lr")', b"__enable_irq()") + MAIN
    text, port = port_text(tmp_path / "c", HEADER + fine, None)
    assert b"void launch(void) { virt_int_unmask(VIRT_PRIMASK); }" in text
    assert not [it for it in port.verdicts if it.status is Status.ESCALATED]
    declared = b"KEEP void launch(void);\n" + fine
    for number, naked in enumerate((arms % (b"__enable_irq()", b"__enable_irq()"), declared)):
        _, port = port_text(tmp_path / str(number), HEADER + naked + MAIN, None)
        told = {it.site.what for it in port.verdicts if it.status is Status.ESCALATED}
        assert "__enable_irq" in told
