/* One binary for cores with and without FPU: CPACR says whether frames hold S16-S31. */
#include <stdint.h>

extern uint32_t **task;
void schedule(void);

__attribute__((naked)) void PendSV_Handler(void)
{
    __asm volatile("mrs     r0, psp             \n"
                   "stmdb   r0!, {r4-r11, lr}   \n"
                   "ldr     r3, =0xE000ED88     \n"
                   "ldr     r3, [r3]            \n"
                   "and     r3, r3, #0xF00000   \n"
                   "cmp     r3, #0xF00000       \n"
                   "bne     1f                  \n"
                   "vstmdb  r0!, {s16-s31}      \n"
                   "1:                          \n"
                   "ldr     r1, =task           \n"
                   "ldr     r2, [r1]            \n"
                   "str     r0, [r2]            \n"
                   "bl      schedule            \n"
                   "ldr     r1, =task           \n"
                   "ldr     r2, [r1]            \n"
                   "ldr     r0, [r2]            \n"
                   "ldr     r3, =0xE000ED88     \n"
                   "ldr     r3, [r3]            \n"
                   "tst     r3, #0x100000       \n"
                   "it      ne                  \n"
                   "vldmiane r0!, {s16-s31}     \n"
                   "ldmia   r0!, {r4-r11, lr}   \n"
                   "msr     psp, r0             \n"
                   "bx      lr                  \n"
                   ".ltorg                      \n");
}
