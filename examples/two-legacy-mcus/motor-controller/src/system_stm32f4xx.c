/* Early set-up of the core: runs before .data and .bss are there. */
#include "system_stm32f4xx.h"

#include "stm32f405xx.h"

uint32_t SystemCoreClock = 168000000UL;

void SystemInit(void)
{
    /* Full access to the floating-point unit (CP10, CP11). */
    SCB->CPACR |= (3UL << (10 * 2)) | (3UL << (11 * 2));
    __DSB();
    __ISB();

    SCB->VTOR = FLASH_BASE;
}
