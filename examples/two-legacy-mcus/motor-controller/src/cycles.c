/* Processor cycle counter of the trace unit. */
#include "cycles.h"

#include "stm32f405xx.h"

void cycles_init(void)
{
    CoreDebug->DEMCR |= CoreDebug_DEMCR_TRCENA_Msk;
    DWT->CYCCNT = 0;
    DWT->CTRL |= DWT_CTRL_CYCCNTENA_Msk;
}

uint32_t cycles_now(void) { return DWT->CYCCNT; }
