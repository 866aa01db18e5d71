/* USR_REG on RV32: what the kernel keeps of a preempted USR thread in the VM's own RAM.
 *
 * A trap of this architecture stores nothing, so all of the interrupted context is here: x1-x31,
 * the address at which it goes on (mepc) and mstatus as a trap handler of machine mode would read
 * it (Privileged Architecture 1.12, 3.1.6); on cores with F also f0-f31 and fcsr. The registers
 * are adjacent, in the order of their numbers, so that a handler's saves become one block copy.
 *
 * Of MSTATUS two fields mean something to who resumes the task: FS to the kernel, and MPIE to the
 * guest library: a task that is resumed with MPIE = 0 runs masked (VIRT_PRIMASK). The kernel
 * trusts none of these values.
 */
#ifndef FVM_USR_REG_H
#define FVM_USR_REG_H

#include <stddef.h>
#include <stdint.h>

#include <fvm/trap_csr.h>

struct fvm_usr_core {
    uint32_t X1, X2, X3, X4, X5, X6, X7, X8, X9, X10, X11, X12, X13, X14, X15, X16;
    uint32_t X17, X18, X19, X20, X21, X22, X23, X24, X25, X26, X27, X28, X29, X30, X31;
    uint32_t PC;      /* mepc; an instruction of four bytes that does nothing follows a virtual
                         ecall, so that a handler may step over it or not */
    uint32_t MSTATUS; /* MPP = M, MIE = 0 and MPIE = 1 when a handler starts */
};

struct fvm_usr_fpu {
    uint32_t F0, F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13, F14, F15;
    uint32_t F16, F17, F18, F19, F20, F21, F22, F23, F24, F25, F26, F27, F28, F29, F30, F31;
    uint32_t FCSR;
};

struct fvm_usr_reg {
    struct fvm_usr_core Reg;
    struct fvm_usr_fpu Fpu;
};

#define USR_REG (&fvm_state.usr_reg)

/* Block transfers between USR_REG and a guest stack. `p` points to words and isn't changed;
 * first..last are field names of Reg (X1..X31) or, for the second pair, of Fpu (F0..F31).
 *   USR_STORE(p + 3, X5, X31)    sw x5, 12(p) ... sw x31, 116(p)
 *   USR_LOAD(p + 3, X5, X31)     lw x5, 12(p) ... lw x31, 116(p)
 *   USR_FSTORE(p, F0, F31), USR_FLOAD(p, F0, F31)    the same with fsw and flw
 */
#define USR_STORE(p, first, last) USR_COPY_(p, &USR_REG->Reg.first, Reg, first, last)
#define USR_LOAD(p, first, last) USR_COPY_(&USR_REG->Reg.first, p, Reg, first, last)
#define USR_FSTORE(p, first, last) USR_COPY_(p, &USR_REG->Fpu.first, Fpu, first, last)
#define USR_FLOAD(p, first, last) USR_COPY_(&USR_REG->Fpu.first, p, Fpu, first, last)

/* One assignment of a structure of words: a memcpy's pointers may be unaligned. */
#define USR_COPY_(to, from, group, first, last)                                                    \
    __extension__({                                                                                \
        typedef struct {                                                                           \
            uint32_t word[(offsetof(struct fvm_usr_reg, group.last) -                              \
                           offsetof(struct fvm_usr_reg, group.first)) /                            \
                              4u +                                                                 \
                          1u];                                                                     \
        } __attribute__((may_alias)) usr_block_;                                                   \
        *(usr_block_ *)(void *)(to) = *(usr_block_ *)(void *)(from);                               \
    })

#endif
