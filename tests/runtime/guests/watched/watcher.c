/* Stops the worker when it has done nothing for a period, and decides that it starts anew, as it
 * does about faults of it. */
#include <fvm/native.h>

#include "../report.h"
#include "alive.h"

static enum fvm_decision decide(const struct fvm_fault *fault)
{
    report("decided", (int32_t)fault->serial);
    return FVM_RESTART;
}

void look(void)
{
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_PERIOD);
#ifdef LOOKS
        if (ALIVE->pulses == ALIVE->last) {
            report("stop", fvm_domain_stop(FVM_CAP_DOMAIN_WORKER));
        }
#endif
#ifdef RESTARTS
        report("restart", fvm_domain_restart(FVM_CAP_DOMAIN_WORKER));
#endif
        ALIVE->last = ALIVE->pulses;
    }
}

int main(void)
{
    static const struct fvm_watched watched[] = {{FVM_INDEX_WORKER, FVM_CAP_DOMAIN_WORKER}};
    uint32_t none;
    report_init();
    if (ALIVE->kept != KEPT) {
        ALIVE->kept = KEPT;
        report("first_start", 1);
        (void)fvm_function(FVM_CAP_RESET, &none);
    }
    report("kept", 1);
    fvm_fault_serve(FVM_CAP_FAULTS, FVM_CAP_LOG, watched, 1, decide);
}
