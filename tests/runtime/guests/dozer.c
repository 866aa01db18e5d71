/* A VM that sleeps, or that faults after some ticks; which, the test writes into the image. */
#include <fvm/guest.h>

#include "fvm_domain.h"
#include "plan.h"

/* plan: tick of the fault, 0 for none. */
static uint32_t ticks;

void tick_handler(void)
{
    if (++ticks == plan[0]) {
        __builtin_trap();
    }
}

void line_handler(void) {}

int main(void)
{
    if (plan[1] != 0) {
        (void)hyp_tick_set(1000);
    }
    for (;;) {
        (void)hyp_vct_wait();
    }
}
