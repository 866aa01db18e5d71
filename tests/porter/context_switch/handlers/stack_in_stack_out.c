/* The choice is one function from stack pointer to stack pointer; EXC_RETURN with the registers,
 * FPU registers above: the frame that a cooperative yield builds. */
#include <stdint.h>

uint32_t *next_stack(uint32_t *stack, uint32_t reason);

static uint32_t *stacks[2];
static uint32_t running;

uint32_t *next_stack(uint32_t *stack, uint32_t reason)
{
    if (reason != 0) {
        stacks[running] = stack;
        running ^= 1;
    }
    return stacks[running];
}

__attribute__((naked)) void PendSV_Handler(void)
{
    __asm volatile("   mrs r0, psp                 \n"
                   "   tst lr, #0x10               \n"
                   "   it eq                       \n"
                   "   vstmdbeq r0!, {s16-s31}     \n"
                   "   mov r1, #3                  \n"
                   "   stmdb r0!, {r4-r11, lr}     \n"
                   "   cpsid i                     \n"
                   "   bl next_stack               \n"
                   "   cpsie i                     \n"
                   "   ldmia r0!, {r4-r11, lr}     \n"
                   "   tst lr, #0x10               \n"
                   "   it eq                       \n"
                   "   vldmiaeq r0!, {s16-s31}     \n"
                   "   msr psp, r0                 \n"
                   "   bx lr                       \n");
}

__attribute__((naked)) void SVC_Handler(void)
{
    __asm volatile("   mov r0, #0                  \n"
                   "   mov r1, #0                  \n"
                   "   push {r4, lr}               \n"
                   "   bl next_stack               \n"
                   "   pop {r4, lr}                \n"
                   "   ldmia r0!, {r4-r11, lr}     \n"
                   "   msr psp, r0                 \n"
                   "   msr basepri, r4             \n"
                   "   bx lr                       \n");
}

__attribute__((naked)) void start_first_task(void)
{
    __asm volatile("   cpsie i                     \n"
                   "   dsb                         \n"
                   "   isb                         \n"
                   "   svc 0                       \n"
                   "   nop                         \n");
}
