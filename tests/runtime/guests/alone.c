/* A process that faults at its third pulse after each of its first two starts. */
#include <fvm/native.h>

#include "fvm_domain.h"
#include "report.h"

int main(void)
{
    report_init();
    uint32_t boot = boots();
    report("boot", (int32_t)boot);
    for (uint32_t pulse = 1;; pulse++) {
        report("pulse", fvm_signal_wait(FVM_CAP_PULSE));
        if (boot <= 2 && pulse == 3) {
            *(volatile uint32_t *)0 = 0;
        }
    }
}
