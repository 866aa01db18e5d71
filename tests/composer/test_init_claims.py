"""`fvmkit init` where two projects use different blocks that hang together in hardware."""

from __future__ import annotations

from pathlib import Path

from lxml import etree

from composer.init.first import First, first_description
from tests.composer.init_projects import VECTORS, low_layer_project, write

HEADER = """
#include "device.h"
typedef struct { __IO uint32_t r[64]; } BLOCK;
#define TIM1 ((TIM_TypeDef *) 0x40010000)
#define TIM10 ((TIM_TypeDef *) 0x40014400)
#define CAN1 ((BLOCK *) 0x40006400)
#define CAN2 ((BLOCK *) 0x40006800)
"""


def project(folder: Path, body: str, line: int | None = None) -> Path:
    """A project whose main does something, with a handler for one line."""
    low_layer_project(folder)
    handler = f"[16 + {line}] = line_handler," if line is not None else ""
    vectors = VECTORS[: VECTORS.index("[16 + 28]")] + handler + "};\n"
    vectors = vectors.replace("int main(void);", "int main(void);\nvoid line_handler(void);")
    vectors = "\n".join(text for text in vectors.split("\n") if "USART" not in text)
    main = (
        f"{HEADER}void line_handler(void) {{ }}\nint main(void) {{\n{body}    for (;;) {{ }}\n}}\n"
    )
    vectors = "\n".join(text for text in vectors.split("\n") if "TIM2" not in text)
    return write(folder, {"src/main.c": main, "src/vectors.c": vectors})


def first(tmp_path: Path, one: Path, two: Path) -> tuple[First, dict[str, list[str]], str]:
    """The description, what each machine gets by it, and all there is to decide."""
    found = first_description([one, two], "STM32F405RG", None, tmp_path / "system.xml")
    tree = etree.fromstring(found.text.encode())
    given = {
        str(vm.get("name")): [str(e.get("name")) for e in vm.iter("device", "irq")]
        for vm in tree.iter("vm")
    }
    return found, given, "\n".join(str(decision) for _, decision in found.draft.all_decisions())


TIM1 = "    RCC->APB2ENR |= 1;\n    TIM1->CR1 = 1;\n    NVIC_EnableIRQ((IRQn_Type) 25);\n"
TIM10 = "    RCC->APB2ENR |= 1 << 17;\n    TIM10->CR1 = 1;\n"
TIM10_LINE = TIM10 + "    NVIC_EnableIRQ((IRQn_Type) 25);\n"
CAN1 = "    RCC->APB1ENR |= 1 << 25;\n    CAN1->r[0] = 1;\n"
CAN2 = "    RCC->APB1ENR |= 1 << 26;\n    CAN2->r[0] = 1;\n"


def test_a_timer_that_raises_another_ones_line_is_left_out_and_said(tmp_path: Path) -> None:
    one, two = project(tmp_path / "one", TIM1, 25), project(tmp_path / "two", TIM10)
    found, given, decisions = first(tmp_path, one, two)
    assert found.problem is None
    assert given == {"one": ["TIM1", "TIM1_UP_TIM10"], "two": []}
    assert (
        "TIM10 is used here (src/main.c:11), but it can raise interrupt TIM1_UP_TIM10 of one"
        " (src/main.c:12)"
    ) in decisions
    text = " ".join(found.text.split())
    assert "Until they can be shared, give all of it to one <vm>" in text
    assert "use something else (TIM4 or TIM5 or TIM7)" in text  # TIM6 shares the DAC's line
    assert 'name="link"' not in found.text  # no wire joined them


def test_a_line_whose_block_is_another_ones(tmp_path: Path) -> None:
    one = project(tmp_path / "one", TIM1.replace("    NVIC_EnableIRQ((IRQn_Type) 25);\n", ""))
    found, given, decisions = first(tmp_path, one, project(tmp_path / "two", TIM10_LINE, 25))
    assert found.problem is None
    assert given == {"one": ["TIM1"], "two": ["TIM10"]}
    assert "interrupt TIM1_UP_TIM10 is used here (src/main.c:12), but it can be raised by TIM1 of" \
        " one (src/main.c:11)" in decisions  # fmt: skip


def test_blocks_that_depend_on_one_another_in_either_order(tmp_path: Path) -> None:
    can1, can2 = project(tmp_path / "first", CAN1), project(tmp_path / "second", CAN2)
    for projects, text in (
        ((can1, can2), "CAN2 is used here (src/main.c:11), but it depends on CAN1 of first"),
        ((can2, can1), "CAN1 is used here (src/main.c:11), but it decides about CAN2 of second"),
    ):
        found, given, decisions = first(tmp_path, *projects)
        assert found.problem is None
        assert sorted(len(names) for names in given.values()) == [0, 1]
        assert f"{text} (src/main.c:11): the filters of both are in its registers" in decisions


def test_blocks_of_one_project_stay_together(tmp_path: Path) -> None:
    one = project(tmp_path / "one", TIM1 + TIM10 + CAN1 + CAN2, 25)
    found, given, decisions = first(tmp_path, one, project(tmp_path / "two", ""))
    assert found.problem is None
    assert sorted(given["one"]) == ["CAN1", "CAN2", "TIM1", "TIM10", "TIM1_UP_TIM10"]
    assert "hang" not in decisions and "raise" not in decisions


def test_a_pin_that_another_projects_block_can_drive(tmp_path: Path) -> None:
    dac = "    RCC->APB1ENR |= 1 << 29;\n    *(volatile uint32_t *) 0x40007400 = 1;\n"
    pin = "    RCC->AHB1ENR |= 1;\n    GPIOA->MODER |= 1 << 10;\n"
    one, two = project(tmp_path / "one", dac), project(tmp_path / "two", pin)
    for projects, text in (
        ((one, two), "pin PA5 is used here (src/main.c:11), but it can be driven by DAC1 of one"),
        ((two, one), "DAC1 is used here (src/main.c:11), but it can drive pin PA5 of two"),
    ):
        found, _, decisions = first(tmp_path, *projects)
        assert found.problem is None
        assert f"{text} (src/main.c:11)" in decisions, decisions


def test_the_log_goes_to_no_uart_whose_line_a_project_serves(tmp_path: Path) -> None:
    """The project may reach it by an address that isn't known."""
    unused = project(tmp_path / "unused", TIM10)
    served = project(tmp_path / "served", TIM10 + "    NVIC_EnableIRQ((IRQn_Type) 71);\n", 71)
    for folder, uart in ((unused, "USART6"), (served, "UART5")):
        found = first_description([folder], "STM32F405RG", None, tmp_path / "system.xml")
        (kernel,) = etree.fromstring(found.text.encode()).iter("kernel")
        assert kernel.get("console") == uart
