/* Contexts: whatever a guest saved, a thread resumes in Thread mode on PSP, unprivileged. */
#include "kernel/kernel.h"

extern uint32_t kernel_exc_return;

/* EXC_RETURN that returns to Thread mode on PSP (ARMv7-M ARM B1.5.8), with and without FP frame. */
#define THREAD_FP 0xFFFFFFED
#define THREAD_BASIC 0xFFFFFFFD

/*@ assigns \nothing;
    ensures fpu ==> \result == THREAD_FP;
    ensures !fpu ==> \result == THREAD_BASIC;
    ensures any: \forall uint32_t saved;
        ((saved & 0x10) | \result) == THREAD_FP || ((saved & 0x10) | \result) == THREAD_BASIC;
    ensures no_fpu: !fpu ==> \forall uint32_t saved; ((saved & 0x10) | \result) == THREAD_BASIC;
*/
uint32_t context_arch_return_bits(bool fpu);

/*@ requires \valid_read(cpu.current) && \valid(&kernel_exc_return);
    requires \separated(&kernel_exc_return, cpu.current);
    assigns kernel_exc_return;
    ensures only_bit_4: kernel_exc_return == ((state & 0x10) | cpu.current->return_bits);
*/
void context_arch_resume(uint32_t stack, uint32_t state);

#include "arch/armv7m/context.c"
