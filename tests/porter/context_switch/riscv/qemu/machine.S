/* Machine mode under a guest in user mode: all registers go to USR_REG and come back from there. */
#include "machine.h"

    .section .reset, "ax"
    .global _start
_start:
    la      sp, stack_top
    la      t0, entry
    csrw    mtvec, t0
    li      t0, -1
    csrw    pmpaddr0, t0                # user mode may use all memory
    li      t0, 0x1F
    csrw    pmpcfg0, t0
    csrw    mstatus, zero               # mret goes to user mode
    la      t0, main
    csrw    mepc, t0
    la      sp, guest_stack_top
    mret

    .text
    .balign 4
entry:
    csrw    mscratch, sp
    la      sp, in_vct
    lw      sp, 0(sp)
    bnez    sp, 2f
    la      sp, fvm_state + USR
    sw      x1, 0(sp)
    .irp    number, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24
    sw      x\number, 4 * (\number - 1)(sp)
    .endr
    .irp    number, 25, 26, 27, 28, 29, 30, 31
    sw      x\number, 4 * (\number - 1)(sp)
    .endr
    csrr    a1, mscratch
    sw      a1, 4(sp)
    csrr    a1, mepc
    sw      a1, 124(sp)
    csrr    a0, mcause
    la      sp, stack_top
    call    trapped                     # what VCT runs, or 0
1:
    bnez    a0, 3f
    la      sp, fvm_state + USR
    lw      a1, 124(sp)
    csrw    mepc, a1
    .irp    number, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24
    lw      x\number, 4 * (\number - 1)(sp)
    .endr
    .irp    number, 25, 26, 27, 28, 29, 30, 31
    lw      x\number, 4 * (\number - 1)(sp)
    .endr
    lw      sp, 4(sp)
    mret
2:                                      # VCT is done, or does what it may not
    csrr    a0, mcause
    mv      a1, t1
    la      sp, stack_top
    call    returned
    j       1b
3:
    csrw    mepc, a0
    la      sp, vct_stack_top
    la      ra, vct_returns
    mret

    .section .text.guest, "ax"
vct_returns:
    li      t1, ASK_RETURN
    ecall

    .macro ask name, number
    .global \name
\name:
    li      t1, \number
    ecall
    .option push
    .option norvc
    nop                                 # a handler may step over it
    .option pop
    ret
    .endm
    ask     virt_vct_trig, ASK_TRIGGER
    ask     virt_unmask_pending, ASK_UNMASKED
    ask     hyp_tick_set, ASK_TICK

    .global virt_vct_call
virt_vct_call:
    mv      t0, a0
    mv      a0, a1
    mv      a1, a2
    mv      a2, a3
    mv      a3, a4
    mv      a4, a5
    mv      a5, a6
    mv      a6, a7
    li      t1, ASK_CALL
    ecall

    .bss
    .balign 16
    .space  4096
guest_stack_top:
    .space  4096
vct_stack_top:
