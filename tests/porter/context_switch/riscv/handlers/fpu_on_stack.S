/* The context on the task's stack; f0-f31 and fcsr in front of it if the task changed them. */
#define FRAME   (33 * 4)
#define FLOATS  (33 * 4)
#define FS      0x6000

    .text
    .global timer_trap
    .balign 4
timer_trap:
    addi    sp, sp, -FRAME
    sw      ra, 0(sp)
    .irp    number, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24
    sw      x\number, 4 * (\number - 1)(sp)
    .endr
    .irp    number, 25, 26, 27, 28, 29, 30, 31
    sw      x\number, 4 * (\number - 1)(sp)
    .endr
    csrr    t0, mepc
    sw      t0, 124(sp)
    csrr    t1, mstatus
    sw      t1, 128(sp)
    li      t2, FS
    and     t3, t1, t2
    bne     t3, t2, 1f                  # not dirty: nothing to save
    addi    sp, sp, -FLOATS
    .irp    number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22
    fsw     f\number, 4 * \number(sp)
    .endr
    .irp    number, 23, 24, 25, 26, 27, 28, 29, 30, 31
    fsw     f\number, 4 * \number(sp)
    .endr
    frcsr   t0
    sw      t0, 128(sp)
1:
    la      t0, running
    lw      t1, 0(t0)
    sw      sp, 0(t1)
    lla     sp, interrupt_stack_top
    call    tick
    beqz    a0, 2f
    jal     choose
2:
    la      t0, running
    lw      t1, 0(t0)
    lw      sp, 0(t1)
    lw      a0, 4(t1)                   # whether there are f0-f31
    beqz    a0, 3f
    .irp    number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22
    flw     f\number, 4 * \number(sp)
    .endr
    .irp    number, 23, 24, 25, 26, 27, 28, 29, 30, 31
    flw     f\number, 4 * \number(sp)
    .endr
    lw      t0, 128(sp)
    fscsr   t0
    addi    sp, sp, FLOATS
3:
    lw      t0, 124(sp)
    csrw    mepc, t0
    lw      t0, 128(sp)
    csrw    mstatus, t0
    lw      ra, 0(sp)
    .irp    number, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24
    lw      x\number, 4 * (\number - 1)(sp)
    .endr
    .irp    number, 25, 26, 27, 28, 29, 30, 31
    lw      x\number, 4 * (\number - 1)(sp)
    .endr
    addi    sp, sp, FRAME
    mret
