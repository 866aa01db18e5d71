/* Decides as docs/runtime.md prints it. */
#include <fvm/native.h>

#include "fvm_domain.h"

static enum fvm_decision decide(const struct fvm_fault *fault)
{
    return fault->cause == FVM_FAULT_WATCHDOG ? FVM_STOP : FVM_RESTART;
}

int main(void)
{
    static const struct fvm_watched watched[] = {
        {FVM_INDEX_STORM_A, FVM_CAP_DOMAIN_STORM_A},
#ifdef FVM_CAP_DOMAIN_STORM_B
        {FVM_INDEX_STORM_B, FVM_CAP_DOMAIN_STORM_B},
        {FVM_INDEX_STORM_C, FVM_CAP_DOMAIN_STORM_C},
#endif
    };
    fvm_fault_serve(FVM_CAP_FAULTS, FVM_CAP_LOG, watched, sizeof watched / sizeof *watched, decide);
}
