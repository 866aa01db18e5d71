/* ARMv7-M processor set-up.
 *
 * Exception story: MemManage, BusFault and UsageFault have priority 0; SVCall, SysTick and every
 * interrupt share 0x80. So no kernel entry preempts another one, no kernel path needs CPSID, and a
 * fault of a thread is taken before anything else that is pending. Threads run unprivileged on PSP;
 * MSP is the kernel's and empty whenever a thread runs. PendSV, less urgent than the rest, enters
 * the first thread and then does the work that may wait (entry.S). Lazy FP stacking is off (LSPEN
 * 0): with it a fault of one thread's stack appears inside the kernel or in the next thread.
 */
#include "arch/cortexm/scs.h"
#include "kernel/kernel.h"

#define PRIORITY_SHARED 0x80u
#define PRIORITY_DEFERRED 0xF0u /* chips have four bits or more */
#define PRIORITY_SHARED_X4 0x80808080u

extern const uint32_t vector_table[];

/* Lines and timer as after reset: a boot loader may have used them. */
static void quiet(void)
{
    SYST_CSR = 0;
    SCB_ICSR = SCB_ICSR_PENDSVCLR | SCB_ICSR_PENDSTCLR;
    for (uint32_t i = 0; i <= (SCS_ICTR & 15u); i++) {
        NVIC_ICER(i) = ~0u;
        NVIC_ICPR(i) = ~0u;
    }
    for (uint32_t i = 0; i < (FVM_IRQS + 3u) / 4u; i++) {
        NVIC_IPR(i) = PRIORITY_SHARED_X4;
    }
}

/* Nothing is taken from reset: every register that the kernel relies on is written, each for the
 * reason in docs/hardware-obligations.md. */
void cpu_arch_init(void)
{
    SCB_VTOR = (uint32_t)vector_table;
    SCB_AIRCR = SCB_AIRCR_KEY; /* PRIGROUP 0: no sub-priority that could split the shared level */
    SCB_SCR = 0;               /* no SLEEPDEEP, no SLEEPONEXIT, no SEVONPEND */
    /* UNALIGN_TRP, BFHFNMIGN, USERSETMPEND, NONBASETHRDENA 0 */
    SCB_CCR = SCB_CCR_STKALIGN | SCB_CCR_DIV_0_TRP;
    SCS_ACTLR = 0; /* write buffer, folding and interruptible multi-cycle instructions stay on */
    SCB_SHPR1 = 0;
    SCB_SHPR2 = PRIORITY_SHARED << 24;
    SCB_SHPR3 = (PRIORITY_SHARED << 24) | (PRIORITY_DEFERRED << 16);
    SCB_SHCSR = SCB_SHCSR_FAULTS_ENABLED; /* and nothing active or pending */
    SCB_CFSR = ~0u;                       /* write one to clear: no fault so far */
    SCB_HFSR = ~0u;
    SCB_DEMCR &= ~SCB_DEMCR_MONITOR; /* a guest's BKPT is its HardFault; the rest is a debugger's */
    SCB_CPACR = 0;
#if FVM_FPU
    SCB_FPCCR = SCB_FPCCR_ASPEN; /* LSPACT 0 too */
    SCB_FPDSCR = 0;
#endif
    quiet();
    barrier_data();
    barrier_instruction();
}

_Noreturn void cpu_arch_start(void)
{
    SCB_ICSR = SCB_ICSR_PENDSVSET;
    barrier_data();
    __asm volatile("cpsie i\n\tisb" ::: "memory");
    for (;;) { /* PendSV never returns here */
    }
}

_Noreturn void cpu_arch_reset(void)
{
    barrier_data();
    SCB_AIRCR = SCB_AIRCR_KEY | SCB_AIRCR_SYSRESETREQ;
    barrier_data();
    for (;;) {
    }
}

void cpu_arch_settle(void) { barrier_data(); }

void cpu_arch_defer(void) { SCB_ICSR = SCB_ICSR_PENDSVSET; }

void cpu_arch_forget(void) { SCB_SHCSR = SCB_SHCSR & ~SCB_SHCSR_PENDED; }
