/* Asks the keeper to restart a process whose threads are more urgent than this one, and so than the
 * keeper's port, in which it runs then. */
#include <fvm/native.h>

#include "../report.h"
#include "fvm_domain.h"

int main(void)
{
    uint32_t result = 0x55;
    report_init();
    for (uint32_t periods = 0; periods < 5u; periods++) {
        (void)fvm_signal_wait(FVM_CAP_SOON);
    }
    report("restart", fvm_invoke(FVM_CAP_RESTART_ME, 0, 0, 0, &result));
    report("result", (int32_t)result);
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_SOON);
    }
}
