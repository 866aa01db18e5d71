/* A VM among others of other priorities: its timer interrupts it or wakes it, its ticks come, and
 * it uses the FPU in all of that. */
#include <fvm/guest.h>

#include "fvm_domain.h"

/* STM32F4's general-purpose timer (RM0090, 18.4). */
struct timer {
    volatile uint32_t cr1, cr2, smcr, dier, sr, egr, ccmr[2], ccer, cnt, psc, arr;
};

#define TIMER ((struct timer *)TEST_TIMER)

static volatile float sum = 1.0f;

static void compute(void) { sum = sum > 1e9f ? 1.0f : sum * 1.5f; }

void tick_handler(void) { compute(); }

void timer_handler(void)
{
    TIMER->sr = 0;
    compute();
}

int main(void)
{
    (void)hyp_tick_set(1000);
    TIMER->arr = TEST_PERIOD;
    TIMER->egr = 1;
    TIMER->sr = 0;
    TIMER->dier = 1;
    TIMER->cr1 = 1;
    (void)hyp_irq_ena(TEST_LINE);
    for (;;) {
        compute();
#ifdef TEST_SLEEPS
        (void)hyp_vct_wait();
#endif
    }
}
