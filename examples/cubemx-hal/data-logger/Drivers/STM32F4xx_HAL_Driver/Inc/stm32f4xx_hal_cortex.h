/* Interrupt controller and SysTick. */
#ifndef STM32F4XX_HAL_CORTEX_H
#define STM32F4XX_HAL_CORTEX_H

#include "stm32f4xx_hal_def.h"

#define NVIC_PRIORITYGROUP_4 0x00000003U /* 4 bits of pre-emption, no sub-priority */

#define SYSTICK_CLKSOURCE_HCLK_DIV8 0x00000000U
#define SYSTICK_CLKSOURCE_HCLK 0x00000004U

void HAL_NVIC_SetPriorityGrouping(uint32_t PriorityGroup);
void HAL_NVIC_SetPriority(IRQn_Type IRQn, uint32_t PreemptPriority, uint32_t SubPriority);
void HAL_NVIC_EnableIRQ(IRQn_Type IRQn);
void HAL_NVIC_DisableIRQ(IRQn_Type IRQn);
void HAL_NVIC_SetPendingIRQ(IRQn_Type IRQn);
void HAL_NVIC_ClearPendingIRQ(IRQn_Type IRQn);
uint32_t HAL_NVIC_GetPendingIRQ(IRQn_Type IRQn);
void HAL_NVIC_SystemReset(void);
uint32_t HAL_SYSTICK_Config(uint32_t TicksNumb);
void HAL_SYSTICK_IRQHandler(void);
void HAL_SYSTICK_Callback(void);

#endif
