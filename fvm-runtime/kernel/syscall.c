/* Calls of processes, each on a capability: check, hand over. Every argument is hostile; every
 * refusal is a result. The architecture's entry looks a call's function up by its number. */
#include "kernel/kernel.h"

static FVM_RARE int32_t status(struct call_frame *frame)
{
    uint32_t subject = frame->r[1], index = frame->r[2];
    if (subject == FVM_STATUS_KERNEL) {
        frame->r[1] = fault_lost();
        frame->r[2] = protection_arch_active();
        frame->r[3] = domain_stopped();
        return (int32_t)time_ticks();
    }
    if (subject == FVM_STATUS_DOMAIN && index < FVM_DOMAINS) {
        const struct vcpu *vcpu = vcpu_of_domain(&fvm_domain[index]);
        frame->r[1] = domain_table[index].restarts; /* the epoch */
        frame->r[2] = vcpu == NULL ? 0 : vcpu->tick_served;
        frame->r[3] = vcpu == NULL ? 0 : vcpu->tick_dropped;
        return (int32_t)domain_table[index].restarts;
    }
    uint32_t delivered;
    if (subject == FVM_STATUS_SIGNAL && signal_status(index, &delivered, &frame->r[1])) {
        frame->r[2] = frame->r[3] = 0;
        return (int32_t)delivered;
    }
    return FVM_E_ARGUMENT;
}

static bool of_run_time(const struct fvm_capability *cap)
{
    return FVM_MEMORY_WORDS > 0 && cap->index == FVM_NO_INDEX;
}

static int32_t on_wait(struct call_frame *frame, struct thread *caller)
{
    const struct fvm_capability *cap =
        capability_find(caller, frame->r[0], FVM_CAP_SIGNAL, FVM_RIGHT_WAIT);
    if (cap == NULL) {
        return FVM_E_CAPABILITY;
    }
    return of_run_time(cap) ? signal_wait_for(caller, slot_object(cap))
                            : signal_wait(caller, cap->index);
}

static int32_t on_send(struct call_frame *frame, struct thread *caller)
{
    const struct fvm_capability *cap =
        capability_find(caller, frame->r[0], FVM_CAP_SIGNAL, FVM_RIGHT_SEND);
    if (cap == NULL) {
        return FVM_E_CAPABILITY;
    }
    if (of_run_time(cap)) {
        signal_send_to(slot_object(cap));
    } else {
        signal_send(cap->index);
    }
    return FVM_OK;
}

static const struct fvm_capability *find_vcpu(const struct thread *caller, uint32_t number)
{
    return FVM_VCPUS == 0 ? NULL : capability_find(caller, number, FVM_CAP_VCPU, FVM_RIGHT_CONTROL);
}

static int32_t on_request(struct call_frame *frame, struct thread *caller)
{
    const struct fvm_capability *signal =
        capability_find(caller, frame->r[0], FVM_CAP_SIGNAL, FVM_RIGHT_WAIT);
    if (FVM_VCPUS == 0 || signal == NULL || signal->index != fvm_vcpu[0].request_signal) {
        return FVM_E_CAPABILITY;
    }
    return request_next(caller, (int32_t)frame->r[1], frame);
}

static int32_t on_budget(struct call_frame *frame, struct thread *caller)
{
    const struct fvm_capability *cap = find_vcpu(caller, frame->r[0]);
    return cap == NULL ? FVM_E_CAPABILITY
                       : scheduler_replenish(&vcpu_table[cap->index], frame->r[1]);
}

static int32_t on_log(struct call_frame *frame, struct thread *caller)
{
    uint8_t right = frame->number == FVM_CALL_FAULT_NEXT ? FVM_RIGHT_CONTROL : FVM_RIGHT_READ;
    if (capability_find(caller, frame->r[0], FVM_CAP_LOG, right) == NULL) {
        return FVM_E_CAPABILITY;
    }
    switch (frame->number) {
    case FVM_CALL_FAULT_READ:
        return fault_read(frame->r[1], frame->r[2], frame);
    case FVM_CALL_FAULT_NEXT:
        return fault_next();
    default:
        return status(frame);
    }
}

static int32_t on_domain(struct call_frame *frame, struct thread *caller)
{
    const struct fvm_capability *cap =
        capability_find(caller, frame->r[0], FVM_CAP_DOMAIN, FVM_RIGHT_CONTROL);
    if (cap == NULL) {
        return FVM_E_CAPABILITY;
    }
    /* A port has the priority of whoever called: the domain's threads might run in the middle of
     * this. And if it is one of its own chain, nobody would be left to finish the restart. A chain
     * isn't followed, for each step of a restart would do it again: from its second port on nobody
     * decides. */
    if (invocation_is_inside(caller) &&
        (caller->priority <= cap->limit || invocation_may_be_for(caller, cap->index))) {
        return FVM_E_ARGUMENT;
    }
    if (frame->number == FVM_CALL_DOMAIN_RESTART) { /* the longest path comes first */
        return domain_restart(cap->index);
    }
    if (frame->number == FVM_CALL_DOMAIN_STOP) {
        return domain_stop(cap->index);
    }
    if (FVM_DECIDERS > 0 && frame->r[1] == FVM_ASK) {
        return (cap->rights & FVM_RIGHT_START) != 0 ? domain_let_go(cap->index) : FVM_E_CAPABILITY;
    }
    return fault_decided(cap->index, frame->r[1], frame->r[2]);
}

