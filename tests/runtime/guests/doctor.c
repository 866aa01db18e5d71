/* A process that decides about the faults of three VMs: one is restarted twice, another never;
 * about the third it says at first what is no decision. */
#include <fvm/native.h>

#include "fvm_domain.h"
#include "report.h"

#define NO_DECISION ((enum fvm_decision)7)

static enum fvm_decision decide(const struct fvm_fault *fault)
{
    static uint32_t asked;
    if (fault->domain == FVM_INDEX_UNSURE) {
        report("unsure.asked", (int32_t)++asked);
        return asked == 1 ? NO_DECISION : FVM_STOP;
    }
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
        {FVM_INDEX_UNSURE, FVM_CAP_DOMAIN_UNSURE},
    };
    report_init();
    fvm_fault_serve(FVM_CAP_FAULTS, FVM_CAP_LOG, watched, 3, decide);
}
