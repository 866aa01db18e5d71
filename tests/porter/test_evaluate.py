"""From names in the text to register addresses."""

from __future__ import annotations

import pytest

from porter.registers.system_space import identify
from porter.sites.registers import Registers
from porter.source.c_lexer import lex
from porter.source.c_types import TypeTable
from porter.source.evaluate import Evaluator
from porter.source.macros import MacroTable
from porter.source.values import Number, Place

HEADER = b"""
typedef unsigned int uint32_t; typedef unsigned char uint8_t;
typedef struct { volatile uint32_t ISER[8], pad[24]; volatile uint8_t IP[240]; } NVIC_Type;
typedef struct { volatile uint32_t MODER; volatile uint8_t odd; volatile uint32_t next; }
    GPIO_TypeDef;
struct handle { GPIO_TypeDef *Instance; uint32_t pins[2]; };
typedef enum { SysTick_IRQn = -1, WWDG_IRQn = 0, PVD_IRQn, LAST = PVD_IRQn + 4, AFTER } IRQn_Type;
#define SCS_BASE (0xE000E000UL)
#define NVIC ((NVIC_Type *)(SCS_BASE + 0x0100UL))
#define AHB1 0x40020000U
#define GPIOA ((GPIO_TypeDef *)(AHB1 + 0x0000U))
#define GPIOC ((GPIO_TypeDef *)(AHB1 + 0x0800U))
#define MMIO32(a) (*(volatile uint32_t *)(a))
#define SCB_ICSR MMIO32(SCS_BASE + 0xd04)
#define NVIC_ISER(n) MMIO32(0xE000E100 + ((n) * 4))
#define BIT(n) (1UL << (n))
#define LOOP LOOP
#define A B
#define B A
#define CAT(a, b) a##b
"""


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    macros = MacroTable()
    types = TypeTable()
    lexed = lex(HEADER)
    macros.add_lexed(lexed.directives)
    types.add_text(HEADER)
    return Evaluator(macros, types)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"BIT(3) | 0x10", 0x18),
        (b"~0UL & 0xFF", 0xFF),
        (b"-7 / 2", -3),
        (b"(uint8_t)0x1FF", 0xFF),
        (b"010 + 0b11", 11),
        (b"LAST", 5),
        (b"AFTER", 6),
        (b"SysTick_IRQn", -1),
        (b"1 ? 2 : 3", 2),
        (b"CAT(1, 0)", 10),
        (b"~0U", 0xFFFFFFFF),
        (b"~0", -1),
        (b"0xFFFFFFFF + 1", 0),
        (b"0x7FFFFFFF + 1", -0x80000000),
        (b"-1 < 0u", 0),
        (b"-8 >> 1", -4),
        (b"-8u >> 1", 0x7FFFFFFC),
        (b"4294967295 + 1", 1 << 32),
        (b"0x100000000 >> 4", 0x10000000),
        (b"(uint32_t)-1 / 2", 0x7FFFFFFF),
        (b"(uint8_t)255 + (uint8_t)1", 256),
        (b"sizeof(NVIC_Type)", 0x170),
        (b"sizeof(struct handle) + sizeof(uint8_t)", 13),
        (b"sizeof GPIOA->odd", 1),
        (b"offsetof(GPIO_TypeDef, next)", 8),
        (b"'\\n' + 'A'", 75),
        (b"1 << 31 >> 31", -1),
    ],
)
def test_numbers(evaluator: Evaluator, text: bytes, value: int) -> None:
    assert evaluator.text(text) == Number(value)


@pytest.mark.parametrize(
    "text", [b"LOOP", b"A", b"x + 1", b"1 / 0", b"1 << 32", b"f(3)", b"1 +", b""]
)
def test_what_is_not_known_is_none(evaluator: Evaluator, text: bytes) -> None:
    assert evaluator.text(text) is None


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (b"NVIC->ISER[1]", 0xE000E104),
        (b"NVIC->IP[3]", 0xE000E183),
        (b"GPIOC->next", 0x40020808),
        (b"(*GPIOA).MODER", 0x40020000),
        (b"SCB_ICSR", 0xE000ED04),
        (b"*(&GPIOA->MODER + 2)", 0x40020008),
        (b"((volatile uint32_t *)0xE000E010)[1]", 0xE000E014),
    ],
)
def test_places(evaluator: Evaluator, text: bytes, address: int) -> None:
    place = evaluator.text(text)
    assert isinstance(place, Place)
    assert place.address == address


def test_an_unknown_index_stays_in_its_array(evaluator: Evaluator) -> None:
    place = evaluator.text(b"NVIC->ISER[x >> 5]")
    assert isinstance(place, Place)
    assert (place.address, place.span, place.exact) == (0xE000E100, 32, True)


def test_an_unknown_block_has_no_instance(evaluator: Evaluator) -> None:
    registers = Registers(evaluator, None)
    place = evaluator.text(b"((GPIO_TypeDef *)(AHB1 + 0x400 * n))->MODER")
    register = registers.identify(place)
    assert register is not None
    assert (register.block, register.name, register.instance) == ("GPIO", "MODER", None)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (b"GPIOC->MODER", "GPIOC->MODER"),
        (b"SCB_ICSR", "SCB->ICSR"),
        (b"NVIC_ISER(n / 32)", "NVIC->ISER"),
        (b"MMIO32(0x40020814)", "GPIOC->ODR"),
        (b"MMIO32(0x40023800)", "RCC->CR"),
        (b"MMIO32(0x42400284)", "GPIOA->ODR bit"),
        (b"MMIO32(0x40011000)", "None"),
    ],
)
def test_registers_by_address(evaluator: Evaluator, text: bytes, name: str) -> None:
    assert str(Registers(evaluator, "STM32F405RG").identify(evaluator.text(text))) == name


def test_the_system_space_has_an_answer_for_every_address() -> None:
    for address in range(0xE0000000, 0xE0100000, 4):
        assert identify(address) is not None
    assert identify(0xE0100000) is None


def test_macros_that_lead_to_one_another_are_expanded_once() -> None:
    """Both arms of an #if: each names the other's, and no expansion is one anew."""
    both = b"""
#define MOD(s, r, m) ((s) ? SET(r, m) : CLR(r, m))
#define CLR(r, m) MOD(0, r, m) + MOD(1, r, m)
#define SET(r, m) MOD(1, r, m) + MOD(0, r, m)
"""
    macros = MacroTable()
    macros.add_lexed(lex(both).directives)
    evaluator = Evaluator(macros, TypeTable())
    expanded = []
    expand = macros.expand
    macros.expand = lambda tokens: expanded.append(tokens) or expand(tokens)  # type: ignore
    assert evaluator.text(b"MOD(x, 1, 2)") is None
    assert len(expanded) == 1
