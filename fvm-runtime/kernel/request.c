/* Calls and budgets that the hypervisor decides on. Its manager takes one at a time and outranks
 * every VM, so no VM runs between a call and the decision: the caller just finds its result. What
 * is not in the description never gets here; of the rest the hypervisor says yes or no.
 */
#include "kernel/kernel.h"
#include "kernel/turn.h"

struct request request;

/* Due budgets go into the frame, if there are any. */
static bool take(struct call_frame *frame)
{
    if (request.exhausted == 0) {
        return false;
    }
    frame->r[0] = (uint32_t)__builtin_ctz(request.exhausted);
    frame->r[1] = FVM_REQUEST_BUDGET;
    request.exhausted &= request.exhausted - 1u;
    return true;
}

static void serve(void)
{
    request.answer = NULL;
    scheduler_wake(request.server);
}

/* VCT can't ask the hypervisor, and nobody after the lockdown. */
static inline int32_t may_ask(const struct thread *caller)
{
    if (caller != caller->vcpu->usr) {
        return FVM_E_CALL;
    }
    return caller->vcpu->locked != 0 ? FVM_E_LOCKED : FVM_OK;
}

/* Asks for `right` to become `granted`. The arguments are those that were checked: the frame's
 * words aren't read twice. */
static inline int32_t ask(struct vcpu *vcpu, struct call_frame *frame, uint32_t a, uint32_t b,
                          uint8_t *right, uint32_t granted)
{
    struct call_frame *answer = request.answer;
    if (answer == NULL) {
        return FVM_E_BUSY; /* never while a VM runs, unless the hypervisor is broken */
    }
    request.asking = vcpu;
    request.call = frame;
    request.right = right;
    request.granted = granted;
    answer->r[0] = vcpu->index;
    answer->r[1] = frame->number;
    answer->r[2] = a;
    answer->r[3] = b;
    request.answer = NULL;
    turn_hand_over(request.server);
    return FVM_E_BUSY; /* until it is decided */
}

int32_t request_line(struct call_frame *frame, struct thread *caller)
{
    struct vcpu *vcpu = caller->vcpu;
    uint32_t line = frame->r[0], virt_id = frame->r[1];
    uint8_t *right;
    int32_t result = may_ask(caller);
    if (result == FVM_OK) {
        result = interrupt_route(vcpu, line, virt_id, &right);
    }
    return result == FVM_OK ? ask(vcpu, frame, line, virt_id, right, line) : result;
}

static int32_t find_right(struct vcpu *vcpu, uint32_t call, uint32_t event, uint32_t virt_id,
                          uint8_t **right)
{
    switch (call) {
    case FVM_CALL_VCT_EVT:
        return event_bind(vcpu, event, virt_id, right);
    case FVM_CALL_EVT_ADD:
        return event_grant(vcpu, event, right);
    default: /* FVM_CALL_VCT_LCK */
        *right = &vcpu->locked;
        return FVM_OK;
    }
}

int32_t request_right(struct call_frame *frame, struct thread *caller)
{
    struct vcpu *vcpu = caller->vcpu;
    uint32_t event = frame->r[0], virt_id = frame->r[1];
    uint8_t *right;
    int32_t result = may_ask(caller);
    if (result == FVM_OK) {
        result = find_right(vcpu, frame->number, event, virt_id, &right);
    }
    return result == FVM_OK ? ask(vcpu, frame, event, virt_id, right, 1) : result;
}

void request_budget(uint32_t due)
{
    if (FVM_VCPUS != 0) {
        request.exhausted |= due;
        if (request.answer != NULL && take(request.answer)) {
            serve();
        }
    }
}

/* The architecture's entry does it itself where nothing else is due: request.inc. */
int32_t request_next(struct thread *thread, int32_t verdict, struct call_frame *frame)
{
    if (request.asking != NULL) {
        if (verdict == FVM_OK) {
            *request.right = (uint8_t)request.granted;
        }
        request.call->r[0] = (uint32_t)verdict;
        request.asking = NULL;
    }
    if (take(frame)) {
        return (int32_t)frame->r[0];
    }
    if (request.answer != NULL) {
        return FVM_E_BUSY;
    }
    request.server = thread;
    request.answer = frame;
    scheduler_block(thread, THREAD_WAITING);
    return FVM_E_BUSY; /* until there is a request */
}

void request_leave(const struct thread *thread)
{
    if (request.server == thread) {
        request.server = NULL;
        request.answer = NULL;
    }
}

void request_drop(const struct vcpu *vcpu)
{
    if (request.asking == vcpu) {
        request.asking = NULL;
    }
}
