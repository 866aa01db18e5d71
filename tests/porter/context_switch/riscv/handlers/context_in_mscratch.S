/* A trap entry that keeps the context of the running task in a block that mscratch points to:
 * x1 at 0, ... x31 at 120, mepc at 124, mstatus at 128. */
    .text
    .global trap_entry
    .balign 4
trap_entry:
    csrrw   t0, mscratch, t0            # the block; the task's t0 waits in mscratch
    sw      x1, 0(t0)
    sw      x2, 4(t0)
    sw      x3, 8(t0)
    sw      x4, 12(t0)
    .irp    number, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26
    sw      x\number, 4 * (\number - 1)(t0)
    .endr
    .irp    number, 27, 28, 29, 30, 31
    sw      x\number, 4 * (\number - 1)(t0)
    .endr
    csrr    t1, mscratch
    sw      t1, 16(t0)
    csrr    t1, mepc
    sw      t1, 124(t0)
    csrr    t1, mstatus
    sw      t1, 128(t0)
    csrr    a0, mcause
    bltz    a0, interrupted
stuck:                                  # an exception waits for a debugger
    csrr    t1, mcause
    csrr    t2, mtval
    j       stuck
interrupted:
    mv      a1, t0
    la      sp, interrupt_stack_top
    call    trap_dispatch               # the block of the task that goes on
    csrw    mscratch, a0
    lw      t1, 124(a0)
    csrw    mepc, t1
    lw      t1, 128(a0)
    csrw    mstatus, t1
    mv      t6, a0
    lw      x1, 0(t6)
    lw      x2, 4(t6)
    lw      x3, 8(t6)
    lw      x4, 12(t6)
    .irp    number, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25
    lw      x\number, 4 * (\number - 1)(t6)
    .endr
    .irp    number, 26, 27, 28, 29, 30, 31
    lw      x\number, 4 * (\number - 1)(t6)
    .endr
    mret

    .global first_task
    .type first_task, @function
first_task:
    la      t0, trap_entry
    csrw    mtvec, t0
    lw      a0, first_context
    csrw    mscratch, a0
    lw      t1, 124(a0)
    csrw    mepc, t1
    li      t1, 0x1880                  # MPP = M, MPIE = 1
    csrw    mstatus, t1
    mv      t6, a0
    .irp    number, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22
    lw      x\number, 4 * (\number - 1)(t6)
    .endr
    .irp    number, 23, 24, 25, 26, 27, 28, 29, 30, 31
    lw      x\number, 4 * (\number - 1)(t6)
    .endr
    mret
