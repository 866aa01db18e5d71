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
 * thread is to run then, PendSV is pended once more and switches. So does one that comes before the
 * first PendSV, which starts the first thread and takes its privilege away.
 *
 * Where a thread's store may still be on its way when an entry begins (FVM_LATE_ERRORS: devices and
 * stacks are behind different ports of the core), each entry waits for it first. An error of it comes
 * before the entry did anything: it is the thread's, and a call of it is dropped (late_fault).
 */
#include <fvm/hypercall.h>

#include "fvm_config.h"

    .syntax unified
    .thumb
#if FVM_FPU
    .fpu fpv4-sp-d16
#endif

/* Bytes: a path takes 110 at most, calls on objects of the run time 230; an entry that comes at
 * PendSV's end 108 for the frame with FPU registers and 70; four words are a guard that nobody
 * reaches. tests/runtime/test_stack.py and fvmkit verify compute what the finished code takes. */
#ifndef __OPTIMIZE__
#define KERNEL_STACK 704 /* variables stay on the stack, nothing is expanded in place */
#elif FVM_THREAD_CALLS > 0 || FVM_SLOTS > 0 || FVM_MEMORY_WORDS > 0
#define KERNEL_STACK 288
#else
#define KERNEL_STACK 208
#endif
#define STACK_PATTERN 0xA5A5A5A5 /* as in <fvm/stack.h> */

/* Offsets, asserted in context.c. */
#define CPU_CURRENT 0
#define CPU_NEXT 4
#define CPU_CHARGED 8
#define CPU_READY 12
#define CPU_PAYER 16
#define CPU_LEFT 20
#define CPU_LATE 24
#define THREAD_CONTEXT 0
#define THREAD_RETURN_BITS 4
#define THREAD_DOMAIN 8
#define THREAD_VCPU 12
#define THREAD_SIGNAL 16
#define THREAD_PLACE 20         /* bit, then rank and priority */
#define THREAD_RANK 24
#define THREAD_STATE 28
#define THREAD_PORT 32
#define VCPU_VCT 4
#define VCPU_USR 8
#define VCPU_BIT 16
#define VCPU_BUDGET 20
#define VCPU_VCT_WAIT 25
#if FVM_HELD_WORDS
#define VCPU_HELD 48
#define VCPU_LINE 52
#else
#define VCPU_LINE 48
#endif
#define DOMAIN_RAM 32           /* base, size */
#define DOMAIN_CAPABILITY 40
#define DOMAIN_CAPABILITIES 44  /* how many */
#define DOMAIN_SLOTS 52         /* the first one's index, how many */
#define DOMAIN_PROTECTION 60
#define READY 1                 /* enum thread_state */
#define WAITING 2
#define RANK_VCPU 1             /* idle has 0 */
#define PENDSV 14
#define NO_INDEX 0xFF
/* Cycles from the interrupt that wakes a VM to the switch from another, as TIMER_ARCH_STUB: a fixed
 * sum, and less than it takes, so that nobody is paid for being interrupted. */
#define PREEMPTION 128
#define NVIC_ISER 0xE000E100
#define ICPR_FROM_ISER 0x180
#define FRAME_BYTES 32
#define FRAME_NUMBER 16         /* of the call: r12 */
#define FRAME_PC 24

#define SCS 0xE000E000
#define SYST_CVR 0x18
#define ICSR_FROM_SCS 0xD04
#define PENDSVSET (1 << 28)
#define PENDSTSET (1 << 26)
#define CPACR 0xE000ED88
#define MPU_CTRL 0xE000ED94
#define MPU_RBAR 0xE000ED9C
#if FVM_MPU_ENABLE
#define MPU_CTRL_VALUE 5 /* ENABLE, PRIVDEFENA */
#else
#define MPU_CTRL_VALUE 0
#endif

