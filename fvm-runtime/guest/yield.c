/* How tasks are switched: what the RTOS told of it, and the slow half of unmask. */
#include <fvm/guest.h>
#include <fvm/trap.h>

#include "call.h"
#include "vectors.h"

/* With a pick function, guest_switch sees one task, whose stack pointer changes. */
static struct {
    uint32_t *stack;
    void (*pick)(struct virt_task *task); /* guest_choose_by_frame's */
} picked;
static void *volatile picked_task = &picked;
static uint32_t *(*picks)(uint32_t *sp);

static void choose_by_pick(void) { picked.stack = picks(picked.stack); }

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
    vector_run[FVM_VIRT_SWITCH] = in_vct;
}

void guest_switch_init(void) { set(&picked_task, choose_in_vct, 0, by_handler); }

void virt_yield_set(uint32_t *(*pick)(uint32_t *sp))
{
    picks = pick;
    set(&picked_task, choose_by_pick, 0, guest_switch_preempted);
}

void virt_yield_frames(void (*pick)(struct virt_task *task))
{
    picked.pick = pick;
    set(&picked_task, guest_choose_by_frame, 0, by_handler);
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
