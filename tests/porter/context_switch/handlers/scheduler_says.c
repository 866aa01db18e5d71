/* The scheduler's result decides whether another task runs; EXC_RETURN is a word of the frame of
 * its own; scratch goes through the handler's stack. */
#include <stdint.h>

struct thread {
    uint32_t *sp;
};
extern volatile struct thread *active_thread;
int schedule(void);

void PendSV_Handler(void) __attribute__((naked)) __attribute__((used));

void __attribute__((naked)) __attribute__((used)) PendSV_Handler(void)
{
    __asm__ volatile(".syntax unified               \n"
                     "mrs    r0, psp                \n"
                     "tst    lr, #0x10              \n"
                     "it     eq                     \n"
                     "vstmdbeq r0!, {s16-s31}       \n"
                     "stmdb  r0!, {r4-r11}          \n"
                     "stmdb  r0!, {lr}              \n"
                     "ldr    r1, =active_thread     \n"
                     "ldr    r1, [r1]               \n"
                     "cmp    r1, #0                 \n"
                     "beq    choose                 \n"
                     "str    r0, [r1]               \n"
                     "choose:                       \n"
                     "push   {r0, lr}               \n"
                     "bl     schedule               \n"
                     "cmp    r0, #0                 \n"
                     "pop    {r0, lr}               \n"
                     "beq    resume                 \n"
                     "ldr    r1, =active_thread     \n"
                     "ldr    r1, [r1]               \n"
                     "ldr    r0, [r1]               \n"
                     "resume:                       \n"
                     "ldmia  r0!, {r1}              \n"
                     "mov    lr, r1                 \n"
                     "ldmia  r0!, {r4-r11}          \n"
                     "tst    lr, #0x10              \n"
                     "it     eq                     \n"
                     "vldmiaeq r0!, {s16-s31}       \n"
                     "msr    psp, r0                \n"
                     "bx     lr                     \n"
                     ".ltorg                        \n");
}
