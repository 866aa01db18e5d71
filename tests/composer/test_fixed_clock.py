"""Chips without a clock tree and pins: the MPS2 boards. And how slow a kernel tick may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from composer.emit.generate import generate
from scanner.report.errors import FvmError
from tests.composer import systems

SYSTEM = """<?xml version="1.0"?>
<system name="tiny" chip="MPS2-AN385" board="mps2-an385">
  <kernel console="UART0"/>
  <vm name="one" flash="32K" ram="16K">
    <project path="one" port="no"><source>*.c</source></project>
    <tick handler="SysTick_Handler"/>
    <device name="TIMER0"/>
    <irq name="TIMER0" handler="USART1_IRQHandler"/>
  </vm>
</system>
"""


def test_nothing_is_set_up_and_the_clock_is_the_boards(tmp_path: Path) -> None:
    texts = generate(systems.plan_of(tmp_path, text=SYSTEM), tmp_path)
    config, hypervisor = texts["kernel/fvm_config.h"], texts["hypervisor/hyp_config.h"]
    assert "#define FVM_CPU_HZ 25000000u" in config
    assert "#define FVM_BOOT_OPS 0" in config
    assert "#define FVM_IRQS 32" in config
    assert "#define FVM_FPU 0" in config
    assert "#define HYP_CONSOLE_DIVIDER 217u" in hypervisor  # 25 MHz / 115200


def test_the_divider_is_never_below_what_the_uart_takes(tmp_path: Path) -> None:
    fast = ('console="UART0"', 'console="UART0" baud="3000000"')
    texts = generate(systems.plan_of(tmp_path, fast, text=SYSTEM), tmp_path)
    assert "#define HYP_CONSOLE_DIVIDER 16u" in texts["hypervisor/hyp_config.h"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "  <vm",
            '  <clocks m="8" n="336" p="2" q="7" latency="5"/>\n  <vm',
            "clock of MPS2-AN385",
        ),
        ("<device", '<pin port="A" pin="1" mode="output"/><device', "has no pin PA1"),
        ('ram="16K"', 'ram="16K" fpu="yes"', "MPS2-AN385 has no FPU"),
        ('console="UART0"', 'console="TIMER1"', "is no UART of MPS2-AN385"),
        ('console="UART0"', 'console=""', "is no UART of MPS2-AN385"),
        ('device name="TIMER0"', 'device name="WATCHDOG"', "'WATCHDOG' can't be granted"),
        ('console="UART0"', 'console="UART0" tick="1Hz" slice="1s"', "choose at least 2Hz"),
    ],
)
def test_what_the_board_lacks_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = SYSTEM.replace(old, new, 1)
    if 'tick="1Hz"' in text:
        text = text.replace('ram="16K"', 'ram="16K" tick="1Hz"')
    with pytest.raises(FvmError) as caught:
        systems.plan_of(tmp_path, text=text)
    assert said in str(caught.value)


def test_a_fast_core_needs_a_faster_tick(tmp_path: Path) -> None:
    slow = (
        ('console="USART6"', 'console="USART6" tick="10Hz" slice="100ms"'),
        ('watchdog="500ms"', 'watchdog="500ms" tick="10Hz"'),
        ('tick="100Hz"', 'tick="10Hz"'),
        ('period="10ms"', 'period="100ms"'),
    )
    with pytest.raises(FvmError, match="10 Hz takes 16800000 cycles, the timer counts 16777216"):
        systems.plan_of(tmp_path, *slow)


def test_a_slow_core_needs_a_slower_tick(tmp_path: Path) -> None:
    """It would be at work for the kernel alone."""
    fast = (
        ('console="USART6"', 'console="USART6" tick="10000Hz"'),
        ('ahb="1"', 'ahb="16"'),
    )
    with pytest.raises(FvmError, match=r"takes 1050 cycles[\s\S]*choose at most 5250Hz"):
        systems.plan_of(tmp_path, *fast)
