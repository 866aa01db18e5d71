/* Cooperative frames and the kernel, on ARMv7-M: see switch.S for the two kinds of frame. */
#include <stddef.h>

#include <fvm/guest.h>

#include "../../../guest/call.h"

/* switch.S knows these offsets as numbers. */
_Static_assert(offsetof(struct fvm_state, int_mask) == 2, "STATE_MASK_PRI");
_Static_assert(offsetof(struct fvm_state, int_pend) == 4, "STATE_PEND");
_Static_assert(offsetof(struct fvm_state, pending) == 128, "STATE_PENDING_SWITCH");

struct exception_frame {
    uint32_t r0, r1, r2, r3, r12, lr, pc, xpsr;
};

#define EXC_RETURN_THREAD_PSP_BASIC 0xFFFFFFFDu
#define XPSR_T (1u << 24)
#define XPSR_STACK_ALIGN (1u << 9) /* on return SP gets its bit 2 back */

void guest_complete_frame(void)
{
    uint32_t target = USR_REG->Reg.LR;
    if ((target & 0x80000000u) != 0) {
        return; /* EXC_RETURN: an exception frame is there already */
    }
    uint32_t stack = USR_REG->Reg.SP;
    struct exception_frame *frame = (struct exception_frame *)(stack & ~7u) - 1;
    frame->pc = target & ~1u;
    frame->xpsr = XPSR_T | ((stack & 4u) != 0 ? XPSR_STACK_ALIGN : 0);
    USR_REG->Reg.SP = (uint32_t)frame;
    USR_REG->Reg.LR = EXC_RETURN_THREAD_PSP_BASIC;
}
