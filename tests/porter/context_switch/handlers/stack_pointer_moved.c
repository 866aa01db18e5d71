/* ARMv6-M habits: SP is set to the task's stack for push and pop, the handler's own is kept in r12.
 */
#include <stdint.h>

extern uint32_t **current_task;
void choose_task(void);

__attribute__((naked)) void PendSV_Handler(void)
{
    __asm volatile(" push {r4, lr}           \n"
                   " bl choose_task          \n"
                   " pop {r1, r2}            \n"
                   " mov lr, r2              \n"
                   " mov r12, sp             \n"
                   " ldr r3, =current_task   \n"
                   " ldr r3, [r3]            \n"
                   " cmp r3, #0              \n"
                   " beq restore             \n"
                   " mrs r0, psp             \n"
                   " mov sp, r0              \n"
                   " subs r0, #36            \n"
                   " str r0, [r3]            \n"
                   " mov r4, r1              \n"
                   " mov r0, r8              \n"
                   " mov r1, r9              \n"
                   " mov r2, r10             \n"
                   " mov r3, r11             \n"
                   " push {r0-r7, lr}        \n"
                   "restore:                 \n"
                   " ldr r0, =ready_task     \n"
                   " ldr r0, [r0]            \n"
                   " ldr r0, [r0]            \n"
                   " mov sp, r0              \n"
                   " pop {r0-r7}             \n"
                   " mov r8, r0              \n"
                   " mov r9, r1              \n"
                   " mov r10, r2             \n"
                   " mov r11, r3             \n"
                   " pop {r0}                \n"
                   " mov r1, sp              \n"
                   " msr psp, r1             \n"
                   " mov sp, r12             \n"
                   " bx r0                   \n"
                   " .ltorg                  \n");
}
