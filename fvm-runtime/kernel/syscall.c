/* System calls: decode, check, hand over. Every argument is hostile; every refusal is a result. */
#include "kernel/kernel.h"

static FVM_RARE int32_t reboot_request(struct thread *caller)
{
    fault_raise(caller, FVM_FAULT_RESET, &(struct fault_detail){0});
    return FVM_OK;
}

/* Calls that VCT can't make. */
static int32_t usr_call(struct thread *usr, const struct call_frame *frame)
{
    if (frame->number == FVM_CALL_RESUME) {
        vcpu_resume(usr->vcpu, frame->r[0], frame->r[1]);
        return FVM_OK;
    }
    if (frame->number >= FVM_CALL_HYPERVISOR && frame->number < FVM_CALL_HYPERVISOR_END) {
        return request_post(usr, frame);
    }
    return FVM_E_CALL;
}

/* Calls of a VM about itself. */
static int32_t vcpu_call(struct thread *caller, struct call_frame *frame)
{
    struct vcpu *vcpu = caller->vcpu;
    switch (frame->number) {
    case FVM_CALL_INT_ENA:
    case FVM_CALL_INT_DIS:
        vcpu_open(vcpu, frame->number == FVM_CALL_INT_ENA);
        return FVM_OK;
    case FVM_CALL_IRQ_ENA:
    case FVM_CALL_IRQ_DIS:
        return interrupt_enable(vcpu, frame->r[0], frame->number == FVM_CALL_IRQ_ENA);
    case FVM_CALL_IRQ_DONE:
        return vcpu_done(vcpu, frame->r[0]);
    case FVM_CALL_TICK_SET:
        return vcpu_tick_set(vcpu, frame->r[0]);
    case FVM_CALL_WDG_CLR:
        vcpu_feed(vcpu);
        return FVM_OK;
    case FVM_CALL_EVT_SND:
        return event_send(frame->r[0], caller->domain_index);
    case FVM_CALL_VCT_WAKE:
        vcpu_wake_self(vcpu);
        return FVM_OK;
    case FVM_CALL_PIN_SET:
        return pin_set(caller->domain_index, frame->r[0], frame->r[1], frame->r[2]);
    case FVM_CALL_PIN_GET:
        return pin_get(caller->domain_index, frame->r[0], frame->r[1]);
    case FVM_CALL_CYCLES:
        return (int32_t)timer_arch_now();
    case FVM_CALL_REBOOT:
        return reboot_request(caller);
    case FVM_CALL_VCT_WAIT: /* its result first: VCT may move the frame before USR goes on */
        vcpu_wait(caller, frame->r[0]);
        return FVM_OK;
    default:
        return caller == vcpu->usr ? usr_call(caller, frame) : FVM_E_CALL;
    }
}

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
        frame->r[1] = domain_table[index].epoch;
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

static int32_t on_wait(struct thread *caller, uint32_t number)
{
    const struct fvm_capability *cap =
        capability_find(caller, number, FVM_CAP_SIGNAL, FVM_RIGHT_WAIT);
    if (cap == NULL) {
        return FVM_E_CAPABILITY;
    }
    return of_run_time(cap) ? signal_wait_for(caller, slot_object(cap))
                            : signal_wait(caller, cap->index);
}

