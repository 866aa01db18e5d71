"""Names of the registers in the private peripheral bus, with their bits.

ARMv6-M ARM B3.2, ARMv7-M ARM B3.2 and C1, ARMv8-M ARM D1.2.
"""

from __future__ import annotations

BASE = 0xE0000000
END = 0xE0100000
_TO_NON_SECURE = 0x00020000
_NON_SECURE = range(0xE002E000, 0xE002F000)

_BLOCKS = (
    (0xE0000000, 0xE0001000, "ITM"),
    (0xE0001000, 0xE0002000, "DWT"),
    (0xE0002000, 0xE0003000, "FPB"),
    (0xE000E010, 0xE000E020, "SysTick"),
    (0xE000E100, 0xE000E600, "NVIC"),
    (0xE000ED00, 0xE000ED90, "SCB"),
    (0xE000ED90, 0xE000EDD0, "MPU"),
    (0xE000EDD0, 0xE000EDF0, "SAU"),
    (0xE000EDF0, 0xE000EE00, "CoreDebug"),
    (0xE000EF30, 0xE000EF48, "FPU"),
    (0xE000E000, 0xE000F000, "SCS"),
    (0xE0040000, 0xE0041000, "TPI"),
    (0xE0041000, 0xE0042000, "ETM"),
    (0xE00FF000, 0xE0100000, "ROM table"),
)

_REGISTERS = {
    0xE0000E00: "ITM->TER",
    0xE0000E80: "ITM->TCR",
    0xE0000FB0: "ITM->LAR",
    0xE0001000: "DWT->CTRL",
    0xE0001004: "DWT->CYCCNT",
    0xE0002000: "FPB->CTRL",
    0xE000E004: "SCnSCB->ICTR",
    0xE000E008: "SCnSCB->ACTLR",
    0xE000E010: "SysTick->CTRL",
    0xE000E014: "SysTick->LOAD",
    0xE000E018: "SysTick->VAL",
    0xE000E01C: "SysTick->CALIB",
    0xE000ED00: "SCB->CPUID",
    0xE000ED04: "SCB->ICSR",
    0xE000ED08: "SCB->VTOR",
    0xE000ED0C: "SCB->AIRCR",
    0xE000ED10: "SCB->SCR",
    0xE000ED14: "SCB->CCR",
    0xE000ED24: "SCB->SHCSR",
    0xE000ED28: "SCB->CFSR",
    0xE000ED2C: "SCB->HFSR",
    0xE000ED30: "SCB->DFSR",
    0xE000ED34: "SCB->MMFAR",
    0xE000ED38: "SCB->BFAR",
    0xE000ED3C: "SCB->AFSR",
    0xE000ED88: "SCB->CPACR",
    0xE000ED90: "MPU->TYPE",
    0xE000ED94: "MPU->CTRL",
    0xE000ED98: "MPU->RNR",
    0xE000ED9C: "MPU->RBAR",
    0xE000EDA0: "MPU->RASR",
    0xE000EDD0: "SAU->CTRL",
    0xE000EDD4: "SAU->TYPE",
    0xE000EDD8: "SAU->RNR",
    0xE000EDDC: "SAU->RBAR",
    0xE000EDE0: "SAU->RLAR",
    0xE000EDE4: "SAU->SFSR",
    0xE000EDE8: "SAU->SFAR",
    0xE000ED8C: "SCB->NSACR",
    0xE000EDF0: "CoreDebug->DHCSR",
    0xE000EDF4: "CoreDebug->DCRSR",
    0xE000EDF8: "CoreDebug->DCRDR",
    0xE000EDFC: "CoreDebug->DEMCR",
    0xE000EF00: "NVIC->STIR",
    0xE000EF34: "FPU->FPCCR",
    0xE000EF38: "FPU->FPCAR",
    0xE000EF3C: "FPU->FPDSCR",
}
_ON_ARMV8M = {
    0xE000EDA0: "MPU->RLAR", 0xE000EDA4: "MPU->RBAR_A1", 0xE000EDA8: "MPU->RLAR_A1",
    0xE000EDAC: "MPU->RBAR_A2", 0xE000EDB0: "MPU->RLAR_A2", 0xE000EDB4: "MPU->RBAR_A3",
    0xE000EDB8: "MPU->RLAR_A3", 0xE000EDC0: "MPU->MAIR0", 0xE000EDC4: "MPU->MAIR1",
    0xE000EE04: "DCB->DAUTHCTRL", 0xE000EE08: "DCB->DSCSR",
}  # fmt: skip

_ARRAYS = (
    (0xE0000000, 0xE0000080, 4, "ITM->PORT"),
    (0xE000E100, 0xE000E140, 4, "NVIC->ISER"),
    (0xE000E180, 0xE000E1C0, 4, "NVIC->ICER"),
    (0xE000E200, 0xE000E240, 4, "NVIC->ISPR"),
    (0xE000E280, 0xE000E2C0, 4, "NVIC->ICPR"),
    (0xE000E300, 0xE000E340, 4, "NVIC->IABR"),
    (0xE000E380, 0xE000E3C0, 4, "NVIC->ITNS"),
    (0xE000E400, 0xE000E5F0, 1, "NVIC->IP"),
    (0xE000ED18, 0xE000ED24, 1, "SCB->SHP"),
)

_BITS = {
    0xE000E010: {0: "ENABLE", 1: "TICKINT", 2: "CLKSOURCE"},
    0xE000ED04: {
        25: "PENDSTCLR", 26: "PENDSTSET", 27: "PENDSVCLR", 28: "PENDSVSET", 31: "NMIPENDSET",
    },
    0xE000ED88: {20: "CP10", 22: "CP11"},
    0xE000ED94: {0: "ENABLE", 1: "HFNMIENA", 2: "PRIVDEFENA"},
    0xE000ED0C: {0: "VECTRESET", 1: "VECTCLRACTIVE", 2: "SYSRESETREQ"},
    0xE000ED10: {1: "SLEEPONEXIT", 2: "SLEEPDEEP", 4: "SEVONPEND"},
}  # fmt: skip


def register_name(address: int, arch: str) -> str:
    """`SCB->ICSR`, `NVIC->ISER[2]`, or the block's name and the address.

    On ARMv8-M the secure world sees the other world's system control space as `SCB_NS` and so on.
    """
    is_v8m = arch.startswith("armv8")
    if is_v8m and address in _NON_SECURE:
        block, arrow, register = register_name(address - _TO_NON_SECURE, arch).partition("->")
        return f"{block}_NS{arrow}{register}" if arrow else f"SCS_NS (0x{address:08x})"
    if is_v8m and address in _ON_ARMV8M:
        return _ON_ARMV8M[address]
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
    bits = _BITS.get(address, {}) or _BITS.get(address - _TO_NON_SECURE, {})
    return "|".join(name for bit, name in bits.items() if value >> bit & 1)
