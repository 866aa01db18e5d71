/* Early set-up of the core: runs before .data and .bss are there. */
#include "system_stm32f4xx.h"

#include "stm32f405xx.h"

uint32_t SystemCoreClock = 168000000UL;

void SystemInit(void) { SCB->VTOR = FLASH_BASE; }
