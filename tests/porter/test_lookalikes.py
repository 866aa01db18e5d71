"""Code that looks like what a rule knows and does something else is told, or stays what it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.project.domain import Vector
from tests.porter.helpers import DOMAIN, escalations, port_files

HEADER = """\
typedef struct { volatile unsigned MODER, r[3], IDR, ODR, BSRR; } GPIO_TypeDef;
#define GPIOA ((GPIO_TypeDef *)0x40020000)
#define R(a) (*(volatile unsigned *)(a))
#define CTRL R(0xE000E010)
#define LOAD R(0xE000E014)
#define VAL R(0xE000E018)
#define ICSR R(0xE000ED04)
#define AIRCR R(0xE000ED0C)
#define SCR R(0xE000ED10)
#define DWT_CTRL R(0xE0001000)
#define CYCCNT R(0xE0001004)
#define ISER1 ((volatile unsigned *)0xE000E104)
#define IP32 ((volatile unsigned char *)0xE000E420)
int NVIC_GetPendingIRQ(int);
unsigned g(void);
int h(void);
extern unsigned shared;
"""


def ported(folder: Path, code: str) -> tuple[str, list[str]]:
    result = port_files(folder, {"main.c": (HEADER + code).encode()})
    text = next((it.ported for it in result.files if it.file.name == "main.c"), b"").decode()
    return " ".join(text.partition("extern unsigned shared;")[2].split()), escalations(result)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("void f(void) { AIRCR = (0x05FA0000u\n#ifdef X\n| 4u\n#else\n| 0x300u\n#endif\n); }",
         "an #if stands within"),
        ("void f(void) { ICSR = (\n#ifdef X\n1u << 28\n#else\n1u << 26\n#endif\n); }",
         "an #if stands within"),
        ('void f(void) { __asm volatile(\n#ifdef X\n"cpsid i"\n#else\n"nop"\n#endif\n); }',
         "an #if stands within"),
        ("void f(void) { AIRCR = 0x05FA0000u |\n#ifdef X\n0x300u;\n#else\n0x500u;\n#endif\n }",
         "an #if stands within"),
        ("void f(int x) { if (x) LOAD = 167999; CTRL = 7; }", "under a condition"),
        ("void f(void) { VAL = 0; }", "begins a period anew"),
        ("void f(unsigned n) { CTRL &= ~1u; LOAD = n - 1; VAL = 0; CTRL |= 1; }",
         "a machine's tick has one rate"),
        ("void f(void) { CTRL &= ~1u; LOAD = 99; VAL = 0; CTRL |= 1; }", "without its interrupt"),
        ("void f(unsigned n) { ISER1[n >> 5] = 1u << (n & 31); }", "doesn't begin with line 0"),
        ("void f(unsigned n) { IP32[n] = 0x40; }", "doesn't begin with line 0"),
        ("unsigned f(void) { return *(volatile unsigned char *)0x40020010; }", "eight of the port"),
        ("void f(unsigned m) { *(volatile unsigned short *)0x40020018 = ~m; }", "by half of BSRR"),
        ("void f(void) { while (!NVIC_GetPendingIRQ(37)) { } }", "waits until a line is pending"),
        ("typedef union { void (*f)(void); } entry;\nentry t[16];\nvoid r(void);\n"
         "void f(void) { R(0xE000ED08) = (unsigned)t; t[15].f = r; }", "puts handlers into t"),
        ("void f(unsigned us) { unsigned t = CYCCNT, n = us * 72; while (CYCCNT - t < n) { } }",
         "compared with n, cycles of the old chip's clock"),
        ("unsigned f(unsigned t) { return (CYCCNT - t) / 72; }", "is divided by 72, cycles of"),
        ("void f(unsigned n) { unsigned e = CYCCNT + n * 72; while ((int)(e - CYCCNT) > 0) { } }",
         "becomes a deadline by n * 72, cycles of"),
        ("void f(void) { SCR |= 1u << 4; }", "SEVONPEND"),
        ("void f(void) { SCB->SCR |= SCB_SCR_SEVONPEND_Msk; }", "SEVONPEND lets"),
        ("void f(void) { SCR |= 1u << SCB_SCR_SEVONPEND_Pos; }", "SEVONPEND"),
        ("unsigned f(void) { DWT_CTRL &= ~1u; return CYCCNT; }", "the counter stops here"),
        ("int f(void) { return (ICSR & 0x10u) != 0; }", "have no counterpart: whether a handler"),
        ("void f(void) { EXTI->EMR |= 1u << 20; }\nvoid s(void) { __WFE(); }", "send events (EMR)"),
        ('void f(void) { EXTI->EMR1 |= 2; }\nvoid s(void) { __asm volatile ("wfe"); }',
         "send events (EMR)"),
        ("int g2(int);\nvoid f(void) { g2(GPIO_MODE_EVT_RISING); }\nvoid s(void) { __WFE(); }",
         "send events (EMR)"),
    ],
)  # fmt: skip
def test_a_person_is_asked(tmp_path: Path, code: str, reason: str) -> None:
    _, found = ported(tmp_path, code + "\n")
    assert any(reason in it for it in found), found


@pytest.mark.parametrize(
    ("code", "after"),
    [
        ("void f(void) { CTRL &= ~2u; __WFI(); CTRL |= 2u; }",
         "void f(void) { hyp_tick_set(0); hyp_vct_wait(); hyp_tick_set(1000); }"),
        ("int f(void) { return (ICSR & 0x1Fu) == 0; }",  # of no handler here it is 0
         "int f(void) { return virt_in_vct() == 0; }"),
        ("void f(void) { CTRL = 0; g(); LOAD = 167999; CTRL = 7; }",
         "void f(void) { hyp_tick_set(0); g(); hyp_tick_set(1000); }"),
        ("int f(void) { int ok = h() ? (int)__disable_irq() : 0; return ok; }",
         "int f(void) { int ok = h() ? (int)virt_int_save(VIRT_PRIMASK) : 0; return ok; }"),
        ("typedef union { void (*f)(void); } entry;\nvoid r(void);\nentry t[] = { { r }, { r } };\n"
         "void f(void) { R(0xE000ED08) = (unsigned)t; g(); }",
         "typedef union { void (*f)(void); } entry; void r(void); entry t[] = { { r }, { r } }; "
         "void f(void) { g(); }"),
        ("unsigned f(unsigned t) { return (CYCCNT - t) / (FVM_CLOCK_HZ / 1000000u); }",
         "unsigned f(unsigned t) { return (virt_cycles() - t) / (FVM_CLOCK_HZ / 1000000u); }"),
        ("void f(unsigned p) { __set_PRIMASK(p // its caller's\n & 1u); }",
         "void f(unsigned p) { virt_int_restore(VIRT_PRIMASK, p & 1u); }"),
        ("#define SET(m) do { GPIOA->BSRR = m; } while (0)\nvoid f(void) { SET(0x20); }",
         "#define SET(m) do { hyp_pin_write(0, m); } while (0) void f(void) { SET(0x20); }"),
        ("void f(void) { GPIOA->BSRR = shared; }", "void f(void) { hyp_pin_write(0, shared); }"),
        ("void f(void) { GPIOA->ODR |= g(); }",
         "void f(void) { hyp_pin_write(0, (g()) & 0xFFFFU); }"),
        ("void f(void) { GPIOA->ODR ^= g(); }",
         "void f(void) { hyp_pin_toggle(0, (g()) & 0xFFFFU); }"),
        ("void f(void) { DWT_CTRL &= ~1u; DWT_CTRL |= 1u; CYCCNT = 0; }", "void f(void) { }"),
        ("extern struct { unsigned EMR; } *timer;\nvoid f(void) { timer->EMR |= 1; __WFE(); }",
         "extern struct { unsigned EMR; } *timer; "
         "void f(void) { timer->EMR |= 1; hyp_vct_wait(); }"),
        ("#define ISR(x, what) void x##_Handler(void) { what; }\nISR(SysTick, h())\n",
         "#define ISR(x, what) void x##_Handler(void) { what; } ISR(SysTick, h())"),
        ("void f(int x) { switch (x) { default: VAL = 0; LOAD = 167999; CTRL = 7; } }",
         "void f(int x) { switch (x) { default: hyp_tick_set(1000); } }"),
        ("void f(int x)\n{\nif (x)\n#ifdef X\nR(0xE000ED08) = 0;\n#else\ng();\n#endif\n}",
         "void f(int x) { if (x) #ifdef X { } #else g(); #endif }"),
    ],
)  # fmt: skip
def test_it_becomes_what_it_is(tmp_path: Path, code: str, after: str) -> None:
    text, found = ported(tmp_path, code + "\n")
    assert (text, found) == (after, [])


def test_limits_that_name_one_another_end(tmp_path: Path) -> None:
    code = "void f(void) { unsigned t = CYCCNT, a = b, b = a; while (CYCCNT - t < a) { } }\n"
    after, _ = ported(tmp_path, code)
    assert "while (virt_cycles() - t < a)" in after


def test_a_part_of_a_number_that_is_0_for_a_line_tells_nothing(tmp_path: Path) -> None:
    line = Vector(3, "irq", "TIM4", None, 16, True)
    text = b"#define ICSR (*(volatile unsigned *)0xE000ED04)\n"
    text += b"int f(void) { return (ICSR & 0x1Fu) == 0; }\n"
    result = port_files(tmp_path, {"main.c": text}, replace(DOMAIN, vectors=(line,)))
    (found,) = escalations(result)
    assert "bits 0x0000001F of ICSR" in found
