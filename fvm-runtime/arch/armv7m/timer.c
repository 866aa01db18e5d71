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

uint32_t timer_arch_now(void)
{
    uint32_t left = SYST_CVR;
    if ((SCB_ICSR & SCB_ICSR_PENDSTSET) != 0) {
        /* Wrapped, and the tick is still to be handled: read again, surely after the wrap. */
        return base + PERIOD + (PERIOD - 1u - SYST_CVR);
    }
    return base + (PERIOD - 1u - left);
}

/* The counter itself, which runs down. */
uint32_t timer_arch_count(void) { return SYST_CVR; }

uint32_t timer_arch_elapsed(uint32_t from, uint32_t to)
{
    int32_t cycles = (int32_t)(from - to);
    return (uint32_t)(cycles < 0 ? cycles + (int32_t)PERIOD : cycles);
}

uint32_t timer_arch_skip(uint32_t count, uint32_t cycles)
{
    return count >= cycles ? count - cycles : count + PERIOD - cycles;
}

void timer_entry(void)
{
    base += PERIOD;
    time_tick();
}
