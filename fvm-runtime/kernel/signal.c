/* Signals: counters that a process thread waits for; one waiter each. */
#include "kernel/kernel.h"

struct signal {
    struct thread *waiter;
    uint32_t count;     /* sent since the last wait, saturating */
    uint32_t delivered; /* handed to waiters since start */
};

static struct signal signal_table[FVM_AT_LEAST_ONE(FVM_SIGNALS)];

static uint32_t take(struct signal *signal)
{
    uint32_t count = signal->count;
    signal->count = 0;
    signal->delivered += count;
    return count;
}

void signal_send(uint32_t index)
{
    struct signal *signal = &signal_table[index];
    if (signal->count != UINT32_MAX) {
        signal->count++;
    }
    struct thread *waiter = signal->waiter;
    if (waiter == NULL) {
        return;
    }
    signal->waiter = NULL;
    waiter->signal = NULL;
    uint32_t stack = context_arch_stack(waiter->context);
    if (domain_holds(waiter->domain, stack, context_arch_frame_size())) {
        context_arch_result(stack, take(signal));
    }
    scheduler_ready(waiter);
}

/* The count, or the caller is blocked and gets it when the signal is sent. */
int32_t signal_wait(struct thread *thread, uint32_t index)
{
    struct signal *signal = &signal_table[index];
    if (signal->count != 0) {
        uint32_t count = take(signal);
        return count > INT32_MAX ? INT32_MAX : (int32_t)count;
    }
    if (signal->waiter != NULL) {
        return FVM_E_BUSY;
    }
    interrupt_await(index);
    signal->waiter = thread;
    thread->signal = signal;
    scheduler_block(thread, THREAD_WAITING);
    return FVM_OK;
}

void signal_leave(struct thread *thread)
{
    if (thread->signal != NULL) {
        thread->signal->waiter = NULL;
        thread->signal = NULL;
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
