/* Loads all registers from tags.in, goes a way, stores them to tags.out.
 *
 *   void way_NAME(struct tags *)
 */
#include "tagged.h"

#define IN(n) (4 * (n))
#define OUT(n) (4 * (TAGS + (n)))
#define FPU (8 * TAGS)
#define SAVED 56 /* r0-r12 and lr, while they are copied */
#define NOPS 150

    .syntax unified
    .thumb
#ifdef __ARM_FP
    .fpu fpv4-sp-d16
#endif
#ifdef __ARM_FEATURE_SIMD32
#define FLAGS apsr_nzcvqg
#else
#define FLAGS apsr_nzcvq
#endif

    .macro load_tags
#ifdef __ARM_FP
    ldr r1, [r0, #FPU]
    cbz r1, 1f
    vpush {s16-s31}
    ldr r1, [r0, #IN(TAG_FPSCR)]
    vmsr fpscr, r1
    add r1, r0, #IN(TAG_FPU)
    vldmia r1, {s0-s31}
1:
#endif
    push {r0, r4-r11, lr}
    ldr r1, [r0, #IN(TAG_APSR)]
    msr FLAGS, r1
    ldr lr, [r0, #IN(TAG_LR)]
    .endm

    .macro way name
    .section .text.way_\name, "ax", %progbits
    .balign 4
    .thumb_func
    .global way_\name
    .type way_\name, %function
way_\name:
    load_tags
    .endm

    .macro ends name
    b store
    .ltorg
    .size way_\name, . - way_\name
    .endm

    way spin
    ldmia r0, {r0-r12}
    .rept NOPS
    nop
    .endr
    itttt eq
    nopeq
    nopeq
    nopeq
    nopeq
    ittee cs
    nopcs
    nopcs
    nopcc
    nopcc
    .rept NOPS
    nop
    .endr
    ends spin

    way call
    ldmia r0, {r0-r12}
    svc 0xF5
    ends call

#ifdef TEST_VM
/* The frame has the tags of r0-r3, r12, lr and xPSR; the other registers are loaded. */
    way resume
    sub sp, #32
    ldmia r0, {r0-r3}
    stmia sp, {r0-r3}
    ldr r0, [sp, #32]           /* the tags */
    ldr r1, [r0, #IN(12)]
    str r1, [sp, #16]
    str lr, [sp, #20]
    adr r1, resumed
    str r1, [sp, #24]
    ldr r1, [r0, #IN(TAG_APSR)]
    orr r1, r1, #0x01000000
    str r1, [sp, #28]
    add r1, r0, #IN(4)
    ldmia r1, {r4-r11}
    mov r0, sp
    mvn r1, #2                  /* 0xFFFFFFFD: a basic frame */
    mov r12, #10
    svc 0xF5
    udf #0
    .balign 4
resumed:
    ends resume
#endif

    .section .text.way_store, "ax", %progbits
    .balign 4
    .thumb_func
    .type store, %function
store:
    push {r0-r12, lr}
    mrs r2, apsr
    ldr r1, [sp, #SAVED]        /* the tags */
    str r2, [r1, #OUT(TAG_APSR)]
#ifdef __ARM_FP
    ldr r0, [r1, #FPU]
    cbz r0, 1f
    vmrs r0, fpscr
    str r0, [r1, #OUT(TAG_FPSCR)]
    add r0, r1, #OUT(TAG_FPU)
    vstmia r0, {s0-s31}
1:
#endif
    add r3, r1, #OUT(0)
    pop {r4-r11}
    stmia r3!, {r4-r11}
    pop {r4-r9}
    stmia r3!, {r4-r9}
    pop {r0, r4-r11, lr}
#ifdef __ARM_FP
    ldr r1, [r0, #FPU]
    cbz r1, 2f
    vpop {s16-s31}
2:
#endif
    bx lr
