/* PSP 0 marks the first switch; a hook is called through a register; the chosen task's priority is
 * a byte. */
#include <stdint.h>

struct task {
    uint32_t *stack;
};
extern struct task *current_task;
extern struct task *ready_task;
extern uint8_t current_priority;
extern uint8_t ready_priority;
void switch_hook(void);

void PendSV_Handler(void) __attribute__((naked));

void PendSV_Handler(void)
{
    __asm volatile("cpsid   i                   \n"
                   "mrs     r0, psp             \n"
                   "cbz     r0, nosave          \n"
                   "subs    r0, r0, #0x20       \n"
                   "stm     r0, {r4-r11}        \n"
                   "ldr     r1, =current_task   \n"
                   "ldr     r1, [r1]            \n"
                   "str     r0, [r1]            \n"
                   "nosave:                     \n"
                   "push    {r14}               \n"
                   "ldr     r0, =switch_hook    \n"
                   "blx     r0                  \n"
                   "pop     {r14}               \n"
                   "ldr     r0, =current_priority \n"
                   "ldr     r1, =ready_priority \n"
                   "ldrb    r2, [r1]            \n"
                   "strb    r2, [r0]            \n"
                   "ldr     r0, =current_task   \n"
                   "ldr     r1, =ready_task     \n"
                   "ldr     r2, [r1]            \n"
                   "str     r2, [r0]            \n"
                   "ldr     r0, [r2]            \n"
                   "ldm     r0, {r4-r11}        \n"
                   "adds    r0, r0, #0x20       \n"
                   "msr     psp, r0             \n"
                   "orr     lr, lr, #0x04       \n"
                   "cpsie   i                   \n"
                   "bx      lr                  \n"
                   ".ltorg                      \n");
}