static int32_t on_send(struct thread *caller, uint32_t number)
{
    const struct fvm_capability *cap =
        capability_find(caller, number, FVM_CAP_SIGNAL, FVM_RIGHT_SEND);
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

static FVM_RARE int32_t on_request(struct thread *caller, struct call_frame *frame)
{
    const struct fvm_capability *signal =
        capability_find(caller, frame->r[0], FVM_CAP_SIGNAL, FVM_RIGHT_WAIT);
    if (FVM_VCPUS == 0 || signal == NULL || signal->index != fvm_vcpu[0].request_signal) {
        return FVM_E_CAPABILITY;
    }
    struct vcpu *replied = NULL;
    if (frame->r[1] != FVM_NONE) {
        const struct fvm_capability *cap = find_vcpu(caller, frame->r[1]);
        if (cap == NULL) {
            return FVM_E_CAPABILITY;
        }
        replied = &vcpu_table[cap->index];
    }
    return request_next(caller, replied, frame);
}

static FVM_RARE int32_t on_budget(struct thread *caller, const struct call_frame *frame)
{
    const struct fvm_capability *cap = find_vcpu(caller, frame->r[0]);
    return cap == NULL ? FVM_E_CAPABILITY
                       : scheduler_replenish(&vcpu_table[cap->index], frame->r[1]);
}

static FVM_RARE int32_t on_log(struct thread *caller, struct call_frame *frame)
{
    uint8_t right = frame->number == FVM_CALL_FAULT_NEXT ? FVM_RIGHT_CONTROL : FVM_RIGHT_READ;
    if (capability_find(caller, frame->r[0], FVM_CAP_LOG, right) == NULL) {
        return FVM_E_CAPABILITY;
    }
    switch (frame->number) {
    case FVM_CALL_FAULT_READ:
        fault_read(frame->r[1], frame->r[2], frame);
        return (int32_t)frame->r[0];
    case FVM_CALL_FAULT_NEXT:
        return fault_next();
    default:
        return status(frame);
    }
}

static FVM_RARE int32_t on_domain(struct thread *caller, const struct call_frame *frame)
{
    const struct fvm_capability *cap =
        capability_find(caller, frame->r[0], FVM_CAP_DOMAIN, FVM_RIGHT_CONTROL);
    if (cap == NULL) {
        return FVM_E_CAPABILITY;
    }
    if (cap->index == caller->domain_index) {
        return FVM_E_ARGUMENT; /* nobody would be left to finish the restart */
    }
    switch (frame->number) {
    case FVM_CALL_DOMAIN_STOP:
        return domain_stop(cap->index);
    case FVM_CALL_DOMAIN_RESTART:
        return domain_restart(cap->index);
    default:
        return fault_decided(cap->index, frame->r[1], frame->r[2]);
    }
}

static FVM_RARE int32_t on_function(struct thread *caller, struct call_frame *frame)
{
    if (FVM_FUNCTIONS == 0) {
        return FVM_E_CALL;
    }
    const struct fvm_capability *cap =
        capability_find(caller, frame->r[0], FVM_CAP_FUNCTION, FVM_RIGHT_INVOKE);
    if (cap == NULL) {
        return FVM_E_CAPABILITY;
    }
    switch (cap->index) {
    case FVM_FUNCTION_RESET:
        cpu_arch_reset();
    case FVM_FUNCTION_RESTART:
        return reboot_request(caller);
    case FVM_FUNCTION_TICKS:
        frame->r[1] = time_ticks();
        return FVM_OK;
    default: /* FVM_FUNCTION_CYCLES */
        frame->r[1] = timer_arch_now();
        return FVM_OK;
    }
}

static int32_t on_event(struct thread *caller, const struct call_frame *frame)
{
    const struct fvm_capability *cap =
        capability_find(caller, frame->r[0], FVM_CAP_EVENT, FVM_RIGHT_SEND);
    return FVM_EVENTS == 0 || cap == NULL ? FVM_E_CAPABILITY : event_deliver(cap->index);
}

static FVM_RARE int32_t on_timer(struct thread *caller, const struct call_frame *frame)
{
    const struct fvm_capability *cap =
        capability_find(caller, frame->r[0], FVM_CAP_TIMER, FVM_RIGHT_CONTROL);
    return FVM_TIMERS == 0 || cap == NULL ? FVM_E_CAPABILITY : time_set(cap->index, frame->r[1]);
}

/* Calls of a process, each on a capability. */
static int32_t process_call(struct thread *caller, struct call_frame *frame)
{
    switch (frame->number) {
    case FVM_CALL_SIGNAL_WAIT:
        return on_wait(caller, frame->r[0]);
    case FVM_CALL_SIGNAL_SEND:
        return on_send(caller, frame->r[0]);
    case FVM_CALL_EVT_SND:
        return on_event(caller, frame);
    case FVM_CALL_INVOKE:
    case FVM_CALL_INVOKE_RETURN:
    case FVM_CALL_PORT_OPEN:
        return invocation_call(caller, frame);
    case FVM_CALL_FUNCTION:
        return on_function(caller, frame);
    case FVM_CALL_THREAD_START:
    case FVM_CALL_THREAD_STOP:
    case FVM_CALL_THREAD_PRIORITY:
        return thread_call(caller, frame);
    case FVM_CALL_CAP_DELEGATE:
    case FVM_CALL_CAP_REVOKE:
    case FVM_CALL_CAP_DELETE:
        return slot_call(caller, frame);
    case FVM_CALL_OBJECT_CREATE:
        return memory_create(caller, frame);
    case FVM_CALL_REQUEST_NEXT:
        return on_request(caller, frame);
    case FVM_CALL_VCPU_BUDGET:
        return on_budget(caller, frame);
    case FVM_CALL_DOMAIN_STOP:
    case FVM_CALL_DOMAIN_RESTART:
    case FVM_CALL_FAULT_DECIDED:
        return on_domain(caller, frame);
    case FVM_CALL_FAULT_READ:
    case FVM_CALL_FAULT_NEXT:
    case FVM_CALL_STATUS:
        return on_log(caller, frame);
    case FVM_CALL_TIMER_SET:
        return on_timer(caller, frame);
    default:
        return FVM_E_CALL;
    }
}

void syscall_dispatch(struct call_frame *frame, struct thread *caller)
{
    bool of_vm = vcpu_of_thread(caller) != NULL;
    frame->r[0] = (uint32_t)(of_vm ? vcpu_call(caller, frame) : process_call(caller, frame));
}
