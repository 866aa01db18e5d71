/* A switch that a flag requests, with the FPU's use kept as a word of the frame; the previous
 * mask is restored, and the first switch has nothing to save. */
#include <stdint.h>

extern volatile uint32_t from_stack;
extern volatile uint32_t to_stack;
extern volatile uint32_t switch_flag;

__attribute__((naked)) void PendSV_Handler(void)
{
    __asm volatile("   mrs r2, primask             \n"
                   "   cpsid i                     \n"
                   "   ldr r0, =switch_flag        \n"
                   "   ldr r1, [r0]                \n"
                   "   cbz r1, done                \n"
                   "   mov r1, #0x00               \n"
                   "   str r1, [r0]                \n"
                   "   ldr r0, =from_stack         \n"
                   "   ldr r1, [r0]                \n"
                   "   cbz r1, restore             \n"
                   "   mrs r1, psp                 \n"
                   "   tst lr, #0x10               \n"
                   "   it eq                       \n"
                   "   vstmdbeq r1!, {d8 - d15}    \n"
                   "   stmfd r1!, {r4 - r11}       \n"
                   "   mov r4, #0x00               \n"
                   "   tst lr, #0x10               \n"
                   "   it eq                       \n"
                   "   moveq r4, #0x01             \n"
                   "   stmfd r1!, {r4}             \n"
                   "   ldr r0, [r0]                \n"
                   "   str r1, [r0]                \n"
                   "restore:                       \n"
                   "   ldr r1, =to_stack           \n"
                   "   ldr r1, [r1]                \n"
                   "   ldr r1, [r1]                \n"
                   "   ldmfd r1!, {r3}             \n"
                   "   ldmfd r1!, {r4 - r11}       \n"
                   "   cmp r3, #0                  \n"
                   "   it ne                       \n"
                   "   vldmiane r1!, {d8 - d15}    \n"
                   "   msr psp, r1                 \n"
                   "   orr lr, lr, #0x10           \n"
                   "   cmp r3, #0                  \n"
                   "   it ne                       \n"
                   "   bicne lr, lr, #0x10         \n"
                   "done:                          \n"
                   "   msr primask, r2             \n"
                   "   orr lr, lr, #0x04           \n"
                   "   bx lr                       \n"
                   "   .ltorg                      \n");
}
