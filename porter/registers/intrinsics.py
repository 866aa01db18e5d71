"""Names of CMSIS, IAR and ARMCC that stand for privileged instructions or system registers."""

from __future__ import annotations

from porter.source.blanking import SUPERVISOR_WORDS

MASK_SET = frozenset({"__disable_irq", "__disable_interrupt", "__disable_fiq_irq"})
MASK_CLEAR = frozenset({"__enable_irq", "__enable_interrupt"})
FAULT_MASK = frozenset(
    {"__disable_fault_irq", "__enable_fault_irq", "__set_FAULTMASK", "__get_FAULTMASK",
     "__disable_fiq", "__enable_fiq"}
)  # fmt: skip
MASK_READ = frozenset({"__get_PRIMASK", "__get_interrupt_state"})
MASK_WRITE = frozenset({"__set_PRIMASK", "__set_interrupt_state"})
BASEPRI_READ = frozenset({"__get_BASEPRI"})
BASEPRI_WRITE = frozenset({"__set_BASEPRI"})
BASEPRI_RAISE = frozenset({"__set_BASEPRI_MAX"})
WAIT = frozenset({"__WFI", "__wfi", "__WFE", "__wfe", "__SEV", "__sev"})
IN_INTERRUPT = frozenset({"__get_IPSR", "__get_xPSR"})
CONTROL_READ = frozenset({"__get_CONTROL"})
STACK_POINTERS = frozenset(
    {"__get_MSP", "__set_MSP", "__get_PSP", "__set_PSP", "__set_CONTROL", "__set_MSPLIM",
     "__set_PSPLIM", "__get_MSPLIM", "__get_PSPLIM"}
)  # fmt: skip
_NVIC_PLAIN = frozenset(
    {"NVIC_EnableIRQ", "NVIC_DisableIRQ", "NVIC_GetEnableIRQ", "NVIC_SetPendingIRQ",
     "NVIC_ClearPendingIRQ", "NVIC_GetPendingIRQ", "NVIC_GetActive", "NVIC_SetPriority",
     "NVIC_GetPriority", "NVIC_SetPriorityGrouping", "NVIC_GetPriorityGrouping",
     "NVIC_SetVector", "NVIC_GetVector", "NVIC_SystemReset"}
)  # fmt: skip
NVIC = _NVIC_PLAIN | {"__" + name for name in _NVIC_PLAIN}
TICK = frozenset({"SysTick_Config"})
TRACE = frozenset({"ITM_SendChar", "ITM_ReceiveChar", "ITM_CheckChar"})
CACHE = frozenset(
    {"SCB_EnableICache", "SCB_DisableICache", "SCB_InvalidateICache", "SCB_EnableDCache",
     "SCB_DisableDCache", "SCB_InvalidateDCache", "SCB_CleanDCache", "SCB_CleanInvalidateDCache",
     "SCB_InvalidateDCache_by_Addr", "SCB_CleanDCache_by_Addr",
     "SCB_CleanInvalidateDCache_by_Addr"}
)  # fmt: skip
MPU = frozenset(
    {"ARM_MPU_Enable", "ARM_MPU_Disable", "ARM_MPU_SetRegion", "ARM_MPU_SetRegionEx",
     "ARM_MPU_ClrRegion", "ARM_MPU_Load"}
)  # fmt: skip

BREAKPOINT = frozenset({"__BKPT", "__bkpt", "__breakpoint", "__builtin_debugtrap"})
SEMIHOSTING_CALL = frozenset({"__semihost"})
SUPERVISOR_BY_NUMBER = frozenset({"__svc", "__swi"})
SUPERVISOR = frozenset(word.decode() for word in SUPERVISOR_WORDS)

INTRINSICS: frozenset[str] = frozenset().union(
    MASK_SET, MASK_CLEAR, FAULT_MASK, MASK_READ, MASK_WRITE, BASEPRI_READ, BASEPRI_WRITE,
    BASEPRI_RAISE, WAIT, IN_INTERRUPT, CONTROL_READ, STACK_POINTERS, NVIC, TICK, TRACE, CACHE, MPU,
    BREAKPOINT, SEMIHOSTING_CALL, SUPERVISOR,
)  # fmt: skip
LINES_AND_TICK = frozenset(name.encode() for name in NVIC | TICK)
INTRINSIC_BYTES = frozenset(name.encode() for name in INTRINSICS)
