/* Loops that count: the task's statistics are moved word by word, and a table is searched for who
 * runs next. */
#include <stdint.h>

struct task {
    uint32_t *sp;
    uint32_t statistics[3];
};
extern struct task *running;
extern uint32_t log_of_switches[3];
struct task *choose(uint32_t reason);

__attribute__((naked)) void PendSV_Handler(void)
{
    __asm volatile("mrs     r0, psp             \n"
                   "stmdb   r0!, {r4-r11, lr}   \n"
                   "ldr     r1, =running        \n"
                   "ldr     r2, [r1]            \n"
                   "str     r0, [r2], #4        \n"
                   "ldr     r3, =log_of_switches\n"
                   "movs    r4, #3              \n"
                   "1:                          \n"
                   "ldr     r5, [r2], #4        \n"
                   "str     r5, [r3], #4        \n"
                   "subs    r4, r4, #1          \n"
                   "bne     1b                  \n"
                   "movs    r6, #0              \n"
                   "2:                          \n"
                   "cmp     r6, #4              \n"
                   "bge     3f                  \n"
                   "mov     r0, r6              \n"
                   "bl      choose              \n"
                   "adds    r6, r6, #2          \n"
                   "cmp     r0, #0              \n"
                   "beq     2b                  \n"
                   "ldr     r1, =running        \n"
                   "str     r0, [r1]            \n"
                   "3:                          \n"
                   "ldr     r1, =running        \n"
                   "ldr     r2, [r1]            \n"
                   "ldr     r0, [r2]            \n"
                   "ldmia   r0!, {r4-r11, lr}   \n"
                   "msr     psp, r0             \n"
                   "bx      lr                  \n"
                   ".ltorg                      \n");
}
