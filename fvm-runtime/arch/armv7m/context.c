/* Contexts and exception frames (ARMv7-M ARM B1.5.6-B1.5.8). */
#include "kernel/kernel.h"

struct exception_frame {
    uint32_t r0, r1, r2, r3, r12, lr, pc, xpsr;
};

#define XPSR_T (1u << 24)
#define EXC_RETURN_THREAD_PSP 0xFFFFFFEDu /* bit 4 comes from the thread */
#define EXC_RETURN_BASIC_FRAME 0x10u

extern uint32_t kernel_exc_return; /* entry.S: where every kernel entry pushed EXC_RETURN */

uint32_t context_arch_frame_size(void) { return sizeof(struct exception_frame); }

void context_arch_init(struct fvm_usr_reg *context, bool fpu, uint32_t entry, uint32_t stack)
{
    struct exception_frame *frame = (struct exception_frame *)stack - 1;
    *frame = (struct exception_frame){.lr = 0xFFFFFFFFu, .pc = entry & ~1u, .xpsr = XPSR_T};
    context->Reg = (struct fvm_usr_core){0};
    if (fpu) {
        context->Fpu = (struct fvm_usr_fpu){0};
    }
    context->Reg.LR = EXC_RETURN_THREAD_PSP | EXC_RETURN_BASIC_FRAME;
    context->Reg.SP = (uint32_t)frame;
}

void context_arch_call(struct fvm_usr_reg *context, uint32_t stack, uint32_t entry,
                       const uint32_t argument[4])
{
    struct exception_frame *frame = (struct exception_frame *)stack - 1;
    *frame = (struct exception_frame){argument[0], argument[1], argument[2], argument[3],
                                      0,           0xFFFFFFFFu, entry & ~1u, XPSR_T};
    context->Reg.LR = EXC_RETURN_THREAD_PSP | EXC_RETURN_BASIC_FRAME;
    context->Reg.SP = (uint32_t)frame;
}

uint32_t context_arch_return_bits(bool fpu)
{
    return fpu ? EXC_RETURN_THREAD_PSP : EXC_RETURN_THREAD_PSP | EXC_RETURN_BASIC_FRAME;
}

uint32_t context_arch_stack(const struct fvm_usr_reg *context) { return context->Reg.SP; }

uint32_t context_arch_current_stack(void)
{
    uint32_t stack;
    __asm volatile("mrs %0, psp" : "=r"(stack));
    return stack;
}

void context_arch_place(uint32_t stack, uint32_t *pc, uint32_t *lr)
{
    const struct exception_frame *frame = (const struct exception_frame *)stack;
    *pc = frame->pc;
    *lr = frame->lr;
}

void context_arch_result(uint32_t stack, uint32_t result)
{
    ((struct exception_frame *)stack)->r0 = result;
}

void context_arch_results(uint32_t stack, uint32_t first, uint32_t second)
{
    struct exception_frame *frame = (struct exception_frame *)stack;
    frame->r0 = first;
    frame->r1 = second;
}

void context_arch_resume(uint32_t stack, uint32_t state)
{
    __asm volatile("msr psp, %0" ::"r"(stack));
    kernel_exc_return = (state & EXC_RETURN_BASIC_FRAME) | cpu.current->return_bits;
}
