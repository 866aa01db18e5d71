/* A process that faults after each of its first ten starts, and then tells what the log has. */
#include <fvm/native.h>

#include "fvm_domain.h"
#include "report.h"

#define FAULTS 10u

static void tell(void)
{
    struct fvm_fault fault;
    for (uint32_t after = 0; fvm_fault_read(FVM_CAP_LOG, after, &fault) == 1;
         after = fault.serial) {
        report("restarts", (int32_t)fault.restarts);
        report("decision", fault.decision);
    }
}

int main(void)
{
    report_init();
    uint32_t boot = boots();
    report("boot", (int32_t)boot);
    if (boot > FAULTS) {
        tell();
    }
    for (uint32_t pulse = 1;; pulse++) {
        report("pulse", fvm_signal_wait(FVM_CAP_PULSE));
        if (boot <= FAULTS && pulse == 2) {
            *(volatile uint32_t *)0 = 0;
        }
    }
}
