"""Names of the registers in the private peripheral bus (ARMv7-M ARM B3.2, C1), with their bits."""

from __future__ import annotations

BASE = 0xE0000000
END = 0xE0100000

_BLOCKS = (
    (0xE0000000, 0xE0001000, "ITM"),
    (0xE0001000, 0xE0002000, "DWT"),
    (0xE0002000, 0xE0003000, "FPB"),
    (0xE000E010, 0xE000E020, "SysTick"),
    (0xE000E100, 0xE000E500, "NVIC"),
    (0xE000ED00, 0xE000ED90, "SCB"),
    (0xE000ED90, 0xE000EDC0, "MPU"),
    (0xE000EDF0, 0xE000EE00, "CoreDebug"),
    (0xE000EF30, 0xE000EF48, "FPU"),
    (0xE000E000, 0xE000F000, "SCS"),
    (0xE0040000, 0xE0041000, "TPI"),
    (0xE0041000, 0xE0042000, "ETM"),
    (0xE00FF000, 0xE0100000, "ROM table"),
)

_REGISTERS = {
    0xE0000E00: "ITM->TER", 0xE0000E80: "ITM->TCR", 0xE0000FB0: "ITM->LAR",
    0xE0001000: "DWT->CTRL", 0xE0001004: "DWT->CYCCNT", 0xE0002000: "FPB->CTRL",
    0xE000E004: "SCnSCB->ICTR", 0xE000E008: "SCnSCB->ACTLR",
    0xE000E010: "SysTick->CTRL", 0xE000E014: "SysTick->LOAD", 0xE000E018: "SysTick->VAL",
    0xE000E01C: "SysTick->CALIB",
    0xE000ED00: "SCB->CPUID", 0xE000ED04: "SCB->ICSR", 0xE000ED08: "SCB->VTOR",
    0xE000ED0C: "SCB->AIRCR", 0xE000ED10: "SCB->SCR", 0xE000ED14: "SCB->CCR",
    0xE000ED24: "SCB->SHCSR", 0xE000ED28: "SCB->CFSR", 0xE000ED2C: "SCB->HFSR",
    0xE000ED30: "SCB->DFSR", 0xE000ED34: "SCB->MMFAR", 0xE000ED38: "SCB->BFAR",
    0xE000ED3C: "SCB->AFSR", 0xE000ED88: "SCB->CPACR",
    0xE000ED90: "MPU->TYPE", 0xE000ED94: "MPU->CTRL", 0xE000ED98: "MPU->RNR",
    0xE000ED9C: "MPU->RBAR", 0xE000EDA0: "MPU->RASR",
    0xE000EDF0: "CoreDebug->DHCSR", 0xE000EDF4: "CoreDebug->DCRSR",
    0xE000EDF8: "CoreDebug->DCRDR", 0xE000EDFC: "CoreDebug->DEMCR",
    0xE000EF00: "NVIC->STIR", 0xE000EF34: "FPU->FPCCR", 0xE000EF38: "FPU->FPCAR",
    0xE000EF3C: "FPU->FPDSCR",
}  # fmt: skip

_ARRAYS = (
    (0xE0000000, 0xE0000080, 4, "ITM->PORT"),
    (0xE000E100, 0xE000E120, 4, "NVIC->ISER"),
    (0xE000E180, 0xE000E1A0, 4, "NVIC->ICER"),
    (0xE000E200, 0xE000E220, 4, "NVIC->ISPR"),
    (0xE000E280, 0xE000E2A0, 4, "NVIC->ICPR"),
    (0xE000E300, 0xE000E320, 4, "NVIC->IABR"),
    (0xE000E400, 0xE000E4F0, 1, "NVIC->IP"),
    (0xE000ED18, 0xE000ED24, 1, "SCB->SHP"),
)

_BITS = {
    0xE000E010: {0: "ENABLE", 1: "TICKINT", 2: "CLKSOURCE"},
    0xE000ED04: {
        25: "PENDSTCLR", 26: "PENDSTSET", 27: "PENDSVCLR", 28: "PENDSVSET", 31: "NMIPENDSET",
    },
    0xE000ED0C: {0: "VECTRESET", 1: "VECTCLRACTIVE", 2: "SYSRESETREQ"},
    0xE000ED10: {1: "SLEEPONEXIT", 2: "SLEEPDEEP", 4: "SEVONPEND"},
}  # fmt: skip


def register_name(address: int) -> str:
    """`SCB->ICSR`, `NVIC->ISER[2]`, or the block's name and the address."""
    if address in _REGISTERS:
        return _REGISTERS[address]
    for start, end, size, name in _ARRAYS:
        if start <= address < end:
            return f"{name}[{(address - start) // size}]"
    for start, end, name in _BLOCKS:
        if start <= address < end:
            return f"{name} (0x{address:08x})"
    return f"0x{address:08x}"


def bit_names(address: int, value: int) -> str:
    """The named bits that a value sets in a register, as `PENDSVSET`; empty if there are none."""
    bits = _BITS.get(address, {})
    return "|".join(name for bit, name in bits.items() if value >> bit & 1)
