/* Tasks that are switched by calls: what a call has to keep lies on the task's stack, with the
 * address at which it goes on and mstatus as `mret` wants it. */
    .text
    .global switch_tasks
switch_tasks:                           # (where the old one's sp goes, where the new one's is)
    addi    sp, sp, -60
    .irp    number, 8, 9
    sw      x\number, 4 * (\number - 5)(sp)
    .endr
    .irp    number, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18
    sw      x\number, 4 * (\number - 13)(sp)
    .endr
    sw      ra, 8(sp)
    la      t0, resumed
    sw      t0, 0(sp)
    csrrci  t1, mstatus, 8
    andi    t2, t1, 8
    beqz    t2, 1f                      # was masked
    ori     t1, t1, 0x80
1:
    sw      t1, 4(sp)
    sw      sp, 0(a0)
    lw      sp, 0(a1)
    j       resume
resumed:
    li      a0, 0
    ret

    .global start_tasks
start_tasks:                            # (where the first one's sp is)
    lw      sp, 0(a0)
    .global resume
resume:
    lw      t0, 0(sp)
    csrw    mepc, t0
    lw      t0, 4(sp)
    csrw    mstatus, t0
    lw      ra, 8(sp)
    .irp    number, 8, 9
    lw      x\number, 4 * (\number - 5)(sp)
    .endr
    .irp    number, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
    lw      x\number, 4 * (\number - 13)(sp)
    .endr
    addi    sp, sp, 60
    mret
