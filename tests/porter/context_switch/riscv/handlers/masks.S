/* Masks that keep what they found, a supervisor call, and a function that calls another. */
    .text
    .global irq_save
irq_save:
    csrrci  a0, mstatus, 8
    ret

    .global irq_restore
irq_restore:
    csrw    mstatus, a0
    ret

    .global irq_open
irq_open:
    csrsi   mstatus, 8
    ret

    .global irq_set
irq_set:
    csrs    mstatus, a0
    ret

    .global irq_exchange
irq_exchange:
    csrrc   a1, mstatus, a0
    mv      a0, a1
    ret

    .global os_yield
os_yield:
    ecall
    ret

    .global with_masks
with_masks:
    addi    sp, sp, -16
    sw      ra, 12(sp)
    sw      s0, 8(sp)
    csrrci  s0, mstatus, 8
    call    work
    andi    s0, s0, 8
    beqz    s0, 1f
    csrsi   mstatus, 8
1:
    lw      s0, 8(sp)
    lw      ra, 12(sp)
    addi    sp, sp, 16
    ret
