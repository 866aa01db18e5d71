"""What the oracle takes for a place that a virtual machine can't run as it is: written down here
once more, from the manuals and headers, and not taken from the porter."""

from __future__ import annotations

import re


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


ASM_WORDS = frozenset({"asm", "__asm", "__asm__", "_asm", "__ASM"})

INSTRUCTION = re.compile(
    r"(?<![\w.%$])(cps(?:i[de])?|mrs|msr|wfi|wfe|sev|bkpt|ebreak|mret|csrr?[wsc]i?|csrr)(?:\.[nw])?\s"
    r"(?!\s*[=:])([^\n;]*)",
    re.IGNORECASE,
)
"""Instructions with what follows them, in a statement's strings or an assembler file."""

HARMLESS_REGISTER = re.compile(r"\b(?:apsr\w*|cpsr_f|fpscr|fflags|frm|fcsr)\b", re.IGNORECASE)

SYSTEM_ADDRESS = re.compile(r"0[xX](?:[eE]00[0-9a-fA-F]{5})(?:[uUlL]*)\Z")
"""A number of the private peripheral bus."""

ENCODING = re.compile(r"(?:MATCH|MASK)_[A-Z0-9_]+\Z")
"""Macros of riscv-opcodes' headers: a number there is an instruction, no address."""

BLOCKS = frozenset(
    {"NVIC", "SCB", "SysTick", "CoreDebug", "DCB", "MPU", "ITM", "DWT", "TPI", "FPU", "SCnSCB",
     "PFIC"}
)  # fmt: skip

INTRINSICS = _names(
    """
    __disable_irq __enable_irq __disable_fault_irq __enable_fault_irq __disable_interrupt
    __enable_interrupt __get_PRIMASK __set_PRIMASK __get_BASEPRI __set_BASEPRI __set_BASEPRI_MAX
    __get_FAULTMASK __set_FAULTMASK __get_CONTROL __set_CONTROL __get_MSP __set_MSP __get_PSP
    __set_PSP __get_IPSR __get_xPSR __get_interrupt_state __set_interrupt_state __WFI __WFE __SEV
    __wfi __wfe __sev __BKPT __breakpoint
    NVIC_EnableIRQ NVIC_DisableIRQ NVIC_SetPriority NVIC_GetPriority
    NVIC_SetPendingIRQ NVIC_ClearPendingIRQ NVIC_GetPendingIRQ NVIC_SetPriorityGrouping
    NVIC_SystemReset SysTick_Config NVIC_SetVector
    """
)
"""Names that a core's headers or a compiler define: they are places wherever they are called."""

LIBRARY_CALLS = _names(
    """
    cm_disable_interrupts cm_enable_interrupts cm_disable_faults cm_enable_faults cm_mask_interrupts
    nvic_enable_irq nvic_disable_irq nvic_set_priority nvic_set_pending_irq nvic_clear_pending_irq
    systick_set_reload systick_set_clocksource systick_counter_enable systick_interrupt_enable
    systick_set_frequency scb_reset_system scb_set_priority_grouping
    HAL_NVIC_EnableIRQ HAL_NVIC_DisableIRQ HAL_NVIC_SetPriority HAL_NVIC_SystemReset
    HAL_NVIC_SetPriorityGrouping HAL_SYSTICK_Config HAL_SYSTICK_CLKSourceConfig
    HAL_PWR_EnterSLEEPMode HAL_PWR_EnterSTOPMode HAL_PWR_EnterSTANDBYMode
    NVIC_Init NVIC_PriorityGroupConfig NVIC_SetVectorTable SysTick_CLKSourceConfig
    noInterrupts interrupts ATOMIC_BLOCK CM_ATOMIC_BLOCK CM_ATOMIC_CONTEXT
    sd_nvic_EnableIRQ sd_nvic_DisableIRQ sd_nvic_SetPriority sd_nvic_SystemReset sd_app_evt_wait
    sd_nvic_critical_region_enter sd_nvic_critical_region_exit
    """
)
"""Functions of libraries: places only where their body isn't in the tree."""

SEES_NOT = (
    "addresses that are sums, table entries or pointers kept elsewhere; names that ## makes or "
    "that a macro's argument is; other blocks of a chip; #pragma asm; whether an arm is compiled "
    "(every arm but #if 0 counts); where on a line a place stands"
)
