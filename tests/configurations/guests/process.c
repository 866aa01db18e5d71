/* A process whose threads compare their registers, in calls of every kind and where they are
 * preempted. What it may do is what its header names. */
#include <fvm/native.h>

#include "crimes.h"
#include "fvm_domain.h"
#include "kept.h"
#include "tagged.h"

#define ALL 0xFu
#define FIRST_IS_RESULT 0xEu
#define TWO_ARE_RESULTS 0xCu
#define NO_WAY 0u
#define CRIME_ROUNDS 6u
#ifndef TEST_HOSTILE
#define TEST_HOSTILE 0
#endif

static struct tagged of_main, of_second, of_port, of_child;

static void call(struct tagged *mine, uint32_t number, uint32_t a, uint32_t b, uint32_t c,
                 uint32_t kept)
{
    const uint32_t argument[4] = {a, b, c, chance(0)};
    (void)tagged_call(mine, number, argument, kept);
}

/* Calls that nobody may make. */
static void refused(struct tagged *mine, uint32_t number)
{
    switch (chance(5)) {
    case 0:
        call(mine, FVM_CALLS + chance(100), number, number, number, FIRST_IS_RESULT);
        break;
    case 1:
        call(mine, FVM_CALL_SIGNAL_SEND, 200u + chance(100), number, number, FIRST_IS_RESULT);
        break;
    case 2:
        call(mine, FVM_CALL_INVOKE, FVM_CAP_RUN_TIME | chance(64), 0, 0, TWO_ARE_RESULTS);
        break;
#ifdef FVM_CAP_TICKS
    case 3:
        call(mine, FVM_CALL_SIGNAL_WAIT, FVM_CAP_TICKS, number, number, FIRST_IS_RESULT);
        break;
#endif
    default:
        call(mine, FVM_CALL_REQUEST_NEXT, FVM_NONE, number, number, FIRST_IS_RESULT);
        break;
    }
}

/* Everybody's. */
static void call_by_chance(struct tagged *mine)
{
    uint32_t number = chance(0);
    switch (chance(10)) {
#ifdef FVM_CAP_TO_VM
    case 0:
        call(mine, FVM_CALL_EVT_SND, FVM_CAP_TO_VM, number, number, FIRST_IS_RESULT);
        break;
#endif
#ifdef FVM_CAP_NUDGE
    case 1:
        call(mine, FVM_CALL_EVT_SND, FVM_CAP_NUDGE, number, number, FIRST_IS_RESULT);
        break;
#endif
#ifdef FVM_CAP_UP
    case 9:
        call(mine, FVM_CALL_EVT_SND, FVM_CAP_UP, number, number, FIRST_IS_RESULT);
        break;
#endif
#ifdef FVM_CAP_SERVE
    case 2:
    case 3:
#ifdef TEST_SERVES
        call(mine, FVM_CALL_PORT_OPEN, FVM_CAP_SERVE, chance(8) != 0, number, FIRST_IS_RESULT);
#else
        call(mine, FVM_CALL_INVOKE, FVM_CAP_SERVE, number, number, TWO_ARE_RESULTS);
#endif
        break;
#endif
#ifdef FVM_CAP_TICKS
    case 4:
        call(mine, FVM_CALL_FUNCTION, FVM_CAP_TICKS, number, number, TWO_ARE_RESULTS);
        break;
#endif
#ifdef FVM_CAP_SECOND
    case 5:
        if (mine == &of_main) {
            call(mine, FVM_CALL_THREAD_START, FVM_CAP_SECOND, number, number, FIRST_IS_RESULT);
        }
        call(mine, FVM_CALL_THREAD_PRIORITY, FVM_CAP_SECOND, TEST_LOWEST + chance(3), FVM_NONE,
             FIRST_IS_RESULT);
        break;
#endif
    case 6:
        refused(mine, number);
        break;
#ifdef FVM_CAP_LOG
    case 8:
        call(mine, FVM_CALL_STATUS, FVM_CAP_LOG, chance(3), chance(4), NO_WAY);
        break;
#endif
    default:
        tagged_spin(mine);
        break;
    }
    for (uint32_t n = chance(4); n != 0; n--) {
        tagged_spin(mine);
    }
}

#ifdef TEST_SERVES
uint32_t serve(uint32_t a, uint32_t b, uint32_t c, uint32_t broken)
{
    of_port.fpu = TEST_FPU;
    tagged_spin(&of_port);
    (void)broken;
    return a + b + c;
}
#endif

#ifdef TEST_SLOTS
#define LENT ((volatile uint32_t *)FVM_SHM_BOARD)[0] /* number of a run-time capability */

static void lend_or_use(struct tagged *mine)
{
#if defined TEST_LENDS && defined FVM_CAP_SERVE
    if (chance(4) == 0) {
        (void)fvm_revoke(FVM_CAP_SERVE);
    } else {
        int32_t lent = fvm_delegate(FVM_CAP_SLOTS_P0, FVM_CAP_SERVE, FVM_RIGHT_INVOKE, chance(2));
        LENT = lent > 0 ? (uint32_t)lent : LENT;
    }
    (void)mine;
#elif defined TEST_LENDS
    if (chance(4) == 0) {
        (void)fvm_revoke(FVM_CAP_NOTE);
    } else {
        int32_t lent = fvm_delegate(FVM_CAP_SLOTS_P0, FVM_CAP_NOTE, FVM_RIGHT_SEND, chance(2));
        LENT = lent > 0 ? (uint32_t)lent : LENT;
    }
    (void)mine;
#elif defined FVM_CAP_SERVE
    call(mine, FVM_CALL_INVOKE, LENT, 1, 2, TWO_ARE_RESULTS);
#else
    call(mine, FVM_CALL_EVT_SND, LENT, 1, 2, FIRST_IS_RESULT);
#endif
}
#endif

