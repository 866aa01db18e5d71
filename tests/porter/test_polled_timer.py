"""SysTick as a clock that code looks at: delays without an interrupt, COUNTFLAG beside the tick."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.port import port_project
from tests.porter.helpers import DOMAIN, escalations, port_files

HEADER = b"""\
typedef struct { volatile unsigned CTRL, LOAD, VAL; } SysTick_Type;
#define SysTick ((SysTick_Type *)0xE000E010)
#define SysTick_CTRL_COUNTFLAG_Msk (1UL << 16)
extern unsigned SystemCoreClock;
void delay(unsigned n);
"""
DELAY = b"""\
void delay(unsigned n)
{
    unsigned temp;
    SysTick->LOAD = %s;
    SysTick->VAL = 0;
    SysTick->CTRL |= 1;
    do {
        temp = SysTick->CTRL;
    } while ((temp & 1) && !(temp & (1 << 16)));
    SysTick->CTRL &= ~1u;
}
"""
BY_CLOCK = DELAY % b"n * (SystemCoreClock / 8000000)"
WAIT = (
    b"void delay(unsigned n) { while (n) if (SysTick->CTRL & SysTick_CTRL_COUNTFLAG_Msk) n--; }\n"
)
MAIN = b"int main(void) { for (;;) delay(5); }\n"
START_UP = b"""\
    .syntax unified
    .weak SysTick_Handler
    .thumb_set SysTick_Handler, Default_Handler
    .thumb_func
Default_Handler:
    b .
