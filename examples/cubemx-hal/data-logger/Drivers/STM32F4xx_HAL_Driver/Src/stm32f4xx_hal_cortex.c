/* Interrupt controller and SysTick, over CMSIS. */
#include "stm32f4xx_hal.h"

void HAL_NVIC_SetPriorityGrouping(uint32_t PriorityGroup)
{
    NVIC_SetPriorityGrouping(PriorityGroup);
}

void HAL_NVIC_SetPriority(IRQn_Type IRQn, uint32_t PreemptPriority, uint32_t SubPriority)
{
    uint32_t prioritygroup = 0x00U;

    prioritygroup = NVIC_GetPriorityGrouping();

    NVIC_SetPriority(IRQn, NVIC_EncodePriority(prioritygroup, PreemptPriority, SubPriority));
}

void HAL_NVIC_EnableIRQ(IRQn_Type IRQn) { NVIC_EnableIRQ(IRQn); }

void HAL_NVIC_DisableIRQ(IRQn_Type IRQn) { NVIC_DisableIRQ(IRQn); }

void HAL_NVIC_SetPendingIRQ(IRQn_Type IRQn) { NVIC_SetPendingIRQ(IRQn); }

void HAL_NVIC_ClearPendingIRQ(IRQn_Type IRQn) { NVIC_ClearPendingIRQ(IRQn); }

uint32_t HAL_NVIC_GetPendingIRQ(IRQn_Type IRQn) { return NVIC_GetPendingIRQ(IRQn); }

void HAL_NVIC_SystemReset(void) { NVIC_SystemReset(); }

uint32_t HAL_SYSTICK_Config(uint32_t TicksNumb) { return SysTick_Config(TicksNumb); }

void HAL_SYSTICK_IRQHandler(void) { HAL_SYSTICK_Callback(); }

__weak void HAL_SYSTICK_Callback(void) {}
