/* Delegates and revokes, makes and deletes objects, rightly and wrongly, and says what came of it.
 */
#include <fvm/native.h>

#include "../report.h"
#include "orders.h"

#define MEMORY 256u
#define WORKER_PRIORITY 7u

static volatile uint32_t worked, argument_seen, ended_by, worker_number;
static volatile int32_t ended_itself;
static uint64_t worker_stack[40], second_stack[40];

uint32_t serve_secret(uint32_t a, uint32_t b, uint32_t c, uint32_t broken)
{
    return a + b + c + 1000u * broken;
}

static int32_t invoked_by(uint32_t who, int32_t cap)
{
    return by(who, FVM_CALL_INVOKE, (uint32_t)cap, 1, 2, 3);
}

static void delegation(void)
{
    (void)fvm_port_open(FVM_CAP_SECRET);
    report("before.invoke", invoked_by(USER, (int32_t)FVM_CAP_RUN_TIME));
    int32_t cap = fvm_delegate(FVM_CAP_SLOTS_USER, FVM_CAP_SECRET, FVM_RIGHT_INVOKE, 0);
    report("given.number", (uint32_t)cap >> 30 == 1u);
    report("given.invoke", invoked_by(USER, cap));
    report("given.result", (int32_t)ORDER(USER)->second);
    report("given.no_control", by(USER, FVM_CALL_PORT_OPEN, (uint32_t)cap, 0, 0, 0));
    report("given.not_on", by(USER, FVM_CALL_CAP_REVOKE, (uint32_t)cap, 0, 0, 0));
    report("given.not_others", invoked_by(MIDDLE, cap));
    report("given.taken", fvm_delegate(FVM_CAP_SLOTS_USER, FVM_CAP_SECRET, FVM_RIGHT_INVOKE, 0));
    report("taken_back.status", fvm_revoke(FVM_CAP_SECRET));
    report("taken_back.invoke", invoked_by(USER, cap));
    int32_t again = fvm_delegate(FVM_CAP_SLOTS_USER, FVM_CAP_SECRET, FVM_RIGHT_INVOKE, 0);
    report("again.other_number", again != cap && again > 0);
    report("again.old_number", invoked_by(USER, cap));
    report("again.invoke", invoked_by(USER, again));
    report("again.delete", by(USER, FVM_CALL_CAP_DELETE, (uint32_t)again, 0, 0, 0));
    report("again.deleted", invoked_by(USER, again));
    report("again.delete_twice", by(USER, FVM_CALL_CAP_DELETE, (uint32_t)again, 0, 0, 0));
    report("again.nothing_left", fvm_call(FVM_CALL_CAP_REVOKE, FVM_CAP_SECRET, 0, 0, 0).r0);
}

/* owner -> middle -> user, and owner -> user beside it. */
static void chains(void)
{
    uint32_t rights = FVM_RIGHT_INVOKE | FVM_RIGHT_DELEGATE;
    int32_t direct = fvm_delegate(FVM_CAP_SLOTS_USER, FVM_CAP_SECRET, FVM_RIGHT_INVOKE, 0);
    int32_t middle = fvm_delegate(FVM_CAP_SLOTS_MIDDLE, FVM_CAP_SECRET, rights, 2);
    uint32_t to_user = 1; /* of middle: its timer is 0 */
    int32_t first = by(MIDDLE, FVM_CALL_CAP_DELEGATE, to_user, (uint32_t)middle, rights, 1);
    int32_t second =
        by(MIDDLE, FVM_CALL_CAP_DELEGATE, to_user, (uint32_t)middle, FVM_RIGHT_INVOKE, 2);
    report("chain.more_rights", by(MIDDLE, FVM_CALL_CAP_DELEGATE, to_user, (uint32_t)middle,
                                   rights | FVM_RIGHT_CONTROL, 1));
    report("chain.invoke", invoked_by(USER, first) + invoked_by(USER, second));
    report("chain.revoke", by(MIDDLE, FVM_CALL_CAP_REVOKE, (uint32_t)middle, 0, 0, 0) +
                               by(MIDDLE, FVM_CALL_CAP_REVOKE, (uint32_t)middle, 0, 0, 0));
    report("chain.steps_left", by(MIDDLE, FVM_CALL_CAP_REVOKE, (uint32_t)middle, 0, 0, 0));
    report("chain.first", invoked_by(USER, first));
    report("chain.second", invoked_by(USER, second));
    report("chain.direct", invoked_by(USER, direct));
    report("chain.middle", invoked_by(MIDDLE, middle));
    first = by(MIDDLE, FVM_CALL_CAP_DELEGATE, to_user, (uint32_t)middle, FVM_RIGHT_INVOKE, 1);
    report("chain.revoke_all", fvm_revoke(FVM_CAP_SECRET));
    report("chain.gone", invoked_by(USER, first) == FVM_E_CAPABILITY &&
                             invoked_by(USER, direct) == FVM_E_CAPABILITY &&
                             invoked_by(MIDDLE, middle) == FVM_E_CAPABILITY);
}

