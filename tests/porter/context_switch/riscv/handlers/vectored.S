/* A table of jumps for a vectored mtvec. The context lies in the running task's control block, which
 * tp points to while a task runs: x1-x31 but x4, then mepc. RV32E has x1-x15. */
    .text
    .global set_vectors
set_vectors:
    la      t0, vectors
    ori     t0, t0, 1
    csrw    mtvec, t0
    ret

    .option norvc
    .balign 64
    .global vectors
vectors:
    j       on_exception
    j       on_exception                # reserved
    j       on_exception
    j       on_exception                # software
    j       on_exception
    j       on_exception
    j       on_exception
    j       on_timer
    .option rvc

    .global on_exception                # an ecall does nothing here
on_exception:
    csrw    mscratch, t0
    csrr    t0, mepc
    addi    t0, t0, 4
    csrw    mepc, t0
    csrr    t0, mscratch
    mret

    .global on_timer
on_timer:
    .irp    number, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    sw      x\number, 4 * (\number - 1)(tp)
    .endr
#ifndef __riscv_32e
    .irp    number, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    sw      x\number, 4 * (\number - 1)(tp)
    .endr
#endif
    csrr    t0, mepc
    sw      t0, 124(tp)
    la      sp, interrupt_stack_top
    li      a5, 4                       # how much four counters show together
    la      a4, counters
    li      a1, 0
1:
    lw      a3, 0(a4)
    add     a1, a1, a3
    addi    a4, a4, 4
    addi    a5, a5, -1
    bnez    a5, 1b
    mv      a0, tp
    call    next_task
    mv      tp, a0
    lw      t0, 124(tp)
    csrw    mepc, t0
    .irp    number, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    lw      x\number, 4 * (\number - 1)(tp)
    .endr
#ifndef __riscv_32e
    .irp    number, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    lw      x\number, 4 * (\number - 1)(tp)
    .endr
#endif
    mret
