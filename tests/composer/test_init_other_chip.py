"""A project for another chip: its addresses say nothing of this chip's devices and pins."""

from __future__ import annotations

from pathlib import Path

import pytest

from composer.chips.chip import load_chip
from composer.description.model import Place
from composer.init.project import read_project
from scanner.report.errors import FvmError
from tests.composer.init_projects import write

CHIP = load_chip("STM32F405RG", Place("test"))
G431 = """\
#include <stdint.h>
#define RCC_BASE 0x40021000UL
#define ADC1_BASE 0x50000000UL
#define TIM2_BASE 0x40000000UL
typedef struct { volatile uint32_t CR, ICSCR, CFGR, PLLCFGR; } RCC_TypeDef;
typedef struct { volatile uint32_t ISR, IER, CR; } ADC_TypeDef;
typedef struct { volatile uint32_t CR1, CR2; } TIM_TypeDef;
#define RCC ((RCC_TypeDef *)RCC_BASE)
#define ADC1 ((ADC_TypeDef *)ADC1_BASE)
#define TIM2 ((TIM_TypeDef *)TIM2_BASE)
"""
MAIN = """\
#include "stm32g431xx.h"
int main(void) { RCC->CR |= 1u << 16; ADC1->CR |= 1; TIM2->CR1 |= 1; for (;;) { } }
"""
MAKEFILE = (
    "fw.elf: main.c\n\tarm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -nostdlib main.c -o fw.elf\n"
)


def test_only_what_is_alike_on_both_is_taken(tmp_path: Path) -> None:
    write(tmp_path, {"stm32g431xx.h": G431, "main.c": MAIN, "Makefile": MAKEFILE})
    facts = read_project(tmp_path, CHIP)
    told = [it.text for it in facts.decisions]
    assert facts.pins == () and [it.name for it in facts.devices] == ["TIM2"]
    assert any(
        "another chip, stm32g431xx by its headers: it has RCC at 0x40021000" in it for it in told
    )
    assert any("has USB_OTG_FS at 0x50000000, where the project's own chip" in it for it in told)
    assert not any("has no such pin" in it for it in told)


def test_the_chip_itself_under_its_names(tmp_path: Path) -> None:
    own = G431.replace("0x40021000", "0x40023800").replace("0x50000000", "0x40012000")
    main = MAIN.replace("stm32g431xx.h", "stm32f405xx.h")
    write(tmp_path, {"stm32f405xx.h": own, "main.c": main, "Makefile": MAKEFILE})
    facts = read_project(tmp_path, CHIP)
    assert not any("another chip" in it.text for it in facts.decisions)


def test_another_machine_is_refused(tmp_path: Path) -> None:
    make = MAKEFILE.replace("arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb",
                            "riscv64-unknown-elf-gcc -march=rv32imac -mabi=ilp32")  # fmt: skip
    main = "int main(void) { *(volatile int *)0x40013800 = 1; for (;;) { } }\n"
    write(tmp_path, {"main.c": main, "Makefile": make})
    with pytest.raises(FvmError, match="compiled for RISC-V"):
        read_project(tmp_path, CHIP)


KINETIS = """\
#include <stdint.h>
#define GPIO_PORTB_DEN_R (*(volatile uint32_t *)0x4000551C)
#define SIM_COPC (*(volatile uint32_t *)0x40048100)
int main(void) { SIM_COPC = 0; GPIO_PORTB_DEN_R |= 1; for (;;) { } }
"""


def test_a_block_of_another_kind_by_the_projects_name(tmp_path: Path) -> None:
    write(tmp_path, {"main.c": KINETIS, "Makefile": MAKEFILE})
    facts = read_project(tmp_path, CHIP)
    told = [it.text for it in facts.decisions]
    assert facts.devices == ()
    assert any("has I2C1 at 0x40005400" in it and "GPIO_PORTB_DEN_R" in it for it in told)
    assert any("has USB_OTG_HS" in it and "SIM_COPC" in it for it in told)


def test_one_block_of_the_headers_elsewhere_takes_no_other(tmp_path: Path) -> None:
    header = "\n".join(line for line in G431.splitlines() if "RCC" not in line) + "\n"
    main = MAIN.replace("RCC->CR |= 1u << 16; ", "")
    write(tmp_path, {"stm32g431xx.h": header, "main.c": main, "Makefile": MAKEFILE})
    facts = read_project(tmp_path, CHIP)
    assert [it.name for it in facts.devices] == ["TIM2"]
    assert any("has USB_OTG_FS" in it.text and "ADC1" in it.text for it in facts.decisions)


