/* Faults at once after the first start; after the second it says what it finds. */
#include <fvm/native.h>

#include "fvm_domain.h"
#include "../report.h"

int main(void)
{
    report_init();
    if (boots() == 1) {
        *(volatile uint32_t *)0 = 0;
    }
    report("timer", fvm_signal_wait(FVM_CAP_PERIOD));
    report("events", fvm_signal_wait(FVM_CAP_PING));
    (void)fvm_signal_wait(FVM_CAP_SLOW);
    report("later", fvm_signal_wait(FVM_CAP_PING));
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_SLOW);
    }
}
