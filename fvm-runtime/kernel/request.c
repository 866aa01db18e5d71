/* Calls and budgets that the hypervisor decides on. Its manager takes one at a time and outranks
 * every VM, so no VM runs between a call and the decision: the caller just finds its result. What
 * is not in the description never gets here; of the rest the hypervisor says yes or no.
 */
#include "kernel/kernel.h"

static struct {                /* together: one address for all */
    uint32_t exhausted;        /* bit: vCPU that is due for the budget of a new round */
    struct thread *server;     /* waits for a request, or NULL */
    struct call_frame *answer; /* of its call; in the memory that was checked on entry */
    struct vcpu *asking;       /* whose call is being decided on, or NULL */
    struct call_frame *call;   /* that call, as `answer` */
    uint8_t *right;            /* what it asks for: that this becomes `granted` */
    uint8_t granted;
} request;

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
    scheduler_wake(request.server);
    request.server = NULL;
}

int32_t request_post(struct vcpu *vcpu, struct call_frame *frame, uint8_t *right, uint32_t value)
{
    if (request.server == NULL) {
        return FVM_E_BUSY; /* never while a VM runs, unless the hypervisor is broken */
    }
    request.asking = vcpu;
    request.call = frame;
    request.right = right;
    request.granted = (uint8_t)value;
    request.answer->r[0] = (uint32_t)__builtin_ctz(vcpu->bit);
    request.answer->r[1] = frame->number;
    request.answer->r[2] = frame->r[0];
    request.answer->r[3] = frame->r[1];
    serve();
    return FVM_E_BUSY; /* until it is decided */
}

void request_budget(uint32_t due)
{
    if (FVM_VCPUS != 0) {
        request.exhausted |= due;
        if (request.server != NULL && take(request.answer)) {
            serve();
        }
    }
}

int32_t request_next(struct thread *thread, int32_t verdict, struct call_frame *frame)
{
    if (request.asking != NULL) {
        if (verdict == FVM_OK) {
            *request.right = request.granted;
        }
        request.call->r[0] = (uint32_t)verdict;
        request.asking = NULL;
    }
    if (take(frame)) {
        return (int32_t)frame->r[0];
    }
    if (request.server != NULL) {
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
    }
}

void request_drop(const struct vcpu *vcpu)
{
    if (request.asking == vcpu) {
        request.asking = NULL;
    }
}
