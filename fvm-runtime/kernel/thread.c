/* Threads of processes as objects: started, stopped and given another priority by capability.
 *
 * Each priority has one thread, so who runs is one look at a mask. What a thread may be raised to
 * is the limit in the capability. A thread starts anew each time; where it stood is forgotten.
 */
#include "kernel/kernel.h"

#define PRIORITY_LOWEST 1u /* idle has 0 */

bool thread_stop(struct thread *thread)
{
    if (vcpu_of_thread(thread) != NULL) {
        return false; /* a vCPU was halted at once */
    }
    if (invocation_leave(thread)) {
        return true;
    }
    if (FVM_VCPUS != 0) {
        request_leave(thread);
    }
    if (thread->state == THREAD_WAITING) {
        signal_leave(thread);
        thread->state = THREAD_STOPPED; /* even if nobody asks for the step that is left */
        return true;
    }
    scheduler_halt(thread);
    return false;
}

#if FVM_THREAD_CALLS > 0

static struct thread *named(const struct fvm_capability *cap)
{
    struct thread *thread = FVM_MEMORY_WORDS > 0 && cap->index == FVM_NO_INDEX
                                ? slot_object(cap)
                                : &thread_table[cap->index];
    FVM_ONCE(thread);
    return thread;
}

static struct thread *find(const struct thread *caller, uint32_t number, uint8_t right)
{
    const struct fvm_capability *cap = capability_find(caller, number, FVM_CAP_THREAD, right);
    return cap == NULL ? NULL : named(cap);
}

static int32_t start(struct thread *thread, uint32_t argument, uint32_t entry, uint32_t stack)
{
    if (thread->state != THREAD_STOPPED || (domain_stopped() & 1u << thread->domain_index) != 0) {
        return FVM_E_BUSY;
    }
    if (thread->slot < FVM_FAULT_RUN_TIME) {
        domain_prepare_thread(thread);
    } else {
        uint32_t size = context_arch_frame_size();
        if ((stack & 7u) != 0 || !domain_holds(thread->domain, stack - size, size)) {
            return FVM_E_ARGUMENT;
        }
        context_arch_init(thread->context, entry, stack);
    }
    scheduler_wake_later(thread);
    context_arch_result(context_arch_stack(thread->context), argument);
    return FVM_OK;
}

static int32_t stop(struct thread *caller, uint32_t number)
{
    struct thread *thread = caller;
    if (number != FVM_NONE) {
        thread = find(caller, number, FVM_RIGHT_STOP);
    } else if (invocation_is_inside(caller)) {
        return FVM_E_CALL; /* its caller waits for it */
    }
    if (thread == NULL) {
        return FVM_E_CAPABILITY;
    }
    if (thread != caller && scheduler_runs_for(thread) == caller) {
        return FVM_E_CALL; /* the same by its name: nobody would be left to stop it */
    }
    return thread_stop(thread) ? FVM_MORE : FVM_OK;
}

/* FVM_OK, and the thread that a capability lets be given this priority. */
static int32_t movable(const struct thread *caller, uint32_t number, uint32_t priority,
                       struct thread **thread)
{
    const struct fvm_capability *cap =
        capability_find(caller, number, FVM_CAP_THREAD, FVM_RIGHT_CONTROL);
    if (cap == NULL) {
        return FVM_E_CAPABILITY;
    }
    *thread = named(cap);
    return priority - PRIORITY_LOWEST < cap->limit ? FVM_OK : FVM_E_ARGUMENT;
}

static int32_t move(const struct thread *caller, struct call_frame *frame)
{
    struct thread *first = NULL, *second = NULL;
    int32_t result = movable(caller, frame->r[0], frame->r[1], &first);
    if (result == FVM_OK && frame->r[2] != FVM_NONE) {
        result = movable(caller, frame->r[2], frame->r[3], &second);
    }
    return result == FVM_OK ? scheduler_move(frame, first, frame->r[1], second, frame->r[3])
                            : result;
}

int32_t thread_call(struct call_frame *frame, struct thread *caller)
{
    switch (frame->number) {
    case FVM_CALL_THREAD_START: {
        struct thread *thread = find(caller, frame->r[0], FVM_RIGHT_START);
        return thread == NULL ? FVM_E_CAPABILITY
                              : start(thread, frame->r[1], frame->r[2], frame->r[3]);
    }
    case FVM_CALL_THREAD_STOP:
        return stop(caller, frame->r[0]);
    default: /* FVM_CALL_THREAD_PRIORITY */
        return move(caller, frame);
    }
}

#endif
