/* Takes part in the round: what it does is a word that the test writes into the image. Counts how
 * much it got to compute between two of its own ticks, and how regularly these came. */
#include <fvm/guest.h>

#include "fvm_domain.h"
#include "plan.h"
#include "report.h"

#define MS (FVM_CLOCK_HZ / 1000u)
#define SLICE (5u * MS)
#define FROM_TICK 200u
#define TO_TICK 2200u

enum role {
    SLEEPER, /* works only in its tick handler */
    BUSY,    /* never waits */
    GREEDY,  /* waits just before its slice ends */
    BURSTER, /* sleeps for long, then needs most of a slice at once */
    SLACKER, /* works a tenth of the time, in small pieces */
};

/* plan: the role. */
static volatile uint32_t ticks;
static uint32_t work, longest, last;

void tick_handler(void)
{
    uint32_t now = virt_cycles();
    if (ticks != 0 && now - last > longest) {
        longest = now - last;
    }
    last = now;
    ticks++;
}

/* The same loop for everybody, so that counts compare. */
static void compute(void)
{
    for (uint32_t i = 0; i < 100u; i++) {
        __asm volatile("");
    }
    work++;
}

static void compute_for(uint32_t cycles)
{
    uint32_t start = virt_cycles();
    while (virt_cycles() - start < cycles) {
        compute();
    }
}

static void take_part(void)
{
    switch (plan[0]) {
    case SLEEPER:
        (void)hyp_vct_wait();
        break;
    case BUSY:
        compute_for(SLICE / 10u);
        break;
    case GREEDY:
        compute_for(SLICE / 100u * 98u);
        (void)hyp_vct_wait();
        break;
    case BURSTER:
        if (ticks % 20u == 0) {
            compute_for(SLICE / 100u * 90u);
        }
        (void)hyp_vct_wait();
        break;
    default:
        compute_for(MS / 10u);
        (void)hyp_vct_wait();
        break;
    }
}

int main(void)
{
    report_init();
    (void)hyp_tick_set(1000);
    while (ticks < FROM_TICK) {
        take_part();
    }
    work = longest = 0;
    while (ticks < TO_TICK) {
        take_part();
    }
    report("work", (int32_t)work);
    report("longest_us", (int32_t)(longest / (MS / 1000u)));
    report("done", 1);
    for (;;) {
        take_part(); /* the others still count */
    }
}
