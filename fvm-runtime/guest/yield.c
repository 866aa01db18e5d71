/* How tasks are switched: what the RTOS told of it, and the slow half of unmask. */
#include <stdbool.h>

#include <fvm/guest.h>
#include <fvm/trap.h>

#include "call.h"
#include "vectors.h"

/* Below the stack of VCT while it waits: the exception frame of its call (ARMv7-M ARM B1.5.7). */
#define CALL_FRAME 128u

/* Without virt_yield_task, guest_switch sees one task, whose stack pointer stands here. */
struct guest_block guest_block;
static void *volatile one_task = &guest_block;

/* No user-mode switch: the same task goes on, and the unmask that follows wakes VCT. */
static void choose_in_vct(void) { fvm_state.int_pend.byte.yield = 1; }

static void by_handler(void)
{
    if (vector[FVM_VIRT_SWITCH].handler != NULL) {
        vector[FVM_VIRT_SWITCH].handler();
        guest_complete_frame();
    }
}

void guest_switch_by_handler(void) { vector_run[FVM_VIRT_SWITCH] = by_handler; }

static void set(void *volatile *task, void (*choose)(void), uint32_t name, virt_handler in_vct)
{
    fvm_state.task_switch = (struct fvm_switch){task, choose, &fvm_state.task_switch, name};
    fvm_state.frames = FVM_FRAMES_LIBRARY;
    vector_run[FVM_VIRT_SWITCH] = in_vct;
}

void guest_switch_in_vct(void) { set(&one_task, choose_in_vct, 0, by_handler); }

void guest_switch_set(virt_handler handler)
{
    const struct virt_yield_handler *by = &virt_yield_handler;
    void (*choose)(void) = fvm_state.task_switch.choose;
    if (by == NULL || (choose != choose_in_vct && choose != by->choose)) {
        return; /* the project has none, or the library switches */
    }
    bool may = handler != NULL && handler == by->handler;
    if (by->sp != NULL) {
        if (!may) {
            guest_switch_in_vct();
            return;
        }
        virt_yield_stack(by->sp, by->choose);
        if (by->frames != NULL) {
            by->frames();
        }
        return;
    }
    guest_block.handler = handler;
    guest_block.enter = by->enter;
    fvm_state.task_switch.choose = may ? by->choose : choose_in_vct;
    fvm_state.frames = may ? FVM_FRAMES_HANDLER : FVM_FRAMES_LIBRARY;
}

void guest_switch_init(void)
{
    void *here = __builtin_frame_address(0);
    guest_block.stack = ((uint32_t)here - CALL_FRAME) & ~7u;
    guest_switch_in_vct();
    guest_switch_set(vector[FVM_VIRT_SWITCH].handler); /* it may be there already */
}

void virt_yield_stack(void *volatile *sp, void (*choose)(void))
{
    one_task = (void *)(uint32_t)sp; /* what it points to is accessed as volatile all the same */
    set(&one_task, choose, 0, guest_switch_preempted);
}

void virt_yield_task(void *volatile *task, void (*choose)(void), const char *name)
{
    uint32_t offset = name == NULL ? 0 : (uint32_t)name - (uint32_t)*task;
    set(task, choose, offset, guest_switch_preempted);
}

void guest_unmask(struct fvm_switch *here)
{
    struct fvm_state *state = virt_state(here);
    if (virt_in_vct() || state->int_mask.byte.pri != 0 || state->int_pend.any == 0) {
        return; /* VCT looks again before it waits; PRIMASK holds everything; VCT was faster */
    }
    if (state->int_pend.byte.vector == 0) {
        if (state->int_mask.byte.base != 0) {
            return; /* the other mask still holds the switch */
        }
        if (here->choose != choose_in_vct) {
            state->int_pend.byte.yield = 0;
            guest_switch(here);
            return;
        }
    }
    (void)fvm_trap0(FVM_CALL_VCT_WAKE);
}
