/* Whether a call keeps the registers that the procedure call standard lets it not destroy. */
#ifndef TEST_KEEPS_H
#define TEST_KEEPS_H

#include <stdint.h>

/* Fills r4-r11 (and S16-S31) with values made from `seed`, calls f, and counts those that differ
 * afterwards. Written in assembler, so that the compiler keeps nothing elsewhere. */
__attribute__((naked)) static uint32_t keeps_registers(uint32_t seed __attribute__((unused)),
                                                       void (*f)(void) __attribute__((unused)))
{
    __asm volatile(
        "push {r4-r11, lr}\n\t"
        "sub sp, #12\n\t"
        "str r0, [sp]\n\t"
        "add r4, r0, #4\n\t add r5, r0, #5\n\t add r6, r0, #6\n\t add r7, r0, #7\n\t"
        "add r8, r0, #8\n\t add r9, r0, #9\n\t add r10, r0, #10\n\t add r11, r0, #11\n\t"
#ifdef TEST_FPU
        "vpush {s16-s31}\n\t"
        ".irp n,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
        "add r2, r0, #\\n\n\t vmov s\\n, r2\n\t"
        ".endr\n\t"
#endif
        "blx r1\n\t"
        "movs r1, #0\n\t"
#ifdef TEST_FPU
        "ldr r0, [sp, #64]\n\t"
        ".irp n,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
        "add r2, r0, #\\n\n\t vmov r3, s\\n\n\t cmp r2, r3\n\t it ne\n\t addne r1, #1\n\t"
        ".endr\n\t"
        "vpop {s16-s31}\n\t"
#endif
        "ldr r0, [sp]\n\t"
        ".irp n,4,5,6,7,8,9,10,11\n\t"
        "add r2, r0, #\\n\n\t cmp r2, r\\n\n\t it ne\n\t addne r1, #1\n\t"
        ".endr\n\t"
        "mov r0, r1\n\t"
        "add sp, #12\n\t"
        "pop {r4-r11, pc}");
}

#endif