#ifdef FVM_CAP_KERNEL_MEMORY
#define SIGNAL_SLOT 2u
#define THREAD_SLOT 3u
#define THREAD_AT 16u

static uint64_t child_stack[160];
static int32_t child_signal, child;

static void child_main(uint32_t signal)
{
    for (;;) {
        call(&of_child, FVM_CALL_SIGNAL_WAIT, signal, 1, 2, FIRST_IS_RESULT);
        tagged_spin(&of_child);
    }
}

/* Makes them, uses them, and does away with them. */
static void make_objects(struct tagged *mine)
{
    if (child <= 0) {
        child_signal = fvm_create_signal(FVM_CAP_KERNEL_MEMORY, 0, SIGNAL_SLOT);
        child = fvm_create_thread(FVM_CAP_KERNEL_MEMORY, THREAD_AT, THREAD_SLOT, TEST_LOWEST - 1u);
        of_child.fpu = TEST_FPU;
        (void)fvm_thread_run((uint32_t)child, child_main, &child_stack[160],
                             (uint32_t)child_signal);
    } else if (chance(6) == 0) {
        (void)fvm_delete((uint32_t)child);
        (void)fvm_delete((uint32_t)child_signal);
        child = 0;
    } else {
        call(mine, FVM_CALL_SIGNAL_SEND, (uint32_t)child_signal, 1, 2, FIRST_IS_RESULT);
    }
}
#endif

static void wait(struct tagged *mine, uint32_t otherwise)
{
    uint32_t signal = otherwise;
#if defined TEST_NUDGED && defined FVM_CAP_NUDGE
    signal = chance(4) == 0 ? FVM_CAP_NUDGE : signal;
#endif
#ifdef TEST_LINE_CAP
    signal = chance(2) == 0 ? TEST_LINE_CAP : signal;
#endif
    call(mine, FVM_CALL_SIGNAL_WAIT, signal, chance(0), chance(0), FIRST_IS_RESULT);
    if (chance(2) == 0) {
        refused(mine, 0); /* while somebody less urgent is in the middle of something */
    }
}

#ifdef FVM_CAP_BEAT_SECOND
/* Less urgent, and preempted by the other one. */
void second(void)
{
    for (;;) {
        uint32_t signal = FVM_CAP_BEAT_SECOND;
#if defined TEST_FIRST && defined FVM_CAP_BELL /* whose sender may be gone for good */
        signal = chance(4) == 0 ? FVM_CAP_BELL : signal;
#endif
#if defined TEST_FIRST && defined FVM_CAP_UP
        signal = chance(4) == 0 ? FVM_CAP_UP : signal;
#endif
        call(&of_second, FVM_CALL_SIGNAL_WAIT, signal, chance(0), chance(0), FIRST_IS_RESULT);
        for (uint32_t n = chance(12); n != 0; n--) {
            tagged_spin(&of_second);
        }
        call_by_chance(&of_second);
#ifdef FVM_CAP_SECOND
        if (chance(8) == 0) {
            (void)fvm_thread_stop(FVM_NONE); /* the other one starts it */
        }
#endif
    }
}
#endif

#ifdef FVM_CAP_FAULTS
static enum fvm_decision decide(const struct fvm_fault *fault)
{
    return (fault->serial & 15u) == 15u ? FVM_STOP : FVM_RESTART;
}

void judge(void)
{
    static const struct fvm_watched watched[] = {
#ifdef FVM_CAP_DOMAIN_P1
        {FVM_INDEX_P1, FVM_CAP_DOMAIN_P1},
#endif
#ifdef FVM_CAP_DOMAIN_P2
        {FVM_INDEX_P2, FVM_CAP_DOMAIN_P2},
#endif
#ifdef FVM_CAP_DOMAIN_V0
        {FVM_INDEX_V0, FVM_CAP_DOMAIN_V0},
#endif
#ifdef FVM_CAP_DOMAIN_V1
        {FVM_INDEX_V1, FVM_CAP_DOMAIN_V1},
#endif
#ifdef FVM_CAP_DOMAIN_V2
        {FVM_INDEX_V2, FVM_CAP_DOMAIN_V2},
#endif
    };
    fvm_fault_serve(FVM_CAP_FAULTS, FVM_CAP_LOG, watched, sizeof watched / sizeof watched[0],
                    decide);
}
#endif

#ifdef FVM_CAP_BEAT
#define OTHERWISE FVM_CAP_BEAT
#else
#define OTHERWISE TEST_LINE_CAP
#endif

int main(void)
{
    if (end[KEPT_STARTS]++ == 0) {
        end[KEPT_CHANCE] = TEST_SEED;
    }
#ifdef TEST_SERVES
    (void)fvm_port_open(FVM_CAP_SERVE);
#endif
    for (uint32_t round = 0;; round++) {
        wait(&of_main, OTHERWISE);
        of_main.fpu = TEST_FPU && round > 4u;
        call_by_chance(&of_main);
#if defined TEST_FIRST && defined FVM_CAP_NUDGE
        (void)fvm_event_send(FVM_CAP_NUDGE); /* the next one may wait for it */
#endif
#ifdef TEST_SLOTS
        lend_or_use(&of_main);
#endif
#ifdef FVM_CAP_KERNEL_MEMORY
        make_objects(&of_main);
#endif
        if (TEST_HOSTILE && round > 0 && (round == 1u || chance(CRIME_ROUNDS) == 0)) {
            commit_by_chance();
        }
    }
}
