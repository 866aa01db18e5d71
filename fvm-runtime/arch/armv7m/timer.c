/* SysTick: kernel tick and cycle counter in one (ARMv7-M ARM B3.3). */
#include "arch/cortexm/scs.h"
#include "kernel/kernel.h"

static uint32_t period; /* cycles */
static uint32_t base;   /* cycles counted up to the last tick that was handled */

void timer_entry(void); /* from entry.S */

void timer_arch_init(uint32_t cycles)
{
    period = cycles;
    SYST_RVR = cycles - 1;
    SYST_CVR = 0;
    SYST_CSR = SYST_CSR_ENABLE_TICKINT_CORE;
}

uint32_t timer_arch_now(void)
{
    uint32_t left = SYST_CVR;
    if ((SCB_ICSR & SCB_ICSR_PENDSTSET) != 0) {
        /* Wrapped, and the tick is still to be handled: read again, surely after the wrap. */
        return base + period + (period - 1 - SYST_CVR);
    }
    return base + (period - 1 - left);
}

void timer_entry(void)
{
    base += period;
    time_tick();
}
