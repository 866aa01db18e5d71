/* Nothing to do if the next task is the current one: an early conditional return. */
#include <stdint.h>

struct task {
    uint32_t *stack;
    uint32_t rest[7];
};
extern struct task *current_task;
extern struct task *next_task;

void PendSV_Handler(void) __attribute__((naked));

void PendSV_Handler(void)
{
    __asm volatile("ldr r3, =next_task          \n"
                   "ldr r2, [r3]                \n"
                   "ldr r3, =current_task       \n"
                   "ldr r1, [r3]                \n"
                   "cmp r1, r2                  \n"
                   "it eq                       \n"
                   "bxeq lr                     \n"
                   "mrs r12, psp                \n"
                   "stmdb r12!, {r4-r11}        \n"
                   "str r12, [r1, #4]           \n"
                   "str r2, [r3]                \n"
                   "ldr r12, [r2, #4]           \n"
                   "ldmia r12!, {r4-r11}        \n"
                   "msr psp, r12                \n"
                   "bx lr                       \n"
                   ".ltorg                      \n");
}
