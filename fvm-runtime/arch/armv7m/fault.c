/* Faults: whose they are, and what they say (ARMv7-M ARM B3.2.15-B3.2.20). */
#include "arch/armv7m/exception_frame.h"
#include "arch/cortexm/scs.h"
#include "kernel/kernel.h"

#define EXC_RETURN_TO_THREAD (1u << 3)
#define EXCEPTION_HARD_FAULT 3u
#define EXCEPTION_BUS_FAULT 5u
#define EXCEPTION_SVCALL 11u
#define FIRST_LINE 16u
#define XPSR_EXCEPTION 0x1FFu
#define WAIT_FOR_STORES 8u                            /* bytes of code, in entry.S */
#define LATE (SCB_CFSR_IMPRECISERR | SCB_CFSR_STKERR) /* its stack may be a device, too */

#define STACKING                                                                                   \
    (SCB_CFSR_MSTKERR | SCB_CFSR_MUNSTKERR | SCB_CFSR_MLSPERR | SCB_CFSR_STKERR |                  \
     SCB_CFSR_UNSTKERR | SCB_CFSR_LSPERR)

bool fault_entry(uint32_t exception, uint32_t exc_return); /* from entry.S */
void stray_frame_entry(uint32_t stack);
bool late_fault_entry(uint32_t exception, const struct exception_frame *entry);

extern const uint32_t vector_table[];

uint32_t fault_arch_cause(uint32_t cause, uint32_t status)
{
    if (cause != FVM_FAULT_HARD) {
        if ((status & STACKING) != 0) {
            cause = FVM_FAULT_STACKING;
        } else if ((status & 0xFFu) != 0) {
            cause = FVM_FAULT_MEMORY;
        } else if ((status & 0xFF00u) != 0) {
            cause = FVM_FAULT_BUS;
        }
    }
    if ((status & (SCB_CFSR_MMARVALID | SCB_CFSR_BFARVALID)) != 0) {
        cause |= FAULT_ADDRESS;
    }
    /* After a refused exception return (INVPC) the frame may be gone from the thread's stack. */
    if ((status & (STACKING | SCB_CFSR_INVPC)) != 0) {
        cause |= FAULT_NO_FRAME;
    }
    return cause;
}

/* True: the thread that was interrupted was halted. */
bool fault_entry(uint32_t exception, uint32_t exc_return)
{
    uint32_t status = SCB_CFSR;
    uint32_t address = (status & SCB_CFSR_MMARVALID) != 0 ? SCB_MMFAR : SCB_BFAR;
    SCB_CFSR = status; /* write one to clear */
    SCB_HFSR = SCB_HFSR;
    if ((exc_return & EXC_RETURN_TO_THREAD) == 0) {
        cpu_arch_reset(); /* the kernel faulted: nothing it holds can be relied on */
    }
    bool hard = exception == EXCEPTION_HARD_FAULT;
    if (!hard && status == 0) {
        return false; /* left over from a thread that was stopped meanwhile */
    }
    fault_raise(cpu.current, hard ? FVM_FAULT_HARD : FVM_FAULT_USAGE, status, address);
    return true;
}

#if FVM_LATE_ERRORS
/* The kernel was interrupted in `entry`. Of a thread that is, if a store of it failed late: then
 * the entry has only just begun, and whatever it is for comes from the thread that wrote, or can't
 * be its doing. True: it was a call, which isn't to be served: its caller was halted. */
bool late_fault_entry(uint32_t exception, const struct exception_frame *entry)
{
    uint32_t status = SCB_CFSR, interrupted = entry->xpsr & XPSR_EXCEPTION;
    if (exception != EXCEPTION_BUS_FAULT || status == 0 || (status & ~LATE) != 0 ||
        interrupted >= FIRST_LINE + FVM_IRQS ||
        entry->pc - (vector_table[interrupted] & ~1u) > WAIT_FOR_STORES) {
        cpu_arch_reset(); /* the kernel itself faulted */
    }
    SCB_CFSR = status;
    fault_raise(cpu.current, FVM_FAULT_USAGE, status, 0);
    return interrupted == EXCEPTION_SVCALL;
}
#endif

/* The frame of a system call lies outside of the caller's RAM. */
void stray_frame_entry(uint32_t stack)
{
    fault_raise(cpu.current, FVM_FAULT_STACKING | FAULT_ADDRESS | FAULT_NO_FRAME, 0, stack);
}
