/* Tries to run from one kernel tick to the next without paying: a process that it calls waits again
 * in the moment of the first, so that this one starts just behind it, and a call that takes long
 * holds the second one up. plan[0]: the role; [1], [2]: cycles before the two ticks. */
#include <fvm/guest.h>

#include "fvm_domain.h"
#include "plan.h"
#include "report.h"

#define PERIOD (FVM_CLOCK_HZ / FVM_TICK_HZ)
#define MS (FVM_CLOCK_HZ / 1000u)
#define NEAR 2700u         /* cycles before a tick from which on the loop below is exact */
#define HUNDRED_LOOPS 538u /* cycles, in QEMU at 16 ns an instruction */

enum { COMPUTES, HIDES };

static uint32_t work;

static void compute(void)
{
    for (uint32_t i = 0; i < 100u; i++) {
        __asm volatile("");
    }
    work++;
}

static void until(uint32_t before)
{
    uint32_t now;
    do {
        now = virt_cycles() % PERIOD;
    } while (now < PERIOD - NEAR);
    uint32_t loops = (PERIOD - now - before) * 100u / HUNDRED_LOOPS;
    __asm volatile(".balign 8\n1: subs %0, #1\n bne 1b" : "+r"(loops)::"cc");
}

static void hide(void)
{
    while (virt_cycles() % PERIOD < PERIOD - NEAR - 600u) {
        compute();
    }
    if ((virt_cycles() / PERIOD) % 2u == 0) {
        until(plan[1]);
        (void)hyp_evt_snd(FVM_EVT_TO_MILL);
    } else {
        until(plan[2]);
        (void)hyp_evt_snd(FVM_EVT_LONG);
    }
}

int main(void)
{
    uint32_t begin = 0;
    report_init();
    (void)hyp_tick_set(0);
    for (;;) {
        uint32_t now = virt_cycles() / MS;
        if (now >= 200u && begin == 0) {
            begin = 1;
            work = 0;
        }
        if (now >= 1200u && begin == 1) {
            begin = 2;
            report("work", (int32_t)work);
        }
        if (plan[0] == HIDES) {
            hide();
        } else {
            compute();
        }
    }
}