static void refusals(void)
{
    uint32_t user = FVM_CAP_SLOTS_USER, secret = FVM_CAP_SECRET, invoke = FVM_RIGHT_INVOKE;
    int32_t other = 0;
    report("refused.not_delegable", fvm_delegate(user, FVM_CAP_FIXED, FVM_RIGHT_CONTROL, 0));
    report("refused.timer", fvm_delegate(user, FVM_CAP_TICK, FVM_RIGHT_WAIT, 0));
    report("refused.no_rights", fvm_delegate(user, secret, 0, 0));
    report("refused.wild_rights", fvm_delegate(user, secret, 0x10000u | invoke, 0));
    report("refused.slot", fvm_delegate(user, secret, invoke, 3));
    report("refused.wild_slot", fvm_delegate(user, secret, invoke, 0xFFFFFFFFu));
    report("refused.no_table", fvm_delegate(secret, secret, invoke, 0));
    report("refused.static_delete", fvm_delete(secret));
    report("refused.from_bare", by(BARE, FVM_CALL_CAP_DELEGATE, 0, 0, 1, 0));
    report("refused.bare_slot", invoked_by(BARE, (int32_t)FVM_CAP_RUN_TIME));
    for (uint32_t i = 0; i < 64u * 4u; i++) { /* none of these is in use */
        other += fvm_signal_send(FVM_CAP_RUN_TIME | i) != FVM_E_CAPABILITY;
        other += fvm_delete(FVM_CAP_RUN_TIME | i) != FVM_E_CAPABILITY;
        other += fvm_revoke(FVM_CAP_RUN_TIME | i) != FVM_E_CAPABILITY;
    }
    report("refused.unused_numbers", other);
}

/* A restart of the one that holds, and of the one that passed on. */
static void restarts(void)
{
    uint32_t rights = FVM_RIGHT_INVOKE | FVM_RIGHT_DELEGATE;
    int32_t middle = fvm_delegate(FVM_CAP_SLOTS_MIDDLE, FVM_CAP_SECRET, rights, 0);
    int32_t user = by(MIDDLE, FVM_CALL_CAP_DELEGATE, 1, (uint32_t)middle, FVM_RIGHT_INVOKE, 0);
    int32_t direct = fvm_delegate(FVM_CAP_SLOTS_USER, FVM_CAP_SECRET, FVM_RIGHT_INVOKE, 1);
    report("restart.before", invoked_by(USER, user));
    (void)by(MIDDLE, ORDER_TRAP, 0, 0, 0, 0);
    wait(4);
    report("restart.passed_on", invoked_by(USER, user));
    report("restart.own", invoked_by(MIDDLE, middle));
    report("restart.others", invoked_by(USER, direct));
    (void)by(USER, ORDER_TRAP, 0, 0, 0, 0);
    wait(4);
    report("restart.holder", invoked_by(USER, direct));
    report("restart.slot_is_free",
           fvm_delegate(FVM_CAP_SLOTS_USER, FVM_CAP_SECRET, FVM_RIGHT_INVOKE, 1) > 0);
    (void)fvm_revoke(FVM_CAP_SECRET);
}

static void signals(void)
{
    int32_t signal = fvm_create_signal(FVM_CAP_KERNEL_MEMORY, 4, 0);
    report("signal.made", signal > 0);
    report("signal.sent", fvm_signal_send((uint32_t)signal));
    report("signal.sent_twice", fvm_signal_send((uint32_t)signal));
    report("signal.count", fvm_signal_wait((uint32_t)signal));
    int32_t given = fvm_delegate(FVM_CAP_SLOTS_USER, (uint32_t)signal, FVM_RIGHT_SEND, 0);
    report("signal.no_wait", by(USER, FVM_CALL_SIGNAL_WAIT, (uint32_t)given, 0, 0, 0));
    report("signal.by_user", by(USER, FVM_CALL_SIGNAL_SEND, (uint32_t)given, 0, 0, 0));
    report("signal.arrived", fvm_signal_wait((uint32_t)signal));
    report("signal.overlap", fvm_create_signal(FVM_CAP_KERNEL_MEMORY, 12, 1));
    report("signal.slot_taken", fvm_create_signal(FVM_CAP_KERNEL_MEMORY, 64, 0));
    report("signal.delete", fvm_delete((uint32_t)signal));
    report("signal.gone", fvm_signal_send((uint32_t)signal));
    report("signal.gone_there", by(USER, FVM_CALL_SIGNAL_SEND, (uint32_t)given, 0, 0, 0));
    int32_t anew = fvm_create_signal(FVM_CAP_KERNEL_MEMORY, 4, 0);
    report("signal.anew", anew > 0 && anew != signal);
    report("signal.old_number", fvm_signal_send((uint32_t)signal));
    report("signal.deleted_anew", fvm_delete((uint32_t)anew));
}

static void worker(uint32_t argument)
{
    argument_seen = argument;
    for (;;) {
        int32_t result = fvm_signal_wait(argument);
        if (result < 0) {
            ended_by = (uint32_t)result;
            ended_itself = fvm_delete(worker_number);
            (void)fvm_thread_stop(FVM_NONE);
        }
        worked++;
    }
}

