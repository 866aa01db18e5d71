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

/* A count just behind a tick that isn't handled yet must not pass for one just behind the tick
 * before. So a tick is paid for AHEAD cycles beyond it, for longer than an entry of the kernel
 * takes: the count of one that the tick came into is above that, those taken later are below. Who
 * is left before these are over gets the rest back. entry.S: from_vm. */
#define AHEAD (PERIOD / 2u < 1024u ? PERIOD / 2u : 1024u)

int32_t timer_arch_tick(uint32_t *count)
{
    uint32_t now = SYST_CVR;
    int32_t cycles = (int32_t)(*count - now);
    *count = PERIOD - AHEAD;
    return cycles + (int32_t)(now - *count) + (cycles < 0 ? (int32_t)PERIOD : 0);
}

/* As from_vm in entry.S. */
int32_t timer_arch_spent(uint32_t *count)
{
    uint32_t now = SYST_CVR;
    int32_t cycles = (int32_t)(*count - now);
    *count = now;
    bool wrapped = cycles < 0 && (SCB_ICSR & SCB_ICSR_PENDSTSET) != 0;
    return wrapped ? cycles + (int32_t)PERIOD : cycles;
}

void timer_entry(void)
{
    base += PERIOD;
    time_tick();
}
