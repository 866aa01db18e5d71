/* SysTick: kernel tick and cycle counter in one (ARMv7-M ARM B3.3). */
#include "arch/cortexm/scs.h"
#include "kernel/kernel.h"

#define PERIOD (FVM_CPU_HZ / FVM_TICK_HZ) /* cycles */

static uint32_t base; /* cycles counted up to the last tick that was handled */

void timer_entry(void); /* from entry.S */

void timer_arch_init(void)
{
    SYST_RVR = PERIOD - 1u;
    SYST_CVR = 0;
    SYST_CSR = SYST_CSR_ENABLE_TICKINT_CORE;
}

/* The counter runs down. Behind a tick that isn't handled yet the count goes on below 0, so that
 * nothing that came before that tick passes for something behind it. entry.S: from_vm. */
uint32_t timer_arch_count(void)
{
    uint32_t left = SYST_CVR;
    if ((SCB_ICSR & SCB_ICSR_PENDSTSET) != 0) {
        left = SYST_CVR - PERIOD; /* read again, surely behind the tick */
    }
    return left;
}

uint32_t timer_arch_now(void) { return base + (PERIOD - 1u - timer_arch_count()); }

int32_t timer_arch_tick(uint32_t *count)
{
    uint32_t before = *count + PERIOD;
    *count = SYST_CVR;
    return (int32_t)(before - *count);
}

int32_t timer_arch_spent(uint32_t *count)
{
    uint32_t before = *count;
    *count = timer_arch_count();
    return (int32_t)(before - *count);
}

void timer_entry(void)
{
    base += PERIOD;
    time_tick();
}