def test_pins_of_another_block_by_its_name(tmp_path: Path) -> None:
    main = (
        "#define ADC0_CTRL (*(volatile unsigned *)0x40020000)\n"
        "int main(void) { ADC0_CTRL = (ADC0_CTRL & ~3u) | 1u; for (;;) { } }\n"
    )
    write(tmp_path, {"main.c": main, "Makefile": MAKEFILE})
    facts = read_project(tmp_path, CHIP)
    assert facts.pins == () and any("ADC0_CTRL" in it.text for it in facts.decisions)
    write(tmp_path, {"main.c": main.replace("ADC0_CTRL", "LED_MODE")})
    assert [it.name for it in read_project(tmp_path, CHIP).pins] == ["PA0"]


def test_many_names_that_dont_fit(tmp_path: Path) -> None:
    blocks = {"UART0": "0x40005400", "ADC0": "0x40013000", "SPI0": "0x40000400"}
    lines = [f"#define {name}_CTL (*(volatile unsigned *){at})" for name, at in blocks.items()]
    uses = " ".join(f"{name}_CTL = 1;" for name in blocks)
    main = "\n".join([*lines, f"int main(void) {{ {uses} *(volatile int *)0x40000800 = 1; }}\n"])
    write(tmp_path, {"main.c": main, "Makefile": MAKEFILE})
    facts = read_project(tmp_path, CHIP)
    assert facts.devices == ()
    assert "written for another chip" in facts.decisions[0].text


def test_the_part_that_options_name(tmp_path: Path) -> None:
    make = MAKEFILE.replace("-nostdlib", "-nostdlib -DDEBUG=1 -DSTM32G431xx")
    write(tmp_path, {"stm32g4xx.h": G431, "main.c": MAIN.replace("g431xx", "g4xx")})
    write(tmp_path, {"Makefile": make})
    told = read_project(tmp_path, CHIP).decisions[0].text
    assert "written for another chip, STM32G431xx by its -D options: it has RCC" in told


BARE = """\
#define DEN (*(volatile unsigned *)0x4000551C)
int main(void) { DEN |= 1; for (;;) { } }
"""


@pytest.mark.parametrize(
    ("option", "part"),
    [("-DTM4C123GH6PM", "TM4C123GH6PM"), ("-DSTM32F103xB=1", "STM32F103xB"),
     ("-DSTM32F407xx", ""), ("-DAT24C256", ""), ("-DLOG_LEVEL=2", "")],
)  # fmt: skip
def test_an_option_that_names_a_part_of_another_family_tells(
    tmp_path: Path, option: str, part: str
) -> None:
    write(tmp_path, {"main.c": BARE, "Makefile": MAKEFILE.replace("-nostdlib", option)})
    facts = read_project(tmp_path, CHIP)
    told = " ".join(it.text for it in facts.decisions)
    assert [it.name for it in facts.devices] == ([] if part else ["I2C1"])
    assert (f"for another chip, {part} by its -D options" in told) == bool(part)


def test_what_is_used_by_name_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"stm32g431xx.h": G431, "main.c": MAIN, "Makefile": MAKEFILE})
    told = [it.text for it in read_project(tmp_path, CHIP).decisions]
    assert any("by name the project uses ADC1 (main.c:2)" in it for it in told)


NUMBERED = """\
void UART0_Handler(void) { *(volatile unsigned *)0x4000C000 = 2; }
void Reset_Handler(void);
int main(void) { for (;;) { } }
__attribute__((section(".isr_vector"))) void (*const vectors[])(void) = {
    (void (*)(void))0x20001000, Reset_Handler, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, UART0_Handler,
};
void Reset_Handler(void) { main(); }
"""


def test_another_chips_lines_have_other_numbers(tmp_path: Path) -> None:
    make = MAKEFILE.replace("-nostdlib", "-DTM4C123GH6PM")
    write(tmp_path, {"main.c": NUMBERED, "Makefile": make})
    facts = read_project(tmp_path, CHIP)
    assert facts.lines == ()
    assert any("UART0_Handler handles line 5, which is" in it.text for it in facts.decisions)
