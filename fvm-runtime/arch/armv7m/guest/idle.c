/* Where USR is while a switch handler waits for a task, on ARMv7-M: see virt_idle(). */
#include <stddef.h>

#include <fvm/guest.h>

#define EXC_RETURN_THREAD_PSP_BASIC 0xFFFFFFFDu
#define XPSR_T (1u << 24)

struct exception_frame {
    uint32_t r0, r1, r2, r3, r12, lr, pc, xpsr;
};

/* A call of the kernel and a frame with FPU state, of whoever asks for none of it. */
static struct {
    uint64_t room[32];
    struct exception_frame frame;
} stack __attribute__((aligned(8)));

/* What became pending since the last wait ends this one at once: a handler may have made a task
 * ready behind the switch handler's look. */
static _Noreturn void idle(void)
{
    for (;;) {
        (void)hyp_vct_wait();
        (void)virt_vct_trig(FVM_VIRT_SWITCH);
    }
}

void virt_idle(void)
{
    stack.frame.pc = (uint32_t)idle & ~1u;
    stack.frame.xpsr = XPSR_T;
    USR_REG->Reg.SP = (uint32_t)&stack.frame;
    USR_REG->Reg.LR = EXC_RETURN_THREAD_PSP_BASIC;
}

int virt_idles(void) { return USR_REG->Reg.SP - (uint32_t)&stack < sizeof stack; }
