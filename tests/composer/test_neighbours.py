"""Lines that several blocks raise and blocks that hang together, given to more than one domain."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from composer.commands.compose import compose
from composer.description.advice import advice
from composer.description.parse import parse
from composer.report.routes import raising
from composer.resolve import resolve
from scanner.report.errors import FvmError
from tests.composer.systems import plan_of, write

ONE, TWO = '<device name="USART1"/>', '<device name="USART2"/>'
LINES = ('<irq name="USART1" handler="USART1_IRQHandler"/>',
         '<irq name="USART2" handler="USART2_IRQHandler" mask="transparent"/>')  # fmt: skip
F767 = (
    ('chip="STM32F405RG" board="netduinoplus2"', 'chip="STM32F767IG"'),
    ('q="7"', 'q="9"'),
)
MPS2_WITHOUT_LOG = (
    ('chip="STM32F405RG" board="netduinoplus2"', 'chip="MPS2-AN386" board="mps2-an386"'),
    ('<clocks m="8" n="336" p="2" q="7" ahb="1" apb1="4" apb2="2" latency="5"/>', ""),
    ('<pin port="A" pin="9" mode="alternate" af="7"/>', ""),
    ('<pin port="A" pin="6" mode="output" runtime="yes"/>', ""),
    (' console="USART6"', ""),
)
MPS2 = (*MPS2_WITHOUT_LOG[:-1], ('"USART6"', '"UART0"'))
PROCESS = '<process name="server" priority="9" flash="8K" ram="4K"><project builtin="heartbeat"/>'


def devices(*names: str) -> str:
    return "".join(f'<device name="{name}"/>' for name in names)


def lines(*names: str) -> str:
    return "".join(f'<irq name="{name}" handler="h_{name.lower()}"/>' for name in names)


def given(one: str, two: str, *more: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """Changes after which VM `one` has one thing and `two` another, instead of their USARTs."""
    return (
        (ONE, one), (LINES[0], ""), ('<clock name="USART1"/>', ""),
        (TWO, two), (LINES[1], ""), ('<clock name="USART2"/>', ""), *more,
    )  # fmt: skip


def test_a_line_of_two_timers_and_one_of_them_elsewhere(tmp_path: Path) -> None:
    """The whole message: both domains, line and block, the place, and what to do."""
    with pytest.raises(FvmError) as caught:
        plan_of(tmp_path, *given(devices("TIM1") + lines("TIM1_UP_TIM10"), devices("TIM10")))
    assert str(caught.value) == (
        f"{tmp_path}/system.xml:12:26: interrupt 'TIM1_UP_TIM10' of 'one' can be held up for ever"
        " by 'TIM10', which 'two' has (line 19); a line can't be shared: give it and 'TIM1' and"
        " 'TIM10' to one domain, or use a block with a line of its own: TIM2, TIM3, TIM4, TIM5, ..."
    )


def test_blocks_that_hang_together(tmp_path: Path) -> None:
    with pytest.raises(FvmError) as caught:
        plan_of(tmp_path, *given(devices("CAN1"), devices("CAN2")))
    assert str(caught.value) == (
        f"{tmp_path}/system.xml:19:5: 'CAN2' of 'two' depends on 'CAN1', which 'one' has (line 12):"
        " the filters of both are in its registers; give both to one domain"
    )


# What one and two have, further changes, and what of the message there must be.
UNSAFE = {
    "the line of a block that is all another one's": (
        lines("USART3"), devices("USART3"), (),
        ["interrupt 'USART3' of 'one'", "by 'USART3', which 'two' has", "UART4"]),
    "the other timer": (
        devices("TIM10") + lines("TIM1_UP_TIM10"), devices("TIM1"), (),
        ["by 'TIM1', which 'two' has (line 19)"]),
    "a converter's line": (
        devices("ADC1") + lines("ADC"), devices("ADC3"), (), ["'ADC' of 'one'", "by 'ADC3'"]),
    "a timer's line and the DAC": (
        devices("TIM6") + lines("TIM6_DAC"), devices("DAC1"), (), ["by 'DAC1'"]),
    "registers that all converters have": (
        devices("ADC123_COMMON"), devices("ADC2"), (),
        ["'ADC2' of 'two' depends on 'ADC123_COMMON', which 'one' has"]),
    "the FPU's line": (
        "", lines("FPU"), (),
        ["interrupt 'FPU' of 'two' can be held up", "what 'one' (line 9) calculates", 'fpu="no"']),
    "a process with the line": (
        devices("TIM1"), "",
        (("</process>", "</process>" + PROCESS + '<irq name="TIM1_CC"/></process>'),),
        ["'TIM1_CC' of 'server'", "by 'TIM1', which 'one' has"]),
    "a process with the block": (
        lines("CAN1_RX0"), "",
        (("</process>", "</process>" + PROCESS + devices("CAN1") + "</process>"),),
        ["'CAN1_RX0' of 'one'", "by 'CAN1', which 'server' has"]),
    "a mid-section's process with a block of the line": (
        devices("USART1") + lines("TIM8_UP_TIM13") + LINES[0].replace(
            "/>", '><split process="mid"/></irq>'), "",
        (("</process>", '</process><process name="mid" flash="8K" ram="4K"><project split="one"/>'
          '<thread name="usart1_mid" priority="20" stack="512"/>' + devices("TIM13")
          + "</process>"),),
        ["'TIM8_UP_TIM13' of 'one'", "by 'TIM13', which 'mid' has"]),
    "a pin that the DAC drives": (
        devices("DAC1"), '<pin port="A" pin="5" mode="output"/>', (),
        ["system.xml:19:5: pin PA5 of 'two' can be driven by 'DAC1', which 'one' has (line 12),"
         " whatever it is set up for; give both to one domain, or use another pin"]),
    "a pin of the log that the clock's alarm drives": (
        "", devices("RTC"),
        (('<kernel console="USART6"/>', '<kernel console="USART6"><pin port="C" pin="13"'
          ' mode="output"/></kernel>'),),
        ["pin PC13 of the log console can be driven by 'RTC', which 'two' has"]),
    "the F767's timers": (
        devices("TIM12"), devices("TIM8") + lines("TIM8_BRK_TIM12"), F767, ["by 'TIM12'"]),
    "the overflows of UARTs": (
        devices("UART1") + lines("UART_OVERFLOW"), devices("UART3"), MPS2, ["the log console"]),
    "the overflows of UARTs without a log": (
        devices("UART1") + lines("UART_OVERFLOW"), devices("UART2"),
        MPS2_WITHOUT_LOG,
        ["'UART_OVERFLOW' of 'one'", "by 'UART2', which 'two' has", "line of its own: UART3"]),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSAFE)
def test_unsafe_neighbours_are_refused(tmp_path: Path, name: str) -> None:
    one, two, more, parts = UNSAFE[name]
    with pytest.raises(FvmError) as caught:
        plan_of(tmp_path, *given(one, two, *more))
    assert [part for part in parts if part not in str(caught.value)] == [], str(caught.value)


SAFE = {
    "all of a line": (devices("TIM1", "TIM10") + lines("TIM1_UP_TIM10", "TIM1_CC"), "", ()),
    "both timers, and the line to nobody": (devices("TIM1") + lines("TIM1_CC"),
                                            devices("TIM10"), ()),
    "a line of its own beside the other's combined one": (
        devices("TIM10"), devices("TIM1") + lines("TIM1_CC"), ()),
    "the DAC with its pins": (devices("DAC1") + '<pin port="A" pin="4" mode="analog"/>', "", ()),
    "both CANs": (devices("CAN1", "CAN2") + lines("CAN2_RX0", "CAN1_RX0"), "", ()),
    "CAN1 alone": (devices("CAN1"), "", ()),
    "two converters, their common registers to nobody": (devices("ADC1"), devices("ADC2"), ()),
    "timers that could trigger each other": (devices("TIM2"), devices("TIM3") + lines("TIM3"), ()),
    "the FPU's line to who alone calculates": (lines("FPU"), "", ()),
    "a line that nobody can raise": (lines("EXTI0", "FSMC"), devices("TIM2"), ()),
    "CAN3 of the F767 has its own filters": (devices("CAN1", "CAN2"), devices("CAN3"), F767),
    "UARTs without the combined line": (devices("UART1") + lines("UART1_RX"),
                                        devices("UART2") + lines("UART2_RX"), MPS2),
    "a split line and the blocks of both its domains": (
        devices("USART1", "TIM1") + '<irq name="TIM1_UP_TIM10" handler="h"><split process="mid"'
        ' device="TIM1"/></irq>', "",
        (("</process>", '</process><process name="mid" flash="8K" ram="4K"><project split="one"/>'
          '<thread name="tim1_up_tim10_mid" priority="20" stack="512"/>' + devices("TIM10")
          + "</process>"),)),
}  # fmt: skip


@pytest.mark.parametrize("name", SAFE)
def test_safe_neighbours_are_composed(tmp_path: Path, name: str) -> None:
    one, two, more = SAFE[name]
    assert plan_of(tmp_path, *given(one, two, *more)).domains


@pytest.mark.parametrize("block", ["FMC", "QUADSPI", "ETH", "DMA2D", "LTDC"])
def test_blocks_of_the_f767_that_nobody_may_have(tmp_path: Path, block: str) -> None:
    with pytest.raises(FvmError, match=f"'{block}' can't be granted: ") as caught:
        plan_of(tmp_path, *given(devices(block), "", *F767))
    assert caught.value.hint == "remove it"


def test_the_command_refuses_and_writes_nothing(tmp_path: Path) -> None:
    description = write(tmp_path, *given(lines("CAN2_TX"), devices("CAN1", "CAN2")))
    result = CliRunner().invoke(compose, [str(description), "--out", str(tmp_path / "out")])
    assert isinstance(result.exception, FvmError)
    assert "system.xml:12:5: interrupt 'CAN2_TX' of 'one'" in str(result.exception)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (lines("TIM1_UP_TIM10"), "'TIM1_UP_TIM10' of 'one', which has no TIM1 and no TIM10; add"
         ' <device name="TIM1"/>, unless the domain only pends it itself'),
        (lines("EXTI9_5"), "'EXTI9_5' of 'one': EXTI can't be granted; remove it, unless"),
        (lines("FSMC"), "'FSMC' of 'one': the block is in larger packages only; remove it"),
        (lines("FPU"), None),
        (devices("TIM10") + lines("TIM1_UP_TIM10"), None),
    ],
)  # fmt: skip
def test_a_line_that_nothing_raises_is_a_warning(
    tmp_path: Path, one: str, text: str | None
) -> None:
    description = write(tmp_path, *given(one, ""))
    plan = resolve(parse(description), tmp_path / "out")
    said = [line for line in advice(plan.system, plan.chip) if "nothing raises" in line]
    assert len(said) == (text is not None)
    assert text is None or f"12:5: nothing raises interrupt {text}" in said[0]


def test_the_report_draws_the_blocks_that_somebody_has(tmp_path: Path) -> None:
    """Of a combined line, not the first by address."""
    plan = plan_of(tmp_path, *given(devices("TIM10") + lines("TIM1_UP_TIM10"), devices("TIM2")))
    assert [block.name for block in raising(plan, "TIM1_UP_TIM10")] == ["TIM10"]
    assert raising(plan, "TIM1_CC") == []
