/* Calls and budgets that the hypervisor decides on. Its manager takes one at a time and outranks
 * every VM, so no VM runs between a call and the decision: the caller just finds its result. What is
 * not in the description never gets here; of the rest the hypervisor says yes or no.
 */
#include "kernel/kernel.h"

static uint32_t exhausted; /* bit: vCPU that is due for the budget of a new round */

static struct thread *server;     /* waits for a request, or NULL */
static struct call_frame *answer; /* of its call; in the memory that was checked on entry */

static struct vcpu *asking;     /* whose call is being decided on, or NULL */
static struct call_frame *call; /* that call, as `answer` */
static uint8_t *right;          /* what it asks for: that this becomes `granted` */
static uint8_t granted;

/* Due budgets go into the frame, if there are any. */
static bool take(struct call_frame *frame)
{
    if (exhausted == 0) {
        return false;
    }
    frame->r[0] = (uint32_t)__builtin_ctz(exhausted);
    frame->r[1] = FVM_REQUEST_BUDGET;
    exhausted &= exhausted - 1u;
    return true;
}

static void serve(void)
{
    scheduler_wake(server);
    server = NULL;
}

int32_t request_post(struct vcpu *vcpu, struct call_frame *frame, uint8_t *place, uint32_t value)
{
    if (server == NULL) {
        return FVM_E_BUSY; /* never while a VM runs, unless the hypervisor is broken */
    }
    asking = vcpu;
    call = frame;
    right = place;
    granted = (uint8_t)value;
    answer->r[0] = (uint32_t)__builtin_ctz(vcpu->bit);
    answer->r[1] = frame->number;
    answer->r[2] = frame->r[0];
    answer->r[3] = frame->r[1];
    serve();
    return FVM_E_BUSY; /* until it is decided */
}

void request_budget(uint32_t due)
{
    if (FVM_VCPUS != 0) {
        exhausted |= due;
        if (server != NULL && take(answer)) {
            serve();
        }
    }
}

int32_t request_next(struct thread *thread, int32_t verdict, struct call_frame *frame)
{
    struct vcpu *decided = asking;
    if (decided != NULL) {
        if (verdict == FVM_OK) {
            *right = granted;
        }
        call->r[0] = (uint32_t)verdict;
        asking = NULL;
    }
    if (take(frame)) {
        return (int32_t)frame->r[0];
    }
    if (server != NULL) {
        return FVM_E_BUSY;
    }
    server = thread;
    answer = frame;
    if (decided != NULL) {
        scheduler_hand_back(thread, decided);
    } else {
        scheduler_block(thread, THREAD_WAITING);
    }
    return FVM_E_BUSY; /* until there is a request */
}

void request_leave(const struct thread *thread)
{
    if (server == thread) {
        server = NULL;
    }
}

void request_drop(const struct vcpu *vcpu)
{
    if (asking == vcpu) {
        asking = NULL;
    }
}