"""
SERVED = replace(
    DOMAIN,
    vectors=tuple(
        replace(it, handler="SysTick_Handler") if it.kind == "tick" else it for it in DOMAIN.vectors
    ),
)


def project(text: bytes, **others: bytes) -> dict[str, bytes]:
    files = {"main.c": HEADER + text + MAIN}
    return files | {name.replace("_", "."): HEADER + data for name, data in others.items()}


def text_of(folder: Path, files: dict[str, bytes]) -> tuple[bytes, list[str]]:
    result = port_files(folder, files)
    assert result.files
    return b"".join(it.ported for it in result.files), escalations(result)


def test_a_delay_goes_by_the_cycle_counter_whatever_its_shape(tmp_path: Path) -> None:
    text, problems = text_of(tmp_path, project(BY_CLOCK) | {"start.s": START_UP})
    assert problems == []
    load = b"virt_systick_set_load(n * (SystemCoreClock / 8000000), FVM_CLOCK_HZ, FVM_CLOCK_HZ);"
    assert load in text
    assert b"virt_systick_set_val(0);" in text
    assert b"virt_systick_set_ctrl(virt_systick_ctrl() | (1));" in text
    assert b"temp = virt_systick_ctrl();" in text
    assert b"SysTick->" not in text and b"hyp_tick_set" not in text


def test_a_number_of_counts_is_of_the_old_chips_clock(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_bytes(HEADER + DELAY % b"72000 - 1" + MAIN)
    result = port_project(tmp_path, DOMAIN, core_clock=72_000_000)
    assert escalations(result) == []
    load = b"virt_systick_set_load(72000 - 1, 72000000, FVM_CLOCK_HZ);"
    assert load in result.files[0].ported
    (reason,) = escalations(port_project(tmp_path, DOMAIN))
    assert "give it by --core-clock HZ" in reason


def test_counts_that_may_be_of_either_clock_need_a_person(tmp_path: Path) -> None:
    text = b"unsigned us;\nvoid set(unsigned n) { us = %s; }\n" + DELAY.replace(b"%s", b"n * us")
    text += b"void (*volatile begin)(unsigned) = set;\n"
    _, (reason,) = text_of(tmp_path / "any", project(text.replace(b"%s", b"n")))
    assert "SysTick->LOAD is given n * us" in reason and "from SystemCoreClock" in reason
    known, problems = text_of(tmp_path / "clock", project(text % b"SystemCoreClock / 8000000"))
    assert problems == [] and b"(n * us, FVM_CLOCK_HZ, FVM_CLOCK_HZ);" in known


@pytest.mark.parametrize(
    "handler",
    [
        b"void SysTick_Handler(void) { hits++; }\n",
        b"void SysTick_Handler(void) { }\nvoid up(void) { SysTick->CTRL = 1 | TICKINT; }\n"
        b"void (*volatile start)(void) = up;\n",
    ],
)
def test_a_timer_that_interrupts_is_a_tick(tmp_path: Path, handler: bytes) -> None:
    text, problems = text_of(tmp_path, project(BY_CLOCK, it_c=handler))
    assert problems and b"virt_systick" not in text


def test_a_handler_that_the_description_names_may_be_anywhere(tmp_path: Path) -> None:
    for number, (handler, is_polled) in enumerate(((b"", False), (b"{ }", True))):
        folder = tmp_path / str(number)
        defined = b"void SysTick_Handler(void) %s\n" % handler if handler else b""
        result = port_files(folder, project(BY_CLOCK + defined), SERVED)
        assert (b"virt_systick_set_val" in result.files[0].ported) == is_polled


def test_a_part_of_a_program_says_nothing_of_the_rest(tmp_path: Path) -> None:
    result = port_files(tmp_path, {"delay.c": HEADER + BY_CLOCK})
    assert escalations(result) and b"virt_systick" not in result.files[0].ported


def test_two_files_that_disagree_are_told(tmp_path: Path) -> None:
    started = b"void start(void) { SysTick->LOAD = 167999; SysTick->CTRL = 7; }\n"
    started += b"void (*volatile begin)(void) = start;\n"
    text, problems = text_of(tmp_path, project(BY_CLOCK, tick_c=started))
    assert problems and all("tick.c:" in it and "with its interrupt" in it for it in problems)
    assert b"virt_systick" not in text


def test_countflag_comes_once_a_tick(tmp_path: Path) -> None:
    counts = b"unsigned ticks;\nvoid SysTick_Handler(void) { ticks++; }\n"
    text, problems = text_of(tmp_path, project(WAIT, it_c=counts))
    assert problems == []
    assert b"if (virt_tick_ctrl(1000, FVM_CLOCK_HZ) & SysTick_CTRL_COUNTFLAG_Msk) n--;" in text


@pytest.mark.parametrize(
    "asked", [b"n -= SysTick->CTRL", b"if (SysTick->CTRL & 3) n--", b"n = SysTick->VAL"]
)
def test_more_than_countflag_of_a_ticking_timer_needs_a_person(
    tmp_path: Path, asked: bytes
) -> None:
    counts = b"unsigned ticks;\nvoid SysTick_Handler(void) { ticks++; }\n"
    wait = b"void delay(unsigned n) { while (n) { %s; } }\n" % asked
    _, problems = text_of(tmp_path, project(wait, it_c=counts))
    assert len(problems) == 1


def test_another_vendors_reference_clock_is_not_known(tmp_path: Path) -> None:
    files = project(b"#define __NVIC_PRIO_BITS 3\n" + BY_CLOCK.replace(b"CTRL |= 1", b"CTRL = 1"))
    _, (reason,) = text_of(tmp_path, files)
    assert "without CLKSOURCE" in reason


def test_a_time_by_the_counters_values_is_checked_for_its_clock(tmp_path: Path) -> None:
    text = BY_CLOCK + b"unsigned late(unsigned t) { return t - SysTick->VAL > 720; }\n"
    text += b"unsigned (*volatile ask)(unsigned) = late;\n"
    _, (reason,) = text_of(tmp_path, project(text))
    assert "is compared with 720" in reason


THROUGH = b"""\
static void ticks(unsigned clock, unsigned hz) { SysTick->LOAD = clock / hz - 1; SysTick->VAL = 0;
SysTick->CTRL = 5; }
void begin(unsigned clock) { ticks(clock, 1000); }
"""


@pytest.mark.parametrize(
    ("calls", "is_known"),
    [
        (b"begin(SystemCoreClock);", True),
        (b"begin(SystemCoreClock); begin(8000000);", False),
        (b"begin(SystemCoreClock); void (*other)(unsigned) = begin; other(8000000);", False),
        (b"unsigned n = 8000000; begin(n);", False),
    ],
)
def test_the_clock_is_known_where_all_callers_hand_it_on(
    tmp_path: Path, calls: bytes, is_known: bool
) -> None:
    main = b"int main(void) { %s for (;;) delay(5); }\n" % calls
    files = {"main.c": HEADER + THROUGH + WAIT + main, "start.s": START_UP}
    text, problems = text_of(tmp_path, files)
    assert (b"virt_systick_set_load(clock / hz - 1, FVM_CLOCK_HZ, " in text) == is_known
    assert (problems == []) == is_known
