/* Calls and budgets that the hypervisor decides on. USR is blocked until the reply; the hypervisor
 * outranks every VM, so neither USR nor VCT of the caller runs in between. The hypervisor says yes
 * or no; what was asked for is then done here, within the description, whatever it said.
 */
#include "kernel/kernel.h"

static uint32_t posted;    /* bit: vCPU with a call to decide on */
static uint32_t exhausted; /* bit: vCPU that is due for the budget of a new round */

static struct thread *server;     /* waits for a request, or NULL */
static struct call_frame *answer; /* of its call; in the memory that was checked on entry */

/* The next request goes into the frame, if there is one. */
static bool take(struct call_frame *frame)
{
    if (posted != 0) {
        struct vcpu *vcpu = &vcpu_table[__builtin_ctz(posted)];
        frame->r[0] = (uint32_t)__builtin_ctz(posted);
        frame->r[1] = vcpu->request;
        frame->r[2] = vcpu->request_argument[0];
        frame->r[3] = vcpu->request_argument[1];
        posted &= posted - 1u;
        return true;
    }
    if (exhausted != 0) {
        frame->r[0] = (uint32_t)__builtin_ctz(exhausted);
        frame->r[1] = FVM_REQUEST_BUDGET;
        exhausted &= exhausted - 1u;
        return true;
    }
    return false;
}

static void notify(void)
{
    if (server != NULL && take(answer)) {
        scheduler_wake(server);
        server = NULL;
    }
}

/* USR waits, but its vCPU doesn't sleep: the hypervisor decides before any VM runs again, so the
 * vCPU keeps its turn. */
int32_t request_post(struct thread *usr, const struct call_frame *frame)
{
    struct vcpu *vcpu = usr->vcpu;
    if (vcpu->locked) {
        return FVM_E_LOCKED;
    }
    if (server == NULL) {
        return FVM_E_BUSY; /* never while a VM runs, unless the hypervisor is broken */
    }
    vcpu->request = (uint8_t)frame->number;
    vcpu->request_argument[0] = frame->r[0];
    vcpu->request_argument[1] = frame->r[1];
    posted |= vcpu->bit;
    usr->state = THREAD_WAITING;
    notify();
    return FVM_E_BUSY; /* in case it gets no reply */
}

void request_budget(uint32_t due)
{
    if (FVM_VCPUS != 0) {
        exhausted |= due;
        notify();
    }
}

/* Does what the vCPU asked for and the hypervisor agreed to. */
static int32_t perform(struct vcpu *vcpu)
{
    uint32_t first = vcpu->request_argument[0], second = vcpu->request_argument[1];
    switch (vcpu->request) {
    case FVM_CALL_VCT_PHYS:
        return interrupt_route(vcpu, first, second);
    case FVM_CALL_VCT_EVT:
        return event_bind(vcpu, first, second);
    case FVM_CALL_EVT_ADD:
        return event_grant(vcpu, first);
    default: /* FVM_CALL_VCT_LCK */
        vcpu->locked = true;
        return FVM_OK;
    }
}

static int32_t reply(struct vcpu *vcpu, int32_t verdict)
{
    if (vcpu->request == FVM_NO_REQUEST) {
        return FVM_E_ARGUMENT; /* stopped meanwhile */
    }
    int32_t result = verdict == FVM_OK ? perform(vcpu) : verdict;
    vcpu->request = FVM_NO_REQUEST;
    uint32_t stack = context_arch_stack(vcpu->usr->context);
    if (domain_holds(vcpu->usr->domain, stack, context_arch_frame_size())) {
        context_arch_result(stack, (uint32_t)result);
    }
    scheduler_wake_vcpu(vcpu, vcpu->usr);
    return FVM_OK;
}

int32_t request_next(struct thread *thread, struct vcpu *replied, struct call_frame *frame)
{
    if (replied != NULL) {
        (void)reply(replied, (int32_t)frame->r[2]); /* or its VM was stopped: nobody waits */
    }
    if (take(frame)) {
        return (int32_t)frame->r[0];
    }
    if (server != NULL) {
        return FVM_E_BUSY;
    }
    server = thread;
    answer = frame;
    frame->r[0] = (uint32_t)FVM_E_BUSY;
    scheduler_block(thread, THREAD_WAITING);
    return (int32_t)frame->r[0]; /* blocking may have passed the turn: that is a request */
}

void request_leave(const struct thread *thread)
{
    if (server == thread) {
        server = NULL;
    }
}

void request_drop(struct vcpu *vcpu)
{
    vcpu->request = FVM_NO_REQUEST;
    posted &= ~vcpu->bit;
}
