/* A process with two threads. The first faults at its third pulse after the first start; the other
 * waits meanwhile, and has to be able to wait again. */
#include <fvm/native.h>

#include "fvm_domain.h"
#include "report.h"

static uint32_t initialised = 7; /* .data and .bss are new at every start */
static uint32_t zero;

int main(void)
{
    report_init();
    uint32_t boot = boots();
    report("boot", (int32_t)boot);
    report("data", (int32_t)(initialised + zero));
    initialised = zero = 1;
    for (uint32_t pulse = 1;; pulse++) {
        (void)fvm_signal_wait(FVM_CAP_PULSE);
        if (boot == 1 && pulse == 3) {
            *(volatile uint32_t *)0 = 0;
        }
        report("pulse", (int32_t)pulse);
    }
}

/* A wait returns how often the signal was sent since the last one. */
void listener(void)
{
    (void)fvm_signal_wait(FVM_CAP_FAST);
    for (;;) {
        report("slow", fvm_signal_wait(FVM_CAP_SLOW));
        report("fast", fvm_signal_wait(FVM_CAP_FAST));
    }
}
