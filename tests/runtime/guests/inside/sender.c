/* An event a millisecond, whatever becomes of the receiver. */
#include <fvm/native.h>

#include "fvm_domain.h"

int main(void)
{
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_BEAT);
        (void)fvm_event_send(FVM_CAP_PING);
    }
}
