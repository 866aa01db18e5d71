/* Signals: counters that a process thread waits for; one waiter each. */
#include "kernel/kernel.h"

struct signal {            /* the architecture's entry knows it */
    struct thread *waiter; /* only while count is 0 */
    uint32_t count;        /* sent since the last wait, saturating */
    uint32_t delivered;    /* handed to waiters since start; one that waits now is counted */
};

_Static_assert(sizeof(struct signal) == 12 && offsetof(struct signal, count) == 4 &&
                   offsetof(struct signal, delivered) == 8,
               "signal.inc");
_Static_assert(sizeof(struct signal) <= FVM_OBJECT_SIGNAL_SIZE, "size is ABI");

extern struct signal signal_table[]; /* that entry knows this too */
struct signal signal_table[FVM_AT_LEAST_ONE(FVM_SIGNALS)];

static inline void send(struct signal *signal)
{
    struct thread *waiter = signal->waiter;
    if (waiter == NULL) {
        signal->count += signal->count != UINT32_MAX;
        return;
    }
    signal->waiter = NULL;
    scheduler_wake(waiter); /* its wait returns 1: block */
}

/* What was sent meanwhile, or FVM_E_BUSY; 0: nothing, and the caller may block. */
static inline int32_t collect(struct signal *signal)
{
    uint32_t count = signal->count;
    if (count != 0) {
        signal->count = 0;
        signal->delivered += count;
        return count > INT32_MAX ? INT32_MAX : (int32_t)count;
    }
    return signal->waiter != NULL ? FVM_E_BUSY : 0;
}

/* 1 is what the caller gets when the signal is sent: more that is sent before it runs is counted
 * for its next wait. */
static inline int32_t block(struct thread *thread, struct signal *signal)
{
    signal->waiter = thread;
    signal->delivered++;
    thread->signal = signal;
    scheduler_block(thread, THREAD_WAITING);
    return 1;
}

void signal_send(uint32_t index)
{
    struct signal *signal = &signal_table[index];
    FVM_ONCE(signal);
    send(signal);
}

void signal_send_later(uint32_t index)
{
    struct signal *signal = &signal_table[index];
    struct thread *waiter = signal->waiter;
    if (waiter == NULL) {
        send(signal);
    } else {
        signal->waiter = NULL;
        scheduler_wake_later(waiter);
    }
}

int32_t signal_wait(struct thread *thread, uint32_t index)
{
    struct signal *signal = &signal_table[index];
    FVM_ONCE(signal);
    int32_t result = collect(signal);
    if (result != 0) {
        return result;
    }
    interrupt_await(index);
    return block(thread, signal);
}

void signal_send_to(struct signal *signal) { send(signal); }

int32_t signal_wait_for(struct thread *thread, struct signal *signal)
{
    int32_t result = collect(signal);
    return result != 0 ? result : block(thread, signal);
}

void signal_create(struct signal *signal) { *signal = (struct signal){.waiter = NULL}; }

bool signal_dismiss(struct signal *signal)
{
    struct thread *waiter = signal->waiter;
    if (waiter == NULL) {
        return false;
    }
    context_arch_result(context_arch_stack(waiter->context), (uint32_t)FVM_E_CAPABILITY);
    signal->waiter = NULL;
    scheduler_wake_later(waiter);
    return true;
}

/* A thread that doesn't wait may have waited for one that is gone. */
void signal_leave(struct thread *thread)
{
    if (thread->state == THREAD_WAITING && thread->signal != NULL &&
        thread->signal->waiter == thread) {
        thread->signal->waiter = NULL;
        thread->signal->delivered--;
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
    *delivered = signal_table[index].delivered - (signal_table[index].waiter != NULL);
    *pending = signal_table[index].count;
    return true;
}
