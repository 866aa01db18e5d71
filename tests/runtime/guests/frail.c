/* A process that faults at its third beat after the first start, and goes on after that. */
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
    for (uint32_t beat = 1;; beat++) {
        (void)fvm_signal_wait(FVM_CAP_PULSE);
        if (boot == 1 && beat == 3) {
            *(volatile uint32_t *)0 = 0;
        }
        report("beat", (int32_t)beat);
    }
}
