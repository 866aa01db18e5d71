/* Stops the server step by step, has its ports called after each, restarts it the same way. */
#include "../report.h"
#include "board.h"

#define STEPS 1000u

/* The client outranks this: it is done when the event is sent. */
static int32_t call(uint32_t port)
{
    BOARD->port = port;
    (void)fvm_event_send(FVM_CAP_CALL);
    return BOARD->status;
}

/* Steps up to the end, with a call of the second port after each; how many of these were served,
 * how many of them opened the first port. */
static void step(const char *served_name, const char *opened_name, uint32_t number)
{
    int32_t served = 0, opened = 0, result = FVM_MORE;
    for (uint32_t i = 0; i < STEPS && result == FVM_MORE; i++) {
        result = fvm_call(number, FVM_CAP_DOMAIN_SERVER, 0, 0, 0).r0;
        if (result == FVM_MORE && call(2) == FVM_OK) {
            served++;
            opened += BOARD->result == (uint32_t)FVM_OK;
        }
    }
    report(served_name, served);
    report(opened_name, opened);
}

int main(void)
{
    report_init();
    (void)fvm_signal_wait(FVM_CAP_IDLE);
    report("before.second", call(2));
    report("before.opened", (int32_t)BOARD->result);
    report("before.first", call(1));
    BOARD->in_main = 0;
    step("stop.served", "stop.opened", FVM_CALL_DOMAIN_STOP);
    report("stopped.first", call(1));
    report("stopped.second", call(2));
    step("restart.served", "restart.opened", FVM_CALL_DOMAIN_RESTART);
    report("restarted.first", call(1));
    (void)fvm_signal_wait(FVM_CAP_IDLE);
    report("again.starts", (int32_t)BOARD->starts);
    report("again.slot_was_free", BOARD->made > 0);
    report("again.first", call(1));
    report("again.in_main", (int32_t)BOARD->result);
    report("done", 1);
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_IDLE);
    }
}
