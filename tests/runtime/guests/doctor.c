/* A process that decides about the faults of two VMs: one is restarted twice, the other never. */
#include <fvm/native.h>

#include "fvm_domain.h"
#include "report.h"

static enum fvm_decision decide(const struct fvm_fault *fault)
{
    report(fault->domain == FVM_INDEX_PATIENT ? "patient.restarts" : "hopeless.restarts",
           (int32_t)fault->restarts);
    report_hex("pc", fault->pc);
    report("cause", fault->cause);
    report("decision", fault->decision);
    return fault->domain == FVM_INDEX_PATIENT && fault->restarts <= 2 ? FVM_RESTART : FVM_STOP;
}

int main(void)
{
    static const struct fvm_watched watched[] = {
        {FVM_INDEX_PATIENT, FVM_CAP_DOMAIN_PATIENT},
        {FVM_INDEX_HOPELESS, FVM_CAP_DOMAIN_HOPELESS},
    };
    report_init();
    fvm_fault_serve(FVM_CAP_FAULTS, FVM_CAP_LOG, watched, 2, decide);
}
