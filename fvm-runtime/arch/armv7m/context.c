/* Contexts and exception frames (ARMv7-M ARM B1.5.6-B1.5.8). */
#include "arch/armv7m/exception_frame.h"
#include "kernel/kernel.h"

#define XPSR_T (1u << 24)
#define EXC_RETURN_THREAD_PSP 0xFFFFFFEDu /* bit 4 comes from the thread */
#define EXC_RETURN_BASIC_FRAME 0x10u

/* What entry.S and what it includes know as numbers. */
_Static_assert(offsetof(struct cpu, current) == 0 && offsetof(struct cpu, next) == 4 &&
                   offsetof(struct cpu, charged) == 8 && offsetof(struct cpu, ready) == 12 &&
                   offsetof(struct cpu, payer) == 16 && offsetof(struct cpu, left) == 20 &&
                   offsetof(struct cpu, late) == 24,
               "CPU_");
_Static_assert(offsetof(struct thread, context) == 0 && offsetof(struct thread, return_bits) == 4 &&
                   offsetof(struct thread, domain) == 8 && offsetof(struct thread, vcpu) == 12 &&
                   offsetof(struct thread, signal) == 16 && offsetof(struct thread, bit) == 20 &&
                   offsetof(struct thread, rank) == 24 && offsetof(struct thread, priority) == 25 &&
                   offsetof(struct thread, state) == 28,
               "THREAD_");
_Static_assert(offsetof(struct vcpu, vct) == 4 && offsetof(struct vcpu, usr) == 8 &&
                   offsetof(struct vcpu, bit) == 16 && offsetof(struct vcpu, budget) == 20 &&
                   offsetof(struct vcpu, vct_wait) == 25 &&
                   offsetof(struct vcpu, line) == (FVM_HELD_WORDS != 0 ? 52 : 48),
               "VCPU_");
_Static_assert(THREAD_READY == 1 && THREAD_WAITING == 2 && WAIT_NONE == 0 && WAIT_SLEEPS == 2 &&
                   FVM_NO_INDEX == 0xFF && FVM_CALL_VCT_WAIT == 0,
               "wait.inc, signal.inc");
_Static_assert((FVM_CAP_SIGNAL | FVM_RIGHT_WAIT << 8) == 0x101u, "SIGNAL_CAP");
_Static_assert(offsetof(struct interrupt_lines, closed) == 0 &&
                   offsetof(struct interrupt_lines, enabled) == sizeof interrupt_lines.closed,
               "ENABLED_FROM_CLOSED");
_Static_assert(offsetof(struct fvm_domain, ram_base) == 32 &&
                   offsetof(struct fvm_domain, ram_size) == 36 &&
                   offsetof(struct fvm_domain, capability) == 40 &&
                   offsetof(struct fvm_domain, capability_count) == 44 &&
                   offsetof(struct fvm_domain, protection) == 60,
               "DOMAIN_");
_Static_assert(offsetof(struct request, server) == 0 && offsetof(struct request, asking) == 4 &&
                   offsetof(struct request, exhausted) == 8 &&
                   offsetof(struct request, call) == 12 && offsetof(struct request, right) == 16 &&
                   offsetof(struct request, granted) == 20 &&
                   offsetof(struct request, answer) == 24,
               "request.inc");
_Static_assert(sizeof(struct exception_frame) == 32 && offsetof(struct exception_frame, pc) == 24,
               "FRAME_BYTES, FRAME_PC");
_Static_assert(offsetof(struct fvm_usr_reg, Reg.SP) == 36, "CONTEXT_SP");
_Static_assert(FVM_CALL_REQUEST_NEXT == FVM_CALL_SIGNAL_WAIT + 1 &&
                   FVM_CALL_INVOKE == FVM_CALL_SIGNAL_WAIT + 2 &&
                   FVM_CALL_INVOKE_RETURN == FVM_CALL_SIGNAL_WAIT + 3,
               "the table of the short ways");
#if FVM_SLOTS > 0
_Static_assert(sizeof(struct slot) == 12 && offsetof(struct slot, capability) == 0 &&
                   offsetof(struct slot, id) == 4 &&
                   offsetof(struct fvm_domain, slot_first) == 52 &&
                   offsetof(struct fvm_domain, slot_count) == 53 && SLOT_MASK == 63 &&
                   FVM_RIGHT_DELEGATE == 0x80,
               "slot_of_invocation");
#endif
#if FVM_PORTS > 0
_Static_assert(offsetof(struct thread, port) == 32, "THREAD_PORT");
_Static_assert(sizeof(struct port) == 32 && offsetof(struct port, caller) == 0 &&
                   offsetof(struct port, thread) == 4 && offsetof(struct port, call) == 8 &&
                   (FVM_CAP_PORT | FVM_RIGHT_INVOKE << 8) == 0x1007u,
               "PORT_");
#endif

#if FVM_HELD_WORDS != 0
_Static_assert(offsetof(struct vcpu, held) == 48, "VCPU_HELD");
#endif

extern uint32_t kernel_exc_return; /* entry.S: where every kernel entry pushed EXC_RETURN */

uint32_t context_arch_frame_size(void) { return sizeof(struct exception_frame); }

/* As stores: what the compiler takes for a block it gives to memset, which takes longer. */
static inline void clear(void *block, uint32_t words)
{
    volatile uint32_t *word = block;
#pragma GCC unroll 16
    for (uint32_t i = 0; i < words; i++) {
        word[i] = 0;
    }
}

void context_arch_init(struct fvm_usr_reg *context, uint32_t entry, uint32_t stack)
{
    struct exception_frame *frame = (struct exception_frame *)stack - 1;
    clear(frame, 5);
    frame->lr = 0xFFFFFFFFu;
    frame->pc = entry & ~1u;
    frame->xpsr = XPSR_T;
    clear(&context->Reg, 8); /* S16-S31 are not loaded: the frame is a basic one */
    context->Reg.LR = EXC_RETURN_THREAD_PSP | EXC_RETURN_BASIC_FRAME;
    context->Reg.SP = (uint32_t)frame;
}

void context_arch_prepare(struct call_entry *call, uint32_t entry, uint32_t stack)
{
    call->place = stack - sizeof(struct exception_frame);
    call->word[0] = 0; /* r12 */
    call->word[1] = 0xFFFFFFFFu;
    call->word[2] = entry & ~1u;
    call->word[3] = XPSR_T;
}

void context_arch_call(struct fvm_usr_reg *context, const struct call_entry *call,
                       const uint32_t argument[3])
{
    struct exception_frame *frame = (struct exception_frame *)call->place;
    *frame = (struct exception_frame){argument[0],   argument[1],   argument[2],   call->fourth,
                                      call->word[0], call->word[1], call->word[2], call->word[3]};
    context->Reg.LR = EXC_RETURN_THREAD_PSP | EXC_RETURN_BASIC_FRAME;
    context->Reg.SP = (uint32_t)frame;
}

uint32_t context_arch_return_bits(bool fpu)
{
    return fpu ? EXC_RETURN_THREAD_PSP : EXC_RETURN_THREAD_PSP | EXC_RETURN_BASIC_FRAME;
}

uint32_t context_arch_stack(const struct fvm_usr_reg *context) { return context->Reg.SP; }

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
