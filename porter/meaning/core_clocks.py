"""What libraries say the core's clock by, as CMSIS does by `SystemCoreClock`."""

from __future__ import annotations

import re

from porter.flow.fixed_clock import VARIABLE

_OTHERS = re.compile(
    rb"\b(?:(?:MAP_|ROM_)?SysCtlClockGet\s*\(\s*\)"  # TivaWare
    rb"|(?:MAP_)?CS_getMCLK\s*\(\s*\)"  # MSP432 DriverLib
    rb"|HAL_RCC_GetHCLKFreq\s*\(\s*\)|rcc_ahb_frequency\b"  # ST, libopencm3
    rb"|CLK_Get(?:HCLK|CPU)Freq\s*\(\s*\)"  # Nuvoton
    rb"|CLOCK_GetCoreSysClkFreq\s*\(\s*\)|CLOCK_GetFreq\s*\(\s*kCLOCK_CoreSysClk\s*\)"  # NXP
    rb"|SystemCoreClockGet\s*\(\s*\)|CMU_ClockFreqGet\s*\(\s*cmuClock_(?:CORE|HF)\s*\)"  # SiLabs
    rb"|sysclk_get_cpu_hz\s*\(\s*\)|clock_get_hz\s*\(\s*clk_sys\s*\))"  # ASF, Pico SDK
)


def by_variable(text: bytes) -> bytes:
    """An expression in which all of them are CMSIS' variable."""
    return _OTHERS.sub(VARIABLE, text)