static void threads(void)
{
    uint32_t memory = FVM_CAP_KERNEL_MEMORY;
    void *stack = worker_stack + sizeof worker_stack / sizeof *worker_stack;
    int32_t signal = fvm_create_signal(memory, 0, 0);
    int32_t thread = fvm_create_thread(memory, 12, 1, WORKER_PRIORITY);
    report("thread.made", thread > 0);
    worker_number = (uint32_t)thread;
    report("thread.stack_elsewhere",
           fvm_thread_run((uint32_t)thread, worker, (void *)0x20000400u, 0));
    report("thread.run", fvm_thread_run((uint32_t)thread, worker, stack, (uint32_t)signal));
    wait(1);
    report("thread.argument", argument_seen == (uint32_t)signal);
    (void)fvm_signal_send((uint32_t)signal);
    wait(1);
    (void)fvm_signal_send((uint32_t)signal);
    wait(1);
    report("thread.worked", (int32_t)worked);
    report("thread.priority_taken", fvm_create_thread(memory, 92, 2, WORKER_PRIORITY));
    report("thread.above_ceiling", fvm_create_thread(memory, 92, 2, 10));
    report("thread.move", fvm_thread_priority((uint32_t)thread, 6));
    report("thread.move_above", fvm_thread_priority((uint32_t)thread, 10));
    report("thread.signal_deleted", fvm_delete((uint32_t)signal));
    wait(1);
    report("thread.told", (int32_t)ended_by);
    report("thread.delete_itself", ended_itself);
    report("thread.delete", fvm_delete((uint32_t)thread));
    report("thread.gone", fvm_thread_stop((uint32_t)thread));
    report("thread.priority_free", fvm_create_thread(memory, 12, 1, 6) > 0);
}

/* Everything that fits, until nothing does; then all again after a deletion. */
static void exhaustion(void)
{
    uint32_t memory = FVM_CAP_KERNEL_MEMORY;
    uint32_t end = MEMORY - FVM_OBJECT_THREAD_SIZE;
    /* Slots and priorities whose low bits would do. */
    report("full.far_slot", fvm_create_signal(memory, end, 0x102));
    report("full.far_slot_of_thread", fvm_create_thread(memory, end, 0x1000002, 4));
    report("full.far_priority", fvm_create_thread(memory, end, 2, 0x10004));
    int32_t last = fvm_create_thread(memory, end, 2, 4);
    report("full.last", last > 0);
    report("full.beyond", fvm_create_signal(memory, MEMORY - 8u, 3));
    report("full.wild", fvm_create_signal(memory, 0xFFFFFFFCu, 3));
    report("full.not_aligned", fvm_create_signal(memory, 102, 3));
    report("full.no_kind", fvm_call(FVM_CALL_OBJECT_CREATE, memory, 100, 3 | 3u << 8, 0).r0);
    report("full.no_slot", fvm_create_signal(memory, 100, 4));
    report("full.taken", fvm_create_thread(memory, 100, 3, 3));
    report("full.no_memory", fvm_create_signal(FVM_CAP_TICK, 100, 3));
    report("full.between", fvm_create_signal(memory, 100, 3) > 0);
    report("full.by_another", by(BARE, FVM_CALL_OBJECT_CREATE, 0, 0, 1, 0));
}

/* Faults in the end, in a thread of kernel memory, and sees at its second start that all is free.
 */
static void crash(uint32_t argument)
{
    (void)argument;
    __builtin_trap();
}

static void fault(void)
{
    void *stack = second_stack + sizeof second_stack / sizeof *second_stack;
    report("done", 1);
    uint32_t delegated = (uint32_t)fvm_delegate(FVM_CAP_SLOTS_USER, FVM_CAP_NOTICE, 2, 2);
    ORDER(BARE)->argument[0] = delegated; /* kept for the second start */
    int32_t thread = (int32_t)(FVM_CAP_RUN_TIME | 2u);
    for (uint32_t generation = 0; generation < 16u; generation++) {
        (void)fvm_thread_run((uint32_t)thread | generation << 6, crash, stack, 0);
    }
    for (;;) {
        wait(1);
    }
}

static void second_start(void)
{
    uint32_t memory = FVM_CAP_KERNEL_MEMORY;
    uint32_t delegated = ORDER(BARE)->argument[0];
    report("anew.revoked", by(USER, FVM_CALL_EVT_SND, delegated, 0, 0, 0));
    for (uint32_t slot = 0; slot < 3u; slot++) {
        report("anew.made", fvm_create_thread(memory, slot * 80u, slot, 2u + slot) > 0);
    }
    report("anew.done", 1);
    for (;;) {
        wait(1);
    }
}

int main(void)
{
    report_init();
    if (boots() > 1u) {
        second_start();
    }
    delegation();
    chains();
    refusals();
    restarts();
    signals();
    threads();
    exhaustion();
    fault();
}
