/* As running_task.c, for a core without FPU: no EXC_RETURN in the frame. */
#include <stdint.h>

struct task {
    uint32_t *sp;
    char name[8];
};
extern struct task *volatile running;
void schedule(void);

__attribute__((naked)) void PendSV_Handler(void)
{
    __asm volatile("   mrs r0, psp                 \n"
                   "   stmdb r0!, {r4-r11}         \n"
                   "   ldr r1, =running            \n"
                   "   ldr r2, [r1]                \n"
                   "   str r0, [r2]                \n"
                   "   push {r1, lr}               \n"
                   "   bl schedule                 \n"
                   "   pop {r1, lr}                \n"
                   "   ldr r2, [r1]                \n"
                   "   ldr r0, [r2]                \n"
                   "   ldmia r0!, {r4-r11}         \n"
                   "   msr psp, r0                 \n"
                   "   bx lr                       \n"
                   "   .ltorg                      \n");
}

__attribute__((naked)) void SVC_Handler(void)
{
    __asm volatile("   ldr r1, =running            \n"
                   "   ldr r2, [r1]                \n"
                   "   ldr r0, [r2]                \n"
                   "   ldmia r0!, {r4-r11}         \n"
                   "   msr psp, r0                 \n"
                   "   bx lr                       \n"
                   "   .ltorg                      \n");
}

__attribute__((naked)) void start_first_task(void)
{
    __asm volatile("   cpsie i                     \n"
                   "   svc 0                       \n"
                   "   nop                         \n");
}
