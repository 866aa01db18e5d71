/* Cooperative frames and the kernel, on ARMv7-M: see switch.S for the two kinds of frame. */
#include <stddef.h>

#include <fvm/guest.h>

#include "../../../guest/call.h"

#define FROM_SWITCH(field)                                                                         \
    ((int)offsetof(struct fvm_state, field) - (int)offsetof(struct fvm_state, task_switch))

/* switch.S knows these as numbers. */
_Static_assert(FROM_SWITCH(busy) == -16, "BUSY");
_Static_assert(FROM_SWITCH(int_mask.byte.pri) == -14, "MASK_PRI");
_Static_assert(FROM_SWITCH(int_pend) == -12, "PEND");
_Static_assert(FROM_SWITCH(int_pend.byte.yield) == -11, "PEND_YIELD");
_Static_assert(FROM_SWITCH(frames) == -3, "FRAMES");
_Static_assert(FVM_FRAMES_LIBRARY == 0 && FVM_FRAMES_SHORT == 1, "what frames says");
_Static_assert(offsetof(struct fvm_switch, self) == 8, "task, choose, self");
_Static_assert(offsetof(struct fvm_state, usr_reg) == 32, "USR_REG");
_Static_assert(FROM_SWITCH(usr_reg) == 16, "USR_TASK_SWITCH");
_Static_assert(offsetof(struct fvm_usr_reg, Reg.LR) == 32, "USR_LR");
_Static_assert(offsetof(struct fvm_usr_reg, Reg.SP) == 36, "USR_LR and SP");
_Static_assert(offsetof(struct fvm_usr_reg, Fpu) == 40, "USR_FPU");
/* Bit 4 of both marks is set, and no lowest byte of either is 0. */
_Static_assert(offsetof(struct fvm_state, task_switch) % 32 == FVM_MASK_MARK, "the mark");
_Static_assert(_Alignof(struct fvm_state) == 32, "the mark");

/* And by_handler.S these. */
_Static_assert(offsetof(struct guest_block, stack) == 104, "BLOCK_STACK");
_Static_assert(offsetof(struct guest_block, handler) == 108, "BLOCK_STACK and handler");
_Static_assert(offsetof(struct guest_block, enter) == 112, "BLOCK_ENTER of switch.S");

struct exception_frame {
    uint32_t r0, r1, r2, r3, r12, lr, pc, xpsr;
};

#define EXC_RETURN_THREAD_PSP_BASIC 0xFFFFFFFDu
#define XPSR_T (1u << 24)
#define XPSR_STACK_ALIGN (1u << 9) /* on return SP gets its bit 2 back */

void guest_resume(void); /* switch.S */
void guest_resume_fpu(void);

static uint32_t resume_address(uint32_t mark)
{
#ifdef __ARM_FP
    if (mark != (uint32_t)&fvm_state.task_switch) {
        return (uint32_t)guest_resume_fpu;
    }
#endif
    (void)mark;
    return (uint32_t)guest_resume;
}

void virt_yield_short_frames(void)
{
#ifdef __ARM_FP
    guest_switch_in_vct(); /* there is no room for FPU state in such a frame */
#else
    fvm_state.frames = FVM_FRAMES_SHORT;
    guest_switch_by_handler();
#endif
}

#ifndef __ARM_FP
/* A cooperative one lacks T, which no exception leaves out. */
static void complete_short_frame(struct exception_frame *frame)
{
    if (frame->xpsr == 0) {
        frame->pc &= ~1u;
        frame->xpsr = XPSR_T;
    }
}
#endif

void guest_complete_frame(void)
{
#ifndef __ARM_FP
    if (fvm_state.frames == FVM_FRAMES_SHORT) {
        complete_short_frame((struct exception_frame *)USR_REG->Reg.SP);
        return;
    }
#endif
    uint32_t mark = USR_REG->Reg.LR;
    if ((mark & 0x80000000u) != 0) {
        return; /* EXC_RETURN: an exception frame is there already */
    }
    uint32_t stack = USR_REG->Reg.SP;
    struct exception_frame *frame = (struct exception_frame *)(stack & ~7u) - 1;
    frame->pc = resume_address(mark) & ~1u;
    frame->xpsr = XPSR_T | ((stack & 4u) != 0 ? XPSR_STACK_ALIGN : 0);
    USR_REG->Reg.SP = (uint32_t)frame;
    USR_REG->Reg.LR = EXC_RETURN_THREAD_PSP_BASIC;
}
