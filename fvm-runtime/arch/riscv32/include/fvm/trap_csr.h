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

/* Runs resume() once in VCT, as a trap handler: USR goes on with what it leaves in USR_REG, whose
 * registers are those of the call but for the ones that a call destroys. */
void virt_vct_call(void (*resume)(void));

/* mtvec: from now on `handler` serves every vector of the machine that has no other. */
void virt_trap_set(void (*handler)(void));

/* mscratch: a word that only software uses. */
extern volatile uint32_t virt_mscratch;

#endif
