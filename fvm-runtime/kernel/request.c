/* Calls that the hypervisor serves. USR is blocked until the reply; the hypervisor outranks every
 * VM, so neither USR nor VCT of the caller runs in between. */
#include "kernel/kernel.h"

static uint32_t posted;    /* bit: vCPU with a call to serve */
static uint32_t exhausted; /* bit: vCPU whose budget is used up */

void request_post(struct thread *usr, const struct call_frame *frame)
{
    struct vcpu *vcpu = usr->vcpu;
    vcpu->request = (uint8_t)frame->number;
    vcpu->request_argument[0] = frame->r[0];
    vcpu->request_argument[1] = frame->r[1];
    posted |= vcpu->bit;
    scheduler_block(usr, THREAD_WAITING);
    signal_send(vcpu->config->request_signal);
}

void request_budget(struct vcpu *vcpu)
{
    exhausted |= vcpu->bit;
    signal_send(vcpu->config->budget_signal);
}

static bool take_budget(struct vcpu *vcpu, uint32_t signal, struct call_frame *frame)
{
    if ((exhausted & vcpu->bit) == 0 || vcpu->config->budget_signal != signal) {
        return false;
    }
    exhausted &= ~vcpu->bit;
    frame->r[1] = FVM_REQUEST_BUDGET;
    return true;
}

static bool take_call(struct vcpu *vcpu, uint32_t signal, struct call_frame *frame)
{
    if ((posted & vcpu->bit) == 0 || vcpu->config->request_signal != signal) {
        return false;
    }
    posted &= ~vcpu->bit;
    frame->r[1] = vcpu->request;
    frame->r[2] = vcpu->request_argument[0];
    frame->r[3] = vcpu->request_argument[1];
    return true;
}

void request_get(uint32_t signal, struct call_frame *frame)
{
    for (uint32_t i = 0; i < FVM_VCPUS; i++) {
        if (take_call(&vcpu_table[i], signal, frame) ||
            take_budget(&vcpu_table[i], signal, frame)) {
            frame->r[0] = i;
            return;
        }
    }
    frame->r[0] = (uint32_t)FVM_E_BUSY;
}

int32_t request_reply(struct vcpu *vcpu, uint32_t result)
{
    if (vcpu->request == FVM_NO_REQUEST || vcpu->usr->state != THREAD_WAITING) {
        return FVM_E_ARGUMENT; /* stopped meanwhile */
    }
    uint32_t stack = context_arch_stack(vcpu->usr->context);
    if (domain_holds(vcpu->usr->domain, stack, context_arch_frame_size())) {
        context_arch_result(stack, result);
    }
    vcpu->request = FVM_NO_REQUEST;
    scheduler_ready(vcpu->usr);
    return FVM_OK;
}

void request_drop(struct vcpu *vcpu)
{
    vcpu->request = FVM_NO_REQUEST;
    posted &= ~vcpu->bit;
}
