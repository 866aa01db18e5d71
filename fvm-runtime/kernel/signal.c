/* Signals: counters that a process thread waits for; one waiter each. */
#include "kernel/kernel.h"

struct signal {
    struct thread *waiter; /* only while count is 0 */
    uint32_t count;        /* sent since the last wait, saturating */
    uint32_t delivered;    /* handed to waiters since start */
};

static struct signal signal_table[FVM_AT_LEAST_ONE(FVM_SIGNALS)];

void signal_send(uint32_t index)
{
    struct signal *signal = &signal_table[index];
    struct thread *waiter = signal->waiter;
    if (waiter == NULL) {
        signal->count += signal->count != UINT32_MAX;
        return;
    }
    signal->waiter = NULL;
    signal->delivered++;
    scheduler_wake(waiter); /* its wait returns 1: signal_wait */
}

/* The count; or the caller is blocked, and 1 is what it gets when the signal is sent: more that is
 * sent before it runs is counted for its next wait. */
int32_t signal_wait(struct thread *thread, uint32_t index)
{
    struct signal *signal = &signal_table[index];
    uint32_t count = signal->count;
    if (count != 0) {
        signal->count = 0;
        signal->delivered += count;
        return count > INT32_MAX ? INT32_MAX : (int32_t)count;
    }
    if (signal->waiter != NULL) {
        return FVM_E_BUSY;
    }
    interrupt_await(index);
    signal->waiter = thread;
    thread->signal = signal;
    scheduler_block(thread, THREAD_WAITING);
    return 1;
}

void signal_leave(struct thread *thread)
{
    if (thread->signal != NULL && thread->signal->waiter == thread) {
        thread->signal->waiter = NULL;
    }
}

void signal_drop(uint32_t index)
{
    signal_table[index].count = 0;
    interrupt_leave(index);
}

bool signal_status(uint32_t index, uint32_t *delivered, uint32_t *pending)
{
    if (index >= FVM_SIGNALS) {
        return false;
    }
    *delivered = signal_table[index].delivered;
    *pending = signal_table[index].count;
    return true;
}
