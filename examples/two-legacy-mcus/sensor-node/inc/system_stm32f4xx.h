/* Early set-up of the core, called by the startup file. */
#ifndef SYSTEM_STM32F4XX_H
#define SYSTEM_STM32F4XX_H

#include <stdint.h>

extern uint32_t SystemCoreClock; /* HCLK in Hz */

void SystemInit(void);

#endif
