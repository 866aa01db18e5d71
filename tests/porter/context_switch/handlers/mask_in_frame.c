/* The task's PRIMASK is a word of its frame, next to r4-r11; scratch registers above r3. */
#include <stdint.h>

struct tasks {
    uint32_t *running;
    uint32_t *next;
};
extern struct tasks tasks;

__attribute__((naked)) void PendSV_Handler(void)
{
    __asm volatile("mrs     r12, primask        \n"
                   "cpsid   i                   \n"
                   "mrs     r0, psp             \n"
                   "stmfd   r0!, {r4-r12}       \n"
                   "ldr     r5, =tasks          \n"
                   "ldr     r6, [r5]            \n"
                   "str     r0, [r6]            \n"
                   "ldr     r7, [r5, #4]        \n"
                   "str     r7, [r5]            \n"
                   "ldr     r1, [r7]            \n"
                   "ldmfd   r1!, {r4-r12}       \n"
                   "msr     psp, r1             \n"
                   "msr     primask, r12        \n"
                   "bx      lr                  \n"
                   ".ltorg                      \n");
}
