"""Registers and intrinsics inside each other: each part is rewritten, or a person is told."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from porter.judging.verdict import Status
from tests.porter.helpers import port_text

HEADER = """\
#include <stdint.h>
typedef struct { volatile uint32_t MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR, BSRR; } GPIO_TypeDef;
typedef struct { volatile uint32_t CR, PLLCFGR, CFGR; } RCC_TypeDef;
typedef struct { volatile uint32_t CTRL, LOAD, VAL; } SysTick_Type;
typedef int32_t IRQn_Type;
#define GPIOA ((GPIO_TypeDef *)0x40020000)
#define GPIOB ((GPIO_TypeDef *)0x40020400)
#define RCC ((RCC_TypeDef *)0x40023800)
#define SysTick ((SysTick_Type *)0xE000E010)
uint32_t __get_PRIMASK(void), __get_BASEPRI(void), __get_IPSR(void), __get_PSP(void);
void __set_PRIMASK(uint32_t), __set_BASEPRI(uint32_t);
void NVIC_EnableIRQ(IRQn_Type), NVIC_SetPriority(IRQn_Type, uint32_t), g(uint32_t);
uint32_t NVIC_GetPriority(IRQn_Type), t[9];
GPIO_TypeDef *port(int n) { return n ? GPIOA : GPIOB; }
"""
INNER = (
    "GPIOA->IDR", "(GPIOA->IDR & 3)", "GPIOB->ODR", "SysTick->VAL", "__get_PRIMASK()",
    "__get_BASEPRI()", "NVIC_GetPriority(37)", "RCC->CFGR", "__get_IPSR()", "__get_PSP()",
    "(x ? GPIOA : GPIOB)->IDR", "port(x)->ODR",
)  # fmt: skip
OUTER = (
    "GPIOA->BSRR = @;", "GPIOA->BSRR = @ << 16;", "GPIOA->BSRR = 2u << (@ ? 16 : 0);",
    "GPIOA->ODR = @;", "GPIOA->ODR ^= @;", "GPIOA->ODR &= ~@;", "NVIC_SetPriority(37, @);",
    "__set_BASEPRI(@);", "__set_PRIMASK(@);", "SysTick->LOAD = @;", "if (@) { g(1); }",
    "g(@);", "t[@] = 1;", "NVIC_EnableIRQ((IRQn_Type)@);", "while (@ == 0) { }",
    "port(@)->BSRR = x;", 'asm volatile ("msr basepri, %0" :: "r" (@));',
)  # fmt: skip
RAW = re.compile(rb"(?:GPIO[AB]|RCC|SysTick|\))->\w+|__[gs]et_\w+|NVIC_\w+|msr")
PORT_NUMBER = re.compile(rb"\(uint32_t\)\(x \? GPIOA : GPIOB\)")


def test_no_access_is_left_without_a_word(tmp_path: Path) -> None:
    bodies = [outer.replace("@", inner) for outer, inner in product(OUTER, INNER)]
    functions = [f"void f{n}(uint32_t x) {{ {body} }}\n" for n, body in enumerate(bodies)]
    calls = "".join(f"f{n}(t[0]); " for n in range(len(bodies)))
    text = HEADER + "".join(functions) + f"int main(void) {{ for (;;) {{ {calls}}} }}\n"
    ported, result = port_text(tmp_path, text.encode())
    told = {
        text[: verdict.site.start].count("\n")
        for verdict in result.verdicts
        if verdict.status is Status.ESCALATED
    }
    first = HEADER.count("\n")
    after = {
        line.split(b"(")[0]: line for line in ported.splitlines() if line.startswith(b"void f")
    }
    rewritten = 0
    for number, body in enumerate(bodies):
        line = after[b"void f%d" % number]
        left = RAW.findall(PORT_NUMBER.sub(b"", line))
        assert not left or first + number in told, (body, line)
        assert b"if hyp" not in line and b"while hyp" not in line
        rewritten += not left
    assert rewritten > len(bodies) // 4


def test_a_part_is_rewritten_within_what_becomes_of_the_whole(tmp_path: Path) -> None:
    text = HEADER + (
        "void f(GPIO_TypeDef *p, uint32_t m) { p->BSRR = m << (p->ODR & m ? 16 : 0); }\n"
        "int main(void) { for (;;) { f(GPIOA, 32); } }\n"
    )
    ported, _ = port_text(tmp_path, text.encode())
    port = b"((uint32_t)p - 0x40020000U) / 0x400U"
    assert b"hyp_pin_write(%s, m << (hyp_pin_latch(%s) & m ? 16 : 0));" % (port, port) in ported


def test_an_address_in_an_operand_of_assembler_is_told(tmp_path: Path) -> None:
    text = HEADER + (
        'void f(void) { asm volatile ("str %0, [%1]" :: "r" (1), "r" (&GPIOA->BSRR)); }\n'
        "int main(void) { for (;;) { f(); } }\n"
    )
    _, result = port_text(tmp_path, text.encode())
    last = text.rindex("GPIOA")
    (found,) = [verdict for verdict in result.verdicts if verdict.site.start == last]
    assert found.status is Status.ESCALATED


POINTERS = """\
#include <stdint.h>
typedef volatile uint32_t *reg_t;
#define REG volatile uint32_t *
#define SCS ((volatile uint32_t) 0xE000ED00)
#define ICSR ((REG) (SCS + 0x04))
#define ICSR_OF_TYPE (*(reg_t)(0xE000ED04))
#define AT(address) (*(REG)(address))
"""


@pytest.mark.parametrize(
    "register",
    [
        "*ICSR", "ICSR_OF_TYPE", "AT(0xE000ED04)", "*(REG)(0xE000ED04)", "*(reg_t)(SCS + 4)",
        "*(reg_t)0xE000ED04", "((REG)(0xE000ED00))[1]", "((reg_t)(0xE000ED00))[1]",
    ],
)  # fmt: skip
def test_a_name_for_a_type_casts_as_the_type_does(register: str, tmp_path: Path) -> None:
    """Without the types `(name)(x)` reads like a call."""
    text = POINTERS + f"int main(void) {{ for (;;) {{ {register} = 1u << 28; }} }}\n"
    ported, result = port_text(tmp_path, text.encode())
    assert b"for (;;) { virt_yield(); }" in ported
    assert [verdict.status for verdict in result.verdicts] == [Status.REWRITTEN]
