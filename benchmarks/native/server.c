/* The more urgent of two processes: it waits for the other, or answers the virtual machine. */
#include "fvm_domain.h"
#include <fvm/native.h>

#include "marks.h"

MARKED void server(void)
{
    for (;;) {
        MARK(switch_start);
        (void)fvm_signal_wait(FVM_CAP_TO_SERVER);
        MARK(signal_stop);
    }
}

MARKED void echo(void)
{
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_ASK);
        MARK(event_start);
        (void)fvm_event_send(FVM_CAP_ECHO);
    }
}
