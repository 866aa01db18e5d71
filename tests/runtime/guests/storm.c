/* What a VM does is a word that the test writes into the image: it sleeps, computes, restarts,
 * faults or writes into the log. The one with a console tells how much it computed in a second, and
 * how many ticks it saw.
 */
#include <fvm/guest.h>

#include "fvm_domain.h"
#include "plan.h"
#ifdef TEST_USART
#include "report.h"
#endif

#define SECOND FVM_CLOCK_HZ

enum role { SLEEPS, COMPUTES, REBOOTS, FAULTS, WRITES, RETURNS };

static volatile uint32_t ticks, work;

void tick_handler(void) { ticks++; }

static void compute(void)
{
    for (uint32_t i = 0; i < 100u; i++) {
        __asm volatile("");
    }
    work++;
}

int main(void)
{
    if (plan[0] == REBOOTS) {
        hyp_reboot();
    } else if (plan[0] == FAULTS) {
        __builtin_trap();
    }
    (void)hyp_tick_set(1000);
#ifdef TEST_USART
    uint32_t start = virt_cycles();
    while (virt_cycles() - start < SECOND) {
        compute();
    }
    report_init();
    report("ticks", (int32_t)ticks);
    report("work", (int32_t)work);
#endif
    for (;;) {
        if (plan[0] == COMPUTES) {
            compute();
        } else if (plan[0] == WRITES) {
            (void)hyp_putc('x');
        } else if (plan[0] == RETURNS) {
            (void)hyp_putc('\r');
        } else {
            (void)hyp_vct_wait();
        }
    }
}
