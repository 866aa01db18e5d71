/* A process that reads the log: every record once, and tries what a reader may not. */
#include <fvm/native.h>

#include "fvm_domain.h"
#include "report.h"

int main(void)
{
    struct fvm_fault fault;
    uint32_t after = 0;
    report_init();
    report("drop", fvm_call(FVM_CALL_FAULT_NEXT, FVM_CAP_LOG, 0, 0, 0).r0);
    report("beyond", (int32_t)fvm_call(FVM_CALL_FAULT_READ, FVM_CAP_LOG, 0, 0xFFFFFFFEu, 0).r1);
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_POLL);
        while (fvm_fault_read(FVM_CAP_LOG, after, &fault) == 1) {
            after = fault.serial;
            report("serial", (int32_t)fault.serial);
            report("tick", (int32_t)fault.tick);
            report("domain", fault.domain);
            report("decision", fault.decision);
        }
    }
}
