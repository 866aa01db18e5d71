/* A process that passes a token on from one VM to another. */
#include <fvm/native.h>

#include "fvm_domain.h"
#include "report.h"

#define ROUNDS 100

int main(void)
{
    int32_t taken = 0, refused = 0;
    report_init();
    while (taken < ROUNDS) {
        taken += fvm_signal_wait(FVM_CAP_TO_RELAY);
        refused += fvm_event_send(FVM_CAP_TO_FIRST) != FVM_OK;
    }
    report("taken", taken);
    report("refused", refused);
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_TO_RELAY);
    }
}
