/* A VM without a tick, driven by its own timer alone, beside one that is more urgent. It feeds its
 * watchdog where the timer's line is served, and tells how often that was. */
#include <fvm/guest.h>

#include "fvm_domain.h"
#include "report.h"

/* STM32F4's general-purpose timer (RM0090, 18.4). */
struct timer {
    volatile uint32_t cr1, cr2, smcr, dier, sr, egr, ccmr[2], ccer, cnt, psc, arr;
};

#define TIMER ((struct timer *)0x40000000u)
#define PERIOD 1000000u /* about 4 ms in QEMU */
#define TOLD 10u        /* periods from one report to the next */

static uint32_t rings;

void timer_handler(void)
{
    TIMER->sr = 0;
    (void)hyp_wdg_clr();
    if (++rings % TOLD == 0) {
        report("rings", (int32_t)rings);
    }
}

int main(void)
{
    report_init();
    TIMER->arr = PERIOD - 1u;
    TIMER->egr = 1;
    TIMER->sr = 0;
    TIMER->dier = 1;
    TIMER->cr1 = 1;
    (void)hyp_wdg_clr();
    (void)hyp_irq_ena(28);
    for (;;) {
        (void)hyp_vct_wait();
    }
}
