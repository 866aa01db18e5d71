/* Stops the server step by step, has its ports called after each, restarts it the same way. */
#include "../report.h"
#include "board.h"

#define STEPS 1000u
#define FIRST_STEP 10u /* of a restart, of those around the ones that break off a call */
#define LAST_STEP 15u

/* The client outranks this: it is done when the event is sent, or waits. */
static int32_t call(uint32_t order)
{
    BOARD->order = order;
    (void)fvm_event_send(FVM_CAP_CALL);
    return BOARD->status;
}

/* The server restarts while the client waits in it or for it; what it got. */
static void restart_under(const char *waited_name, const char *status_name, uint32_t order)
{
    uint32_t done = BOARD->done;
    (void)call(order);
    report(waited_name, BOARD->done == done);
    (void)fvm_domain_restart(FVM_CAP_DOMAIN_SERVER);
    report(status_name, BOARD->done == done + 1u ? BOARD->status : 1000);
    (void)fvm_signal_wait(FVM_CAP_IDLE);
}

/* Steps up to the end, with a call of the second port after each; how many of these were served,
 * how many of them opened the first port. */
static void step(const char *served_name, const char *opened_name, uint32_t number)
{
    int32_t served = 0, opened = 0, result = FVM_MORE;
    for (uint32_t i = 0; i < STEPS && result == FVM_MORE; i++) {
        result = fvm_call(number, FVM_CAP_DOMAIN_SERVER, 0, 0, 0).r0;
        if (result == FVM_MORE && call(SECOND) == FVM_OK) {
            served++;
            opened += BOARD->result == (uint32_t)FVM_OK;
        }
    }
    report(served_name, served);
    report(opened_name, opened);
}

static void wait_until_it_spins(void)
{
    BOARD->go = BOARD->spins = 0;
    while (BOARD->spins == 0) {
        (void)fvm_signal_wait(FVM_CAP_BEAT);
    }
}

/* A process restarts while its call spins, and between two of the steps the call may end. The next
 * call is one like any other: it is broken off and counted when the process restarts again. */
static void let_run_between_steps(void)
{
    int32_t counted = 0;
    for (uint32_t at = FIRST_STEP; at < LAST_STEP; at++) {
        wait_until_it_spins();
        int32_t result = FVM_MORE;
        for (uint32_t i = 0; result == FVM_MORE; i++) {
            result = fvm_call(FVM_CALL_DOMAIN_RESTART, FVM_CAP_DOMAIN_LOW, 0, 0, 0).r0;
            if (i == at) {
                BOARD->go = 1;
                (void)fvm_signal_wait(FVM_CAP_BEAT);
            }
        }
        wait_until_it_spins();
        uint32_t broken = BOARD->broken;
        (void)fvm_domain_restart(FVM_CAP_DOMAIN_LOW);
        wait_until_it_spins();
        counted += BOARD->broken == broken + 1u;
    }
    report("between.rounds", (int32_t)(LAST_STEP - FIRST_STEP));
    report("between.counted", counted);
}

int main(void)
{
    report_init();
    (void)fvm_signal_wait(FVM_CAP_IDLE);
    report("before.second", call(SECOND));
    report("before.opened", (int32_t)BOARD->result);
    report("before.first", call(FIRST));
    BOARD->in_main = 0;
    step("stop.served", "stop.opened", FVM_CALL_DOMAIN_STOP);
    report("stopped.first", call(FIRST));
    report("stopped.second", call(SECOND));
    step("restart.served", "restart.opened", FVM_CALL_DOMAIN_RESTART);
    report("restarted.first", call(FIRST));
    (void)fvm_signal_wait(FVM_CAP_IDLE);
    report("again.starts", (int32_t)BOARD->starts);
    report("again.slot_was_free", BOARD->made > 0);
    report("again.first", call(FIRST));
    report("again.in_main", (int32_t)BOARD->result);
    restart_under("under.inside", "under.inside_got", WAITS);
    restart_under("under.outside", "under.outside_got", SIGNAL);
    let_run_between_steps();
    report("done", 1);
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_IDLE);
    }
}