/* Where calls of processes are served. */
#if FVM_PROCESS_FPU
#define SHORT_WAIT call_of_process
#define SHORT_NEXT call_of_process
#else
#define SHORT_WAIT wait_of_process
#if FVM_VCPUS > 0
#define SHORT_NEXT next_request
#else
#define SHORT_NEXT call_of_process
#endif
#endif
#if FVM_PORTS > 0
#define SHORT_INVOKE invocation
#define SHORT_RETURN invocation_return
#else
#define SHORT_INVOKE call_of_process
#define SHORT_RETURN call_of_process
#endif

#define EXC_RETURN_PSP 4
#define CONTROL_NPRIV 1
#define EXC_RETURN_BASIC_FRAME 16

/* End of an entry: back to the thread, unless another one is to run. */
    .macro exit
    pop {r3, lr}
    go_on other_thread
    .endm

    .macro go_on other
    ldr r1, =cpu
    ldrd r2, r3, [r1, #CPU_CURRENT]
    cmp r2, r3
    bne \other
    dsb                         /* before every exception return: erratum 838869 */
    bx lr
    .endm

/* A call by its number, r3, from a table of `count` functions; its result goes into the frame,
 * whose address r12 has then. */
    .macro call table, count
    cmp r3, #\count
    bhs no_such_call
    ldr r12, =\table
    ldr r3, [r12, r3, lsl #2]
    push {r0, lr}
    blx r3                      /* frame, caller */
    pop {r12, lr}
    str r0, [r12]
    .endm

/* What every entry from a thread begins with. fault.c knows its length. */
    .macro wait_for_stores
#if FVM_LATE_ERRORS
    dsb
    isb
#endif
    .endm

/* Entry of a line that has a stub of its own: `send` does its work. */
    .macro own_line_stub name, send
    .thumb_func
\name:
    wait_for_stores
    push {r3, lr}
    bl \send
    exit
    .endm

#include "fvm_lines.inc" /* generated: the macros line_vectors, line_stubs */

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
#if FVM_LATE_ERRORS
    tst lr, #EXC_RETURN_PSP
    beq late_fault
#endif
    /* An exception return that was refused may have pushed its frame here: QEMU does so for a frame
     * with a forged exception number. Nothing else is on MSP, unless the kernel faulted. */
    ldr r2, =kernel_stack_top
    msr msp, r2
    push {r3, lr}
    bl fault_entry
    pop {r3, lr}
    cbz r0, 1f
    mvn lr, #2                  /* PendSV is pended and comes first: nobody returns by this one */
1:  dsb
    bx lr

#if FVM_LATE_ERRORS
late_fault:                     /* r0: exception. An entry was interrupted, its frame is on MSP */
    mov r1, sp
    push {r3, lr}
    bl late_fault_entry
    pop {r3, lr}
    cbz r0, 1f
    ldr r0, =call_dropped
    str r0, [sp, #FRAME_PC]
1:  dsb
    bx lr
#endif

    .thumb_func
timer_stub:
    wait_for_stores
    push {r3, lr}
    bl timer_entry
    b leave

    .thumb_func
call_stub:
    wait_for_stores
    mrs r0, psp
    ldr r12, =cpu
    ldr r1, [r12, #CPU_CURRENT]
    ldr r2, [r1, #THREAD_DOMAIN]
    ldrd r2, r3, [r2, #DOMAIN_RAM]
    subs r2, r0, r2             /* the caller chose where its frame lies: in its RAM, or nowhere */
    subs r3, #FRAME_BYTES
    cmp r2, r3
    bhi stray_frame
    ldr r3, [r0, #FRAME_NUMBER]
#if FVM_VCPUS > 0
    ldr r2, [r1, #THREAD_VCPU]
    cbnz r2, call_of_vm
#endif
#if FVM_PORTS > 0 || !FVM_PROCESS_FPU
    sub r2, r3, #FVM_CALL_SIGNAL_WAIT
    cmp r2, #(FVM_CALL_INVOKE_RETURN - FVM_CALL_SIGNAL_WAIT)
    bhi call_of_process
    tbh [pc, r2, lsl #1]        /* the short ways of calls whose numbers follow each other */
1:  .hword (SHORT_WAIT - 1b) / 2
    .hword (SHORT_NEXT - 1b) / 2
    .hword (SHORT_INVOKE - 1b) / 2
    .hword (SHORT_RETURN - 1b) / 2
#endif
call_of_process:
    call syscall_table, FVM_CALLS
    go_on other_process

#if FVM_VCPUS > 0
call_of_vm:
    cbz r3, wait_of_vct
call_of_vm_long:
    call hypercall_table, FVM_CALLS_OF_VM
    go_on other_for_vm
#endif

no_such_call:
    mov r1, #FVM_E_CALL
    str r1, [r0]
call_dropped:
    dsb
    bx lr

#if FVM_VCPUS > 0
#include "arch/armv7m/wait.inc"
#endif

stray_frame:
    push {r3, lr}
    bl stray_frame_entry
    b leave

    line_stubs

    .thumb_func
line_stub:
    wait_for_stores
    mrs r0, ipsr
    push {r3, lr}
    subs r0, #16
    bl interrupt_dispatch
    /* fall through */

leave:
    exit

other_process:                  /* as other_thread, from a call of a process, which doesn't pay. r12: SP */
#if FVM_PROCESS_FPU
    ldrb r12, [r3, #THREAD_RANK]
    cmp r12, #RANK_VCPU
    bls again                   /* to a VM, or idle: apart, so that no call is too long */
    ldrb r12, [r2, #THREAD_STATE]
    cmp r12, #READY
    bne again                   /* it waits: so does the switch, which takes longer */
    b other_thread
#else
    ldr r0, [r2, #THREAD_CONTEXT]
    stmia r0!, {r4-r11, lr}
    str r12, [r0]
    ldr r6, [r2, #THREAD_DOMAIN]
    ldr r12, [r3, #THREAD_DOMAIN]
    cmp r6, r12
    beq same_domain
    ldr r5, [r3, #THREAD_VCPU]
    cbnz r5, apart              /* to a VM: so that no call is too long */
#if FVM_HELD_WORDS
    b from_process
#else
    b load_domain
#endif
#endif

among_vms:                      /* or idle. To another domain goes the deferred work */
    ldr r0, [r2, #THREAD_DOMAIN]
    ldr r12, [r3, #THREAD_DOMAIN]
    cmp r0, r12
    bne again
#if FVM_FPU
    tst lr, #EXC_RETURN_BASIC_FRAME
    beq other_thread
#endif
    ldr r0, [r2, #THREAD_CONTEXT]
    mrs r12, psp
    stmia r0!, {r4-r11, lr}
    str r12, [r0]
    b same_domain

other_thread:                   /* r1: cpu, r2: who ran, r3: who shall */
    tst lr, #EXC_RETURN_PSP     /* not from a thread: PendSV was interrupted, or boot */
    beq again
    ldr r0, [r2, #THREAD_CONTEXT]
    mrs r12, psp
    stmia r0!, {r4-r11, lr}
    str r12, [r0]
#if FVM_FPU
    tst lr, #EXC_RETURN_BASIC_FRAME
    bne enter
    add r0, r0, #4
    vstmia r0, {s16-s31}
    /* That set FPCA. A line that interrupts the deferred work behind its CPSIE would stack FPU state,
     * which the next domain may have no right to. */
    movs r0, #CONTROL_NPRIV
    msr control, r0
    isb
#endif
enter:                          /* r1: cpu, r2: who ran, r3: who shall */
    ldr r6, [r2, #THREAD_DOMAIN]
    ldr r12, [r3, #THREAD_DOMAIN]
    cmp r6, r12
    beq same_domain
    ldr r4, [r2, #THREAD_VCPU]
    cbz r4, from_process
    str r4, [r1, #CPU_LEFT]
    ldrb r6, [r3, #THREAD_RANK]
    cmp r6, #RANK_VCPU
    bhi from_vm
    mrs r6, ipsr                /* to another VM, or idle: apart, so that no path is too long */
    cmp r6, #PENDSV
    beq vm_to_vm
apart:                          /* by the deferred work, which saves the context again */
    ldr r0, [r2, #THREAD_CONTEXT]
    ldmia r0, {r4-r11}          /* whoever came here used which it wanted */
again:
    mov r0, #SCS
    mov r1, #PENDSVSET
    str r1, [r0, #ICSR_FROM_SCS]
    cpsie i
    dsb
    bx lr

from_process:
    ldr r5, [r3, #THREAD_VCPU]
    cbz r5, 1f                  /* to a process, or idle */
    mrs r6, ipsr                /* to a VM: apart, so that no path is too long */
    cmp r6, #PENDSV
    bne apart
1:
#if FVM_HELD_WORDS
    ldrb r6, [r3, #THREAD_RANK]
    cmp r6, #RANK_VCPU
    bhi load_domain             /* to a process: the same lines wait */
    ldr r7, =interrupt_holding
    ldr r6, [r7]
    movs r7, #0                 /* for idle none */
    cbz r5, 1f
    ldr r7, [r5, #VCPU_HELD]
1:  cmp r6, r7
    bne apart                   /* others than now: time_deferred sees to that first */
#endif
    cbz r5, 2f
    ldr r4, [r1, #CPU_PAYER]
    cbz r4, nobody_paid
    movs r6, #0
    str r6, [r1, #CPU_PAYER]
    b from_vm
nobody_paid:                    /* to whoever r3 is; a VM's time begins, as timer_arch_count */
    mov r6, #SCS
    ldr r7, [r6, #SYST_CVR]
    ldr r8, [r6, #ICSR_FROM_SCS]
    tst r8, #PENDSTSET
    beq 1f
    ldr r7, [r6, #SYST_CVR]
    ldr r8, =FVM_CPU_HZ / FVM_TICK_HZ
    sub r7, r7, r8
1:  str r7, [r1, #CPU_CHARGED]
2:  b load_domain

vm_to_vm:                       /* r4: of r2 */
    ldr r5, [r3, #THREAD_VCPU]
    cbz r5, from_vm
    ldrb r6, [r2, #THREAD_STATE]
    cmp r6, #READY
    bne from_vm                 /* it waits, and pays */
    ldr r7, [r1, #CPU_CHARGED]
    ldr r8, [r5, #VCPU_BUDGET]
    sub r7, r7, #PREEMPTION
    sub r8, r8, #PREEMPTION
    str r7, [r1, #CPU_CHARGED]
    str r8, [r5, #VCPU_BUDGET]
    b from_vm

#if FVM_FPU
other_for_vm_fpu:
    ldr r0, [r2, #THREAD_VCPU]
    str r0, [r1, #CPU_PAYER]
    b other_thread
#endif

other_for_vm:                   /* as other_thread, from a call of a VM, which may have moved SP */
    ldrb r12, [r3, #THREAD_RANK]
    cmp r12, #RANK_VCPU
    bls among_vms
#if FVM_FPU
    tst lr, #EXC_RETURN_BASIC_FRAME
    beq other_for_vm_fpu
#endif
    ldr r0, [r2, #THREAD_CONTEXT]
    mrs r12, psp
    stmia r0!, {r4-r11, lr}
    str r12, [r0]
    ldr r4, [r2, #THREAD_VCPU]
    ldr r12, [r3, #THREAD_DOMAIN]
    strd r4, r4, [r1, #CPU_PAYER] /* for what the process does, too; and it was left */
from_vm:                        /* r4: it, who pays */
    mov r6, #SCS                /* as timer_arch_spent */
    ldr r7, [r6, #SYST_CVR]
    ldr r9, [r6, #ICSR_FROM_SCS]
    ldr r8, [r1, #CPU_CHARGED]
    tst r9, #PENDSTSET
    bne behind_tick
charge:
    sub r8, r8, r7
    str r7, [r1, #CPU_CHARGED]
    ldr r9, [r4, #VCPU_BUDGET]
    subs r9, r9, r8
    str r9, [r4, #VCPU_BUDGET]
    bgt load_domain
    ldr r5, [r4, #VCPU_BIT]     /* it is used up: as scheduler_tick */
    ldr r7, [r1, #CPU_LATE]
    mov r8, #PENDSVSET
    orrs r5, r5, r7
    str r5, [r1, #CPU_LATE]
    str r8, [r6, #ICSR_FROM_SCS]

load_domain:                    /* r1: cpu, r3: whom to run, r12: its domain */
    ldr lr, =MPU_RBAR
    movs r0, #0
    str r3, [r1, #CPU_CURRENT]
    add r12, r12, #DOMAIN_PROTECTION
    str r0, [lr, #MPU_CTRL - MPU_RBAR]
    /* RBAR, RASR and their three aliases: four regions a store multiple. */
    ldmia r12!, {r4-r11}
    stmia lr, {r4-r11}
    ldmia r12!, {r4-r11}
    stmia lr, {r4-r11}
#if FVM_FPU
    ldr r4, [r12]
    str r4, [lr, #CPACR - MPU_RBAR]
#endif
    movs r0, #MPU_CTRL_VALUE
    str r0, [lr, #MPU_CTRL - MPU_RBAR]
    dsb                         /* from here on loads only */
    isb
    ldrd r0, r12, [r3, #THREAD_CONTEXT]
    ldmia r0!, {r4-r11, lr}
    ldr r1, [r0], #4
    msr psp, r1
    cpsie i                     /* masked by the deferred work only */
#if FVM_FPU
    tst r12, #EXC_RETURN_BASIC_FRAME
    beq 2f                      /* the domain may use the FPU */
#endif
    bx r12
#if FVM_FPU
2:  ands lr, lr, #EXC_RETURN_BASIC_FRAME
    orr lr, lr, r12
    beq load_fpu
    ldr r0, =fpu_zero           /* leave it nothing to read */
    vldmia r0, {s0-s31}
    movs r0, #0
    vmsr fpscr, r0
    bx lr
#endif

same_domain:
    str r3, [r1, #CPU_CURRENT]
load_context:                   /* r3: whom to run */
    dsb                         /* from here on loads only */
    ldrd r0, r12, [r3, #THREAD_CONTEXT]
    ldmia r0!, {r4-r11, lr}
    ldr r1, [r0], #4
    and lr, lr, #EXC_RETURN_BASIC_FRAME
    orr lr, lr, r12
    msr psp, r1
    cpsie i
#if FVM_FPU
    tst lr, #EXC_RETURN_BASIC_FRAME
    beq load_fpu
#endif
    bx lr
#if FVM_FPU
load_fpu:
    vldmia r0, {s16-s31}        /* S0-S15 and FPSCR come from its frame */
    bx lr
#endif

behind_tick:                    /* which isn't handled yet: as timer_arch_count explains */
    ldr r7, [r6, #SYST_CVR]
    ldr r9, =FVM_CPU_HZ / FVM_TICK_HZ
    sub r7, r7, r9
    b charge

#include "arch/armv7m/process.inc"
#if FVM_PORTS > 0
#include "arch/armv7m/invocation.inc"
#endif
#if !FVM_PROCESS_FPU
#include "arch/armv7m/signal.inc"
#if FVM_VCPUS > 0
#include "arch/armv7m/request.inc"
#endif
#endif

    .thumb_func
deferred_stub:
    wait_for_stores
    cpsid i
    tst lr, #EXC_RETURN_PSP
    beq start_stub              /* from boot, which runs on MSP */
    push {r3, lr}
    bl time_deferred
    cbnz r0, 2f                 /* pended again: which thread runs is seen then */
    ldr r1, =cpu
    ldrd r2, r3, [r1, #CPU_CURRENT]
    cmp r2, r3
    bne leave
2:  pop {r3, lr}
    cpsie i
    dsb
    bx lr

start_stub:
    ldr r0, =kernel_stack_top   /* drop what boot left on the stack */
    msr msp, r0
    mrs r0, control
    orr r0, r0, #1              /* nPRIV: threads are unprivileged from here on */
    msr control, r0
    isb
#if FVM_HELD_WORDS
    ldr r1, =cpu
    ldr r0, [r1, #CPU_NEXT]
    bl interrupt_hold
#endif
    ldr r1, =cpu
    ldr r3, [r1, #CPU_NEXT]
    ldr r12, [r3, #THREAD_DOMAIN]
    b load_domain
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
