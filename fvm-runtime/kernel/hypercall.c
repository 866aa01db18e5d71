/* Hypercalls: what a VM asks for about itself. Every argument is hostile; every refusal is a
 * result. The architecture's entry looks a call's function up by its number. */
#include "kernel/kernel.h"

static int32_t on_vct_wait(struct call_frame *frame, struct thread *caller)
{
    vcpu_wait(caller, frame->r[0]);
    return FVM_OK;
}

static int32_t on_int_ena(struct call_frame *frame, struct thread *caller)
{
    (void)frame;
    vcpu_open(caller->vcpu, true);
    return FVM_OK;
}

static int32_t on_int_dis(struct call_frame *frame, struct thread *caller)
{
    (void)frame;
    vcpu_open(caller->vcpu, false);
    return FVM_OK;
}

static int32_t on_irq_ena(struct call_frame *frame, struct thread *caller)
{
    return interrupt_enable(caller->vcpu, frame->r[0], true);
}

static int32_t on_irq_dis(struct call_frame *frame, struct thread *caller)
{
    return interrupt_enable(caller->vcpu, frame->r[0], false);
}

static int32_t on_irq_done(struct call_frame *frame, struct thread *caller)
{
    return vcpu_done(caller->vcpu, frame->r[0]);
}

static int32_t on_tick_set(struct call_frame *frame, struct thread *caller)
{
    return vcpu_tick_set(caller->vcpu, frame->r[0]);
}

static int32_t on_wdg_clr(struct call_frame *frame, struct thread *caller)
{
    (void)frame;
    vcpu_feed(caller->vcpu);
    return FVM_OK;
}

static int32_t on_evt_snd(struct call_frame *frame, struct thread *caller)
{
    return event_send(frame->r[0], caller->domain_index);
}

static int32_t on_vct_wake(struct call_frame *frame, struct thread *caller)
{
    (void)frame;
    vcpu_wake_self(caller->vcpu);
    return FVM_OK;
}

static int32_t on_resume(struct call_frame *frame, struct thread *caller)
{
    if (caller != caller->vcpu->usr) {
        return FVM_E_CALL;
    }
    vcpu_resume(caller->vcpu, frame->r[0], frame->r[1]);
    return FVM_OK;
}

static int32_t on_pin_set(struct call_frame *frame, struct thread *caller)
{
    return pin_set(caller->domain_index, frame->r[0], frame->r[1], frame->r[2]);
}

static int32_t on_cycles(struct call_frame *frame, struct thread *caller)
{
    (void)frame, (void)caller;
    return (int32_t)timer_arch_now();
}

static int32_t on_pin_get(struct call_frame *frame, struct thread *caller)
{
    return pin_get(caller->domain_index, frame->r[0], frame->r[1]);
}

static int32_t on_reboot(struct call_frame *frame, struct thread *caller)
{
    (void)frame;
    fault_raise(caller, FVM_FAULT_RESET, 0, 0);
    return FVM_OK;
}

#define PUTC (FVM_TEXTS != 0 ? text_put : no_call) /* linked where a VM may write into the log */

kernel_call *const hypercall_table[FVM_CALLS_OF_VM] = {
    [FVM_CALL_VCT_WAIT] = on_vct_wait, /* and the architecture's short way */
    [FVM_CALL_INT_ENA] = on_int_ena,    [FVM_CALL_INT_DIS] = on_int_dis,
    [FVM_CALL_IRQ_ENA] = on_irq_ena,    [FVM_CALL_IRQ_DIS] = on_irq_dis,
    [FVM_CALL_IRQ_DONE] = on_irq_done,  [FVM_CALL_TICK_SET] = on_tick_set,
    [FVM_CALL_WDG_CLR] = on_wdg_clr,    [FVM_CALL_EVT_SND] = on_evt_snd,
    [FVM_CALL_VCT_WAKE] = on_vct_wake,  [FVM_CALL_RESUME] = on_resume,
    [FVM_CALL_PIN_SET] = on_pin_set,    [FVM_CALL_CYCLES] = on_cycles,
    [FVM_CALL_PIN_GET] = on_pin_get,    [FVM_CALL_PUTC] = PUTC,
    [FVM_CALL_VCT_PHYS] = request_line, [FVM_CALL_VCT_EVT] = request_right,
    [FVM_CALL_EVT_ADD] = request_right, [FVM_CALL_VCT_LCK] = request_right,
    [FVM_CALL_REBOOT] = on_reboot,      [15] = no_call,
};
