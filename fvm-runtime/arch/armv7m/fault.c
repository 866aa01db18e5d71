/* Faults: whose they are, and what they say (ARMv7-M ARM B3.2.15-B3.2.20). */
#include "arch/cortexm/scs.h"
#include "kernel/kernel.h"

#define EXC_RETURN_TO_THREAD (1u << 3)
#define EXCEPTION_HARD_FAULT 3u

#define STACKING                                                                                   \
    (SCB_CFSR_MSTKERR | SCB_CFSR_MUNSTKERR | SCB_CFSR_MLSPERR | SCB_CFSR_STKERR |                  \
     SCB_CFSR_UNSTKERR | SCB_CFSR_LSPERR)

void fault_entry(uint32_t exception, uint32_t exc_return); /* from entry.S */
void stray_frame_entry(uint32_t stack);

static enum fvm_fault_cause cause_of(uint32_t status)
{
    if ((status & STACKING) != 0) {
        return FVM_FAULT_STACKING;
    }
    if ((status & 0xFFu) != 0) {
        return FVM_FAULT_MEMORY;
    }
    return (status & 0xFF00u) != 0 ? FVM_FAULT_BUS : FVM_FAULT_USAGE;
}

void fault_entry(uint32_t exception, uint32_t exc_return)
{
    struct fault_detail detail = {.status = SCB_CFSR};
    if ((detail.status & SCB_CFSR_MMARVALID) != 0) {
        detail.address = SCB_MMFAR;
        detail.address_valid = true;
    } else if ((detail.status & SCB_CFSR_BFARVALID) != 0) {
        detail.address = SCB_BFAR;
        detail.address_valid = true;
    }
    /* After a refused exception return (INVPC) the frame may be gone from the thread's stack. */
    detail.no_frame = (detail.status & (STACKING | SCB_CFSR_INVPC)) != 0;
    SCB_CFSR = detail.status; /* write one to clear */
    SCB_HFSR = SCB_HFSR;
    if ((exc_return & EXC_RETURN_TO_THREAD) == 0) {
        cpu_arch_reset(); /* the kernel faulted: nothing it holds can be relied on */
    }
    if (exception == EXCEPTION_HARD_FAULT) {
        fault_raise(cpu.current, FVM_FAULT_HARD, &detail);
    } else if (detail.status != 0) {
        fault_raise(cpu.current, cause_of(detail.status), &detail);
    } /* else: left over from a thread that was stopped meanwhile */
}

/* The frame of a system call lies outside of the caller's RAM. */
void stray_frame_entry(uint32_t stack)
{
    fault_raise(cpu.current, FVM_FAULT_STACKING,
                &(struct fault_detail){.address = stack, .address_valid = true, .no_frame = true});
}