static int32_t on_function(struct call_frame *frame, struct thread *caller)
{
    const struct fvm_capability *cap =
        capability_find(caller, frame->r[0], FVM_CAP_FUNCTION, FVM_RIGHT_INVOKE);
    if (cap == NULL) {
        return FVM_E_CAPABILITY;
    }
    switch (cap->index) {
    case FVM_FUNCTION_RESET:
        cpu_arch_reset();
    case FVM_FUNCTION_RESTART:
        fault_raise(caller, FVM_FAULT_RESET, 0, 0);
        return FVM_OK;
    case FVM_FUNCTION_TICKS:
        frame->r[1] = time_ticks();
        return FVM_OK;
    default: /* FVM_FUNCTION_CYCLES */
        frame->r[1] = timer_arch_now();
        return FVM_OK;
    }
}

static int32_t on_event(struct call_frame *frame, struct thread *caller)
{
    const struct fvm_capability *cap =
        capability_find(caller, frame->r[0], FVM_CAP_EVENT, FVM_RIGHT_SEND);
    return FVM_EVENTS == 0 || cap == NULL ? FVM_E_CAPABILITY : event_deliver(cap->index);
}

static int32_t on_timer(struct call_frame *frame, struct thread *caller)
{
    const struct fvm_capability *cap =
        capability_find(caller, frame->r[0], FVM_CAP_TIMER, FVM_RIGHT_CONTROL);
    return FVM_TIMERS == 0 || cap == NULL ? FVM_E_CAPABILITY : time_set(cap->index, frame->r[1]);
}

int32_t no_call(struct call_frame *frame, struct thread *caller)
{
    (void)frame, (void)caller;
    return FVM_E_CALL;
}

/* Those of objects that no process has are refused, and not linked. */
#define WITH(some, call) ((some) ? (call) : no_call)

#pragma GCC diagnostic ignored "-Wpedantic" /* ranges of elements */
kernel_call *const syscall_table[FVM_CALLS] = {
    [0 ... 7] = no_call,
    [FVM_CALL_EVT_SND] = on_event,
    [9 ... 31] = no_call,
    [FVM_CALL_SIGNAL_WAIT] = on_wait,
    [FVM_CALL_SIGNAL_SEND] = on_send,
    [FVM_CALL_REQUEST_NEXT] = on_request,
    [FVM_CALL_DOMAIN_STOP] = on_domain,
    [FVM_CALL_TEXT_TAKE] = WITH(FVM_TEXTS, text_take),
    [37 ... 38] = no_call,
    [FVM_CALL_VCPU_BUDGET] = on_budget,
    [FVM_CALL_DOMAIN_RESTART] = on_domain,
    [FVM_CALL_FAULT_READ] = on_log,
    [FVM_CALL_FAULT_NEXT] = on_log,
    [FVM_CALL_STATUS] = on_log,
    [FVM_CALL_INVOKE] = WITH(FVM_PORTS, invocation_call),
    [FVM_CALL_INVOKE_RETURN] = WITH(FVM_PORTS, invocation_call),
    [FVM_CALL_PORT_OPEN] = WITH(FVM_PORTS, invocation_call),
    [FVM_CALL_FUNCTION] = WITH(FVM_FUNCTIONS, on_function),
    [FVM_CALL_THREAD_START] = WITH(FVM_THREAD_CALLS, thread_call),
    [FVM_CALL_THREAD_STOP] = WITH(FVM_THREAD_CALLS, thread_call),
    [FVM_CALL_THREAD_PRIORITY] = WITH(FVM_THREAD_CALLS, thread_call),
    [FVM_CALL_CAP_DELEGATE] = WITH(FVM_SLOTS, slot_call),
    [FVM_CALL_CAP_REVOKE] = WITH(FVM_SLOTS, slot_call),
    [FVM_CALL_CAP_DELETE] = WITH(FVM_SLOTS, slot_call),
    [FVM_CALL_OBJECT_CREATE] = WITH(FVM_MEMORY_WORDS, memory_create),
    [55 ... 59] = no_call,
    [FVM_CALL_FAULT_DECIDED] = on_domain,
    [FVM_CALL_TIMER_SET] = on_timer,
};
