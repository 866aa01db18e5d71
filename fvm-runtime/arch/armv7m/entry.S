/* Reset, exception entries and the context switch.
 *
 * A kernel entry comes from a thread, so MSP is empty before it and {r3, lr} are its first two
 * words: EXC_RETURN lies at kernel_exc_return (context_arch_resume changes it there). C handlers
 * keep r4-r11 by the procedure call standard, so they are still the thread's when the entry ends;
 * only then, and only if another thread is to run, are they saved. What a thread resumes with is
 * its own except EXC_RETURN: bit 4 (frame type) may come from it, the other bits are the kernel's.
 *
 * PendSV, the deferred work, is less urgent than the rest and holds everything off while it runs.
 * An entry that comes before its first or behind its last instruction returns to it; if another
 * thread is to run then, PendSV is pended once more and switches.
 */
#include <fvm/hypercall.h>

#include "fvm_config.h"

    .syntax unified
    .thumb
#if FVM_FPU
    .fpu fpv4-sp-d16
#endif

#define KERNEL_STACK 512
#define STACK_PATTERN 0xA5A5A5A5 /* as in <fvm/stack.h> */

/* Entry of a line that has a stub of its own: `send` does its work. */
    .macro own_line_stub name, send
    .thumb_func
\name:
    push {r3, lr}
    bl \send
    b leave
    .endm

#include "fvm_lines.inc" /* generated: the macros line_vectors, line_stubs */

/* Offsets, asserted in context.c. */
#define CPU_CURRENT 0
#define CPU_NEXT 4
#define THREAD_CONTEXT 0
#define THREAD_RETURN_BITS 4
#define THREAD_DOMAIN 8
#define THREAD_FPU 20
#define THREAD_PORT 28
#define DOMAIN_RAM 32           /* base, size */
#define DOMAIN_CAPABILITY 40
#define DOMAIN_CAPABILITIES 44  /* how many */
#define DOMAIN_PROTECTION 60
#define FRAME_BYTES 32
#define FRAME_NUMBER 16         /* of the call: r12 */

#define MPU_CTRL 0xE000ED94
#define ICSR 0xE000ED04
#define PENDSVSET (1 << 28)

#define EXC_RETURN_PSP 4
#define EXC_RETURN_TO_THREAD 8
#define EXC_RETURN_BASIC_FRAME 16

    .section .vectors, "a"
    .global vector_table
vector_table:
    .word kernel_stack_top
    .word reset_entry
    .word unused_entry      /* NMI */
    .word fault_stub        /* HardFault */
    .word fault_stub        /* MemManage */
    .word fault_stub        /* BusFault */
    .word fault_stub        /* UsageFault */
    .word 0, 0, 0, 0
    .word call_stub         /* SVCall */
    .word unused_entry      /* DebugMonitor */
    .word 0
    .word deferred_stub     /* PendSV */
    .word timer_stub        /* SysTick */
    line_vectors

    .text
    .thumb_func
    .global reset_entry
reset_entry:                    /* after reset, or from a boot loader that left anything behind */
    cpsid i
    movs r0, #0
    ldr r1, =MPU_CTRL
    str r0, [r1]
    dsb
    isb
    ldr r1, =kernel_stack_top
    msr msp, r1
    msr control, r0             /* on MSP, no live FPU state */
    isb
    msr basepri, r0
    cpsie f
    ldr r0, =_sidata
    ldr r1, =_sdata
    ldr r2, =_edata
    b 2f
1:  ldr r3, [r0], #4
    str r3, [r1], #4
2:  cmp r1, r2
    blo 1b
    ldr r1, =_sbss
    ldr r2, =_ebss
    movs r3, #0
    b 4f
3:  str r3, [r1], #4
4:  cmp r1, r2
    blo 3b
    ldr r1, =kernel_stack_limit /* nothing is on it yet */
    ldr r2, =kernel_stack_top
    mov r3, #STACK_PATTERN
5:  str r3, [r1], #4
    cmp r1, r2
    blo 5b
    bl kernel_main

    .thumb_func
unused_entry:                   /* NMI and DebugMonitor: nobody asked for them */
    bl cpu_arch_reset

    .thumb_func
fault_stub:
    mrs r0, ipsr
    mov r1, lr
    /* An exception return that was refused may have pushed its frame here: QEMU does so for a frame
     * with a forged exception number. Nothing else is on MSP, unless the kernel faulted. */
    ldr r2, =kernel_stack_top
    msr msp, r2
    push {r3, lr}
    bl fault_entry
    b leave

    .thumb_func
