/* The more urgent of two processes: it waits for the other, is invoked by it, or answers the
 * virtual machine. */
#include "fvm_domain.h"
#include <fvm/native.h>

#include "marks.h"

MARKED uint32_t serve_answer(uint32_t a, uint32_t b, uint32_t c, uint32_t broken)
{
    MARK(invoke_inside);
    return a + b + c + broken;
}

MARKED void server(void)
{
    (void)fvm_port_open(FVM_CAP_ANSWER);
    for (;;) {
        FORGET();
        MARK(switch_start);
        (void)fvm_signal_wait(FVM_CAP_TO_SERVER);
        MARK(signal_stop);
    }
}

MARKED void echo(void)
{
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_ASK);
        FORGET();
        MARK(event_start);
        (void)fvm_event_send(FVM_CAP_ECHO);
    }
}
