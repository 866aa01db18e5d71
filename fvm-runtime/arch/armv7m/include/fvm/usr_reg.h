/* USR_REG on ARMv7-M: what the kernel keeps of a preempted USR thread in the VM's own RAM.
 *
 * The hardware frame (r0-r3, r12, lr, pc, xPSR and with FPU S0-S15, FPSCR) stays on the guest
 * task's stack; here are the callee-saved registers, SP below which that frame begins, and
 * EXC_RETURN as LR (FVM paper §IV-A, Listing 2; ARMv7-M ARM B1.5.6-B1.5.8). R4-R11 and LR are
 * adjacent so that the store and load multiples of legacy PendSV handlers become one block copy.
 * S16-S31 are valid only while bit 4 of LR is 0. The kernel trusts none of these values.
 */
#ifndef FVM_USR_REG_H
#define FVM_USR_REG_H

#include <stddef.h>
#include <stdint.h>

struct fvm_usr_core {
    uint32_t R4, R5, R6, R7, R8, R9, R10, R11;
    uint32_t LR; /* EXC_RETURN */
    uint32_t SP; /* PSP: address of the exception frame */
};

struct fvm_usr_fpu {
    uint32_t S16, S17, S18, S19, S20, S21, S22, S23;
    uint32_t S24, S25, S26, S27, S28, S29, S30, S31;
};

struct fvm_usr_reg {
    struct fvm_usr_core Reg;
    struct fvm_usr_fpu Fpu;
};

/* The task that a handler interrupted. In VCT that is fvm_state.usr_reg, in a yield another block:
 * it changes between two calls of a handler only. */
extern struct fvm_usr_reg *const virt_usr_reg;
#define USR_REG virt_usr_reg

#define USR_REG_BYTES(group, first, last)                                                          \
    (offsetof(struct fvm_usr_reg, group.last) - offsetof(struct fvm_usr_reg, group.first) + 4u)

/* Block transfers between USR_REG and a guest stack, named after the instruction they stand for.
 * `p` is an lvalue of type fvm_word *, or uint32_t *; first..last are fields of Reg (R4..R11, LR).
 *   USR_STMDB(p, R4, LR)   stmdb p!, {r4-r11, lr}
 *   USR_LDMIA(p, R4, LR)   ldmia p!, {r4-r11, lr}
 *   USR_STMIA(p, R4, R7)   stmia p!, {r4-r7}
 *   USR_VSTMDB(p) USR_VSTMIA(p) USR_VLDMIA(p)   vstmdb/vstmia/vldmia p!, {s16-s31}
 */
#define USR_STMDB(p, first, last) USR_STORE_(p, Reg, first, last)
#define USR_LDMIA(p, first, last) USR_LOAD_(p, Reg, first, last)
#define USR_STMIA(p, first, last) USR_FILL_(p, Reg, first, last)
#define USR_VSTMDB(p) USR_STORE_(p, Fpu, S16, S31)
#define USR_VSTMIA(p) USR_FILL_(p, Fpu, S16, S31)
#define USR_VLDMIA(p) USR_LOAD_(p, Fpu, S16, S31)

#ifdef __thumb2__
/* Whole frames: 8 or 9 registers a load multiple, where a compiler stops at four. Not r7, which may
 * be the frame pointer. */
#define USR_WIDE_ 8u
static inline __attribute__((always_inline)) void usr_copy_wide(void *to, const void *from,
                                                                uint32_t words)
{
    if (words == USR_WIDE_ + 1u) {
        __asm volatile("ldmia %1, {r3-r6, r8-r12}\n\tstmia %0, {r3-r6, r8-r12}"
                       :
                       : "r"(to), "r"(from)
                       : "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "memory");
        return;
    }
    for (; words != 0; words -= USR_WIDE_) {
        __asm volatile("ldmia %1!, {r4-r6, r8-r12}\n\tstmia %0!, {r4-r6, r8-r12}"
                       : "+r"(to), "+r"(from)
                       :
                       : "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "memory");
    }
}
#define USR_IS_WIDE_(words) ((words) % USR_WIDE_ == 0 || (words) == USR_WIDE_ + 1u)
#else
#define usr_copy_wide(to, from, words) ((void)0)
#define USR_IS_WIDE_(words) 0
#endif

/* Else one assignment of a structure of words: the compiler makes load and store multiples of it,
 * as it doesn't of a memcpy, whose pointers may be unaligned. */
#define USR_COPY_(to, from, group, first, last)                                                    \
    __extension__({                                                                                \
        typedef struct {                                                                           \
            uint32_t word[USR_REG_BYTES(group, first, last) / 4u];                                 \
        } __attribute__((may_alias)) usr_block_;                                                   \
        if (USR_IS_WIDE_(sizeof(usr_block_) / 4u)) {                                               \
            usr_copy_wide(to, from, sizeof(usr_block_) / 4u);                                      \
        } else {                                                                                   \
            *(usr_block_ *)(void *)(to) = *(usr_block_ *)(void *)(from);                           \
        }                                                                                          \
    })
#define USR_STORE_(p, group, first, last)                                                          \
    ((p) -= USR_REG_BYTES(group, first, last) / 4u,                                                \
     USR_COPY_(p, &USR_REG->group.first, group, first, last))
#define USR_FILL_(p, group, first, last)                                                           \
    (USR_COPY_(p, &USR_REG->group.first, group, first, last),                                      \
     (void)((p) += USR_REG_BYTES(group, first, last) / 4u))
#define USR_LOAD_(p, group, first, last)                                                           \
    (USR_COPY_(&USR_REG->group.first, p, group, first, last),                                      \
     (void)((p) += USR_REG_BYTES(group, first, last) / 4u))

#endif
