/* unsigned registers_kept(unsigned seed, volatile TickType_t *ticks, unsigned until): fills registers
 * with patterns, waits for the tick to preempt it, and returns 1 if they are what they were. */
    .text
    .global registers_kept
registers_kept:
    addi    sp, sp, -64
    sw      ra, 0(sp)
    .irp    number, 8, 9
    sw      x\number, 4 * (\number - 6)(sp)
    .endr
    .irp    number, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
    sw      x\number, 4 * (\number - 14)(sp)
    .endr
    .irp    number, 1, 5, 6, 7, 8, 9, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    xori    x\number, a0, 13 * \number
    .endr
1:
    lw      a3, 0(a1)
    sub     a3, a3, a2
    bltz    a3, 1b
    .irp    number, 1, 5, 6, 7, 8, 9, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    xori    a3, x\number, 13 * \number
    bne     a3, a0, 2f
    .endr
    li      a0, 1
    j       3f
2:
    li      a0, 0
3:
    lw      ra, 0(sp)
    .irp    number, 8, 9
    lw      x\number, 4 * (\number - 6)(sp)
    .endr
    .irp    number, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
    lw      x\number, 4 * (\number - 14)(sp)
    .endr
    addi    sp, sp, 64
    ret
