/* What a guest has instead of the CSRs of machine mode that trap handlers use. */
#ifndef FVM_TRAP_CSR_H
#define FVM_TRAP_CSR_H

#include <stdint.h>

/* In a virtual handler, mcause as the machine would have given it for the vector that is served:
 * 0x80000007 for the tick, 11 for a supervisor call or a requested switch, 0x8000000B for every
 * interrupt of the description. */
uint32_t virt_cause(void);

/* mstatus as machine mode would read it outside of a handler: MIE says whether VIRT_PRIMASK is
 * open, MPP is M, FS is that of the running task. */
uint32_t virt_mstatus(void);

/* Runs resume() once in VCT, as a trap handler, whatever is masked. In USR_REG it finds this call:
 * X1 is the address behind it, X2 the stack pointer, X10 to X16 are the words behind `resume`,
 * MSTATUS is what virt_mstatus() said, and registers that a call keeps are as they were; the others
 * may hold anything. USR goes on with what resume() leaves there; where that is behind this call,
 * the result is X10. */
uint32_t virt_vct_call(void (*resume)(void), ...);

/* mtvec: from now on the function at this address serves every vector of the machine that has no
 * handler of its own. With bit 0 set it is the address of a table of jumps, four bytes each: the
 * first serves exceptions, the others interrupts by the number that virt_cause() has in its lower
 * bits. */
void virt_trap_set(uintptr_t mtvec);

/* mtvec: what virt_trap_set got last, 0 before. */
uintptr_t virt_trap_get(void);

/* mscratch: a word that only software uses. */
extern volatile uint32_t virt_mscratch;

#endif
