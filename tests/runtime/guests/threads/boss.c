/* Starts, stops and ranks threads, rightly and wrongly, and says what came of it. */
#include <fvm/native.h>

#include "../report.h"
#include "board.h"

#define OWN_CEILING 15u
#define OTHER_CEILING 14u

static volatile uint32_t worked, second_rounds, ended;

static void wait(uint32_t ticks)
{
    while (ticks-- > 0) {
        (void)fvm_signal_wait(FVM_CAP_TICK);
    }
}

void worker(void)
{
    worked++;
    if (ended == 0) {
        ended = 1;
        (void)fvm_thread_stop(FVM_NONE);
    }
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_WORK);
        worked++;
    }
}

void second(void)
{
    for (;;) {
        second_rounds++;
        if (BOARD->quiet != 0) {
            (void)fvm_signal_wait(FVM_CAP_REST);
        }
    }
}

static uint32_t rounds_in(uint32_t ticks, const volatile uint32_t *counter)
{
    uint32_t before = *counter;
    wait(ticks);
    return *counter - before;
}

static void starting(void)
{
    report("start.held", (int32_t)worked);
    report("start.status", fvm_thread_start(FVM_CAP_WORKER, 1));
    report("start.twice", fvm_thread_start(FVM_CAP_WORKER, 1));
    wait(1);
    report("start.ran_and_ended", (int32_t)(worked * 10u + ended));
    report("start.again", fvm_thread_start(FVM_CAP_WORKER, 1));
    wait(10);
    report("start.works", worked >= 4u);
    wait(1); /* between two periods of its timer: it waits */
    report("stop.step", fvm_call(FVM_CALL_THREAD_STOP, FVM_CAP_WORKER, 0, 0, 0).r0);
    report("stop.start_after_a_step", fvm_thread_start(FVM_CAP_WORKER, 1));
    wait(10);
    report("stop.status", fvm_thread_stop(FVM_CAP_WORKER));
    report("stop.still_works", (int32_t)rounds_in(10, &worked));
    report("stop.twice", fvm_thread_stop(FVM_CAP_WORKER));
    report("stop.signal_is_free", fvm_signal_wait(FVM_CAP_WORK) > 1);
}

static void refusals(void)
{
    int32_t other = 0;
    for (uint32_t cap = 0; cap < 300u; cap++) {
        if (cap != FVM_CAP_WORKER) {
            other += fvm_thread_start(cap, 0) != FVM_E_CAPABILITY;
        }
        if (cap != FVM_CAP_WORKER && cap != FVM_CAP_SECOND && cap != FVM_CAP_BUSY &&
            cap != FVM_CAP_CALLER) {
            other += fvm_thread_priority(cap, 5) != FVM_E_CAPABILITY;
        }
        if (cap != FVM_CAP_WORKER && cap != FVM_CAP_CALLER && cap != FVM_CAP_BUSY) {
            other += fvm_thread_stop(cap) != FVM_E_CAPABILITY;
        }
        uint32_t result;
        if (cap != FVM_CAP_TICKS && cap != FVM_CAP_CYCLES) {
            other += fvm_function(cap, &result) != FVM_E_CAPABILITY;
        }
    }
    report("refused.others", other);
    report("refused.above_ceiling", fvm_thread_priority(FVM_CAP_WORKER, OWN_CEILING + 1u));
    report("refused.idle", fvm_thread_priority(FVM_CAP_WORKER, 0));
    report("refused.wild", fvm_thread_priority(FVM_CAP_WORKER, 0x80000000u));
    report("refused.taken", fvm_thread_priority(FVM_CAP_WORKER, 8));
    report("refused.twice_one", fvm_thread_priorities(FVM_CAP_WORKER, 5, FVM_CAP_WORKER, 6));
    report("refused.one_place", fvm_thread_priorities(FVM_CAP_WORKER, 5, FVM_CAP_SECOND, 5));
    report("refused.second_above",
           fvm_thread_priorities(FVM_CAP_WORKER, 5, FVM_CAP_BUSY, OTHER_CEILING + 1u));
    report("refused.second_wild", fvm_thread_priorities(FVM_CAP_WORKER, 5, 77, 6));
}

/* `second` (11) keeps `busy` (8) from running; then they change places. */
static void ranking(void)
{
    report("rank.second_runs", rounds_in(2, &second_rounds) > 0);
    report("rank.busy_runs", (int32_t)rounds_in(2, &BOARD->busy));
    report("rank.swap", fvm_thread_priorities(FVM_CAP_SECOND, 8, FVM_CAP_BUSY, 11));
    report("rank.second_runs_then", (int32_t)rounds_in(2, &second_rounds));
    report("rank.busy_runs_then", rounds_in(2, &BOARD->busy) > 0);
    report("rank.one", fvm_thread_priority(FVM_CAP_SECOND, 13));
    report("rank.second_runs_again", rounds_in(2, &second_rounds) > 0);
    report("rank.busy_stops", fvm_thread_stop(FVM_CAP_BUSY));
    report("rank.one_down", fvm_thread_priority(FVM_CAP_SECOND, 2));
}

/* One that is stopped inside another process's port leaves it. */
static void inside(void)
{
    BOARD->quiet = 1;
    wait(4);
    report("inside.calls", (int32_t)BOARD->inside);
    report("inside.move", fvm_thread_priority(FVM_CAP_CALLER, 9));
    report("inside.old_is_free", fvm_thread_priority(FVM_CAP_SECOND, 7));
    report("inside.new_is_taken", fvm_thread_priority(FVM_CAP_SECOND, 9));
    report("inside.stop", fvm_thread_stop(FVM_CAP_CALLER));
    BOARD->restart = 1; /* its process starts anew, and calls again */
    wait(10);
    report("inside.starts", (int32_t)BOARD->starts);
    report("inside.calls_then", (int32_t)BOARD->inside);
    report("inside.broken", (int32_t)BOARD->broken);
}

static void functions(void)
{
    uint32_t ticks = 0, later = 0, cycles = 0, cycles_later = 0;
    report("function.ticks", fvm_function(FVM_CAP_TICKS, &ticks));
    report("function.cycles", fvm_function(FVM_CAP_CYCLES, &cycles));
    wait(4);
    (void)fvm_function(FVM_CAP_TICKS, &later);
    (void)fvm_function(FVM_CAP_CYCLES, &cycles_later);
    report("function.ticks_passed", (int32_t)(later - ticks));
    report("function.ms_passed", (int32_t)((cycles_later - cycles) / (FVM_CLOCK_HZ / 1000u)));
}

int main(void)
{
    report_init();
    wait(1);
    starting();
    refusals();
    ranking();
    inside();
    functions();
    report("done", 1);
    for (;;) {
        wait(1);
    }
}
