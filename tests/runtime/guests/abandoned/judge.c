/* Stops by halves, and stops who tries again. */
#include <fvm/native.h>

#include "../report.h"
#include "fvm_domain.h"

#define LATER 40u /* ticks: by then the maker is done */

#define TRIED (*(volatile uint32_t *)FVM_SHM_BOARD)

static volatile uint32_t inside;

void caller(void)
{
    uint32_t result;
    inside = 1;
    (void)fvm_invoke(FVM_CAP_PACED, 1, 0, 0, &result);
    inside = 0;
    (void)fvm_thread_stop(FVM_NONE);
}

static void wait(uint32_t ticks)
{
    while (ticks-- > 0) {
        (void)fvm_signal_wait(FVM_CAP_TICK);
    }
}

/* Whoever has begun to stop a thread need not go on: its port serves the next caller. */
static void stop_by_half(void)
{
    int32_t served = 0, rounds = 0;
    for (uint32_t steps = 1; steps <= 3u; steps++) {
        (void)fvm_thread_start(FVM_CAP_CALLER, 0);
        while (inside == 0) {
            wait(1);
        }
        for (uint32_t i = 0; i < steps; i++) {
            (void)fvm_call(FVM_CALL_THREAD_STOP, FVM_CAP_CALLER, 0, 0, 0);
        }
        uint32_t result = 0;
        served += fvm_invoke(FVM_CAP_PACED, steps, 0, 0, &result) == FVM_OK && result == steps + 1u;
        rounds++;
        (void)fvm_thread_stop(FVM_CAP_CALLER);
        inside = 0;
    }
    report("half.rounds", rounds);
    report("half.served", served);
}

/* It is more urgent than this, and never waits but in the port. */
static void stop_who_tries_again(void)
{
    report("eager.stop", fvm_thread_stop(FVM_CAP_EAGER));
    uint32_t so_far = TRIED;
    wait(5);
    report("eager.ran", so_far > 0);
    report("eager.stays", TRIED == so_far);
}

int main(void)
{
    report_init();
    wait(LATER);
    stop_by_half();
    stop_who_tries_again();
    report("server.stop", fvm_domain_stop(FVM_CAP_DOMAIN_SERVER));
    report("server.restart", fvm_domain_restart(FVM_CAP_DOMAIN_SERVER));
    uint32_t result = 0;
    wait(1);
    report("server.serves", fvm_invoke(FVM_CAP_PACED, 1, 0, 0, &result));
    report("done", 1);
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_TICK);
    }
}