timer_stub:
    push {r3, lr}
    bl timer_entry
    b leave

    .thumb_func
call_stub:
    mrs r0, psp
    ldr r12, =cpu
    ldr r1, [r12, #CPU_CURRENT]
    ldr r2, [r1, #THREAD_DOMAIN]
    ldrd r2, r3, [r2, #DOMAIN_RAM]
    subs r2, r0, r2             /* the caller chose where its frame lies: in its RAM, or nowhere */
    subs r3, #FRAME_BYTES
    cmp r2, r3
    bhi stray_frame
#if FVM_PORTS > 0
    ldr r3, [r0, #FRAME_NUMBER]
    subs r3, #FVM_CALL_INVOKE
    cmp r3, #(FVM_CALL_INVOKE_RETURN - FVM_CALL_INVOKE)
    bls invocation
call_other:
#endif
    push {r3, lr}
    bl call_entry
    b leave

stray_frame:
    push {r3, lr}
    bl stray_frame_entry
    b leave

    line_stubs

    .thumb_func
line_stub:
    mrs r0, ipsr
    push {r3, lr}
    subs r0, #16
    bl interrupt_dispatch
    /* fall through */

leave:
    pop {r3, lr}
    ldr r1, =cpu
    ldrd r2, r3, [r1, #CPU_CURRENT]
    cmp r2, r3
    bne 1f
    dsb                         /* before every exception return: erratum 838869 */
    bx lr
1:  tst lr, #EXC_RETURN_TO_THREAD
    beq again
    ldr r0, [r2, #THREAD_CONTEXT]
    mrs r12, psp
    stmia r0!, {r4-r11, lr}
    str r12, [r0], #4
#if FVM_FPU
    tst lr, #EXC_RETURN_BASIC_FRAME
    it eq
    vstmiaeq r0, {s16-s31}
#endif
    mov r0, r2

enter:
    bl scheduler_switch
    dsb                         /* only loads follow */
    bic r1, r0, #1
    ldrd r2, r3, [r1, #THREAD_CONTEXT]
    ldmia r2!, {r4-r11, lr}
    ldr r12, [r2]
    and lr, lr, #EXC_RETURN_BASIC_FRAME
    orr lr, lr, r3
    msr psp, r12
    cpsie i                     /* masked by the deferred work only */
#if FVM_FPU
    tst lr, #EXC_RETURN_BASIC_FRAME
    ittt eq
    addeq r2, r2, #4
    vldmiaeq r2, {s16-s31}
    bxeq lr                     /* S0-S15 and FPSCR come from its frame */
    lsls r0, r0, #31
    it eq
    bxeq lr
    /* another domain, which may use the FPU and has no live FP state: leave it nothing to read */
    ldr r0, =fpu_zero
    vldmia r0, {s0-s31}
    movs r0, #0
    vmsr fpscr, r0
#endif
    bx lr

#if FVM_PORTS > 0
#include "arch/armv7m/invocation.inc"
#endif

    .thumb_func
deferred_stub:
    cpsid i
    tst lr, #EXC_RETURN_PSP
    beq start_stub              /* from boot, which runs on MSP */
    push {r3, lr}
    bl time_deferred
    cbnz r0, 2f                 /* more to do: pended again, which thread runs is seen then */
    ldr r1, =cpu
    ldrd r2, r3, [r1, #CPU_CURRENT]
    cmp r2, r3
    bne leave
2:  pop {r3, lr}
    cpsie i
    dsb
    bx lr

again:
    ldr r0, =ICSR
    mov r1, #PENDSVSET
    str r1, [r0]
    dsb
    bx lr

start_stub:
    ldr r0, =kernel_stack_top   /* drop what boot left on the stack */
    msr msp, r0
    mrs r0, control
    orr r0, r0, #1              /* nPRIV: threads are unprivileged from here on */
    msr control, r0
    isb
    ldr r0, =cpu
    ldr r0, [r0, #CPU_CURRENT]
    b enter
    .ltorg

#if FVM_FPU
    .section .rodata
    .balign 4
fpu_zero:
    .space 128
#endif

    .section .kernel_stack, "aw", %nobits
    .balign 8
    .global kernel_stack_limit
kernel_stack_limit:
    .space KERNEL_STACK - 4
    .global kernel_exc_return
kernel_exc_return:
    .space 4
    .global kernel_stack_top
kernel_stack_top:
