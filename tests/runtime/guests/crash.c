/* A VM that faults CRASH_AFTER ticks after each of its starts. */
#include <fvm/guest.h>

static volatile uint32_t ticks;

void tick_handler(void)
{
    if (++ticks == CRASH_AFTER) {
        *(volatile uint32_t *)0 = 0;
    }
}

int main(void)
{
    (void)hyp_tick_set(1000);
    for (;;) {
        (void)hyp_vct_wait();
    }
}
