/* ARMv6-M habits: r8-r11 go through r4-r7, the frame is filled upwards, EXC_RETURN lies below. */
#include <stdint.h>

extern uint32_t **current_task;
void choose_task(void);

__attribute__((naked)) void PendSV_Handler(void)
{
    __asm volatile(" mrs r0, psp             \n"
                   " ldr r2, =current_task   \n"
                   " ldr r1, [r2]            \n"
                   " subs r0, r0, #36        \n"
                   " str r0, [r1]            \n"
                   " mov r3, lr              \n"
                   " stmia r0!, {r3-r7}      \n"
                   " mov r4, r8              \n"
                   " mov r5, r9              \n"
                   " mov r6, r10             \n"
                   " mov r7, r11             \n"
                   " stmia r0!, {r4-r7}      \n"
                   " cpsid i                 \n"
                   " bl choose_task          \n"
                   " cpsie i                 \n"
                   " ldr r2, =current_task   \n"
                   " ldr r1, [r2]            \n"
                   " ldr r0, [r1]            \n"
                   " adds r0, r0, #20        \n"
                   " ldmia r0!, {r4-r7}      \n"
                   " mov r8, r4              \n"
                   " mov r9, r5              \n"
                   " mov r10, r6             \n"
                   " mov r11, r7             \n"
                   " msr psp, r0             \n"
                   " subs r0, r0, #36        \n"
                   " ldmia r0!, {r3-r7}      \n"
                   " bx r3                   \n"
                   " .align 4                \n");
}
