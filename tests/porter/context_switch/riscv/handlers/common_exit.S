/* One entry for all traps, which saves the context on the task's stack and hands it to C; it runs on
 * into an exit that resumes what C returns, and that others jump to. The unwinder sees one procedure. */
#include "common_exit.h"

    .global trap_entry
    .type   trap_entry, @function
trap_entry:
    .cfi_sections .debug_frame
    .cfi_startproc
    addi    sp, sp, -FRAME
    sw      x1, 4(sp)
    sw      x3, 12(sp)
    sw      x4, 16(sp)
    sw      x5, 20(sp)
    sw      x6, 24(sp)
    sw      x7, 28(sp)
    sw      x8, 32(sp)
    sw      x9, 36(sp)
    sw      x10, 40(sp)
    sw      x11, 44(sp)
    sw      x12, 48(sp)
    sw      x13, 52(sp)
    sw      x14, 56(sp)
    sw      x15, 60(sp)
    sw      x16, 64(sp)
    sw      x17, 68(sp)
    sw      x18, 72(sp)
    sw      x19, 76(sp)
    sw      x20, 80(sp)
    sw      x21, 84(sp)
    sw      x22, 88(sp)
    sw      x23, 92(sp)
    sw      x24, 96(sp)
    sw      x25, 100(sp)
    sw      x26, 104(sp)
    sw      x27, 108(sp)
    sw      x28, 112(sp)
    sw      x29, 116(sp)
    sw      x30, 120(sp)
    sw      x31, 124(sp)
    csrr    s0, mstatus
    csrr    s1, mepc
    csrr    a0, mcause
    addi    s3, sp, FRAME
    sw      s1, 0(sp)
    sw      s3, 8(sp)
    sw      s0, 128(sp)
    mv      a1, sp
    .cfi_def_cfa s0, 0
    jal     x1, dispatch
    .global resume_context
    .type   resume_context, @function
resume_context:
    mv      sp, a0
    lw      s0, 0(sp)
    csrw    mepc, s0
    lw      s0, 128(sp)
    csrw    mstatus, s0
    lw      x1, 4(sp)
    lw      x3, 12(sp)
    lw      x4, 16(sp)
    lw      x5, 20(sp)
    lw      x6, 24(sp)
    lw      x7, 28(sp)
    lw      x8, 32(sp)
    lw      x9, 36(sp)
    lw      x10, 40(sp)
    lw      x11, 44(sp)
    lw      x12, 48(sp)
    lw      x13, 52(sp)
    lw      x14, 56(sp)
    lw      x15, 60(sp)
    lw      x16, 64(sp)
    lw      x17, 68(sp)
    lw      x18, 72(sp)
    lw      x19, 76(sp)
    lw      x20, 80(sp)
    lw      x21, 84(sp)
    lw      x22, 88(sp)
    lw      x23, 92(sp)
    lw      x24, 96(sp)
    lw      x25, 100(sp)
    lw      x26, 104(sp)
    lw      x27, 108(sp)
    lw      x28, 112(sp)
    lw      x29, 116(sp)
    lw      x30, 120(sp)
    lw      x31, 124(sp)
    lw      sp, 8(sp)
    mret
    .cfi_endproc

    .global start_first
    .type   start_first, @function
start_first:
    lw      a0, 0(a0)
    tail    resume_context
