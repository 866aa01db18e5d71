/* ARMv7-M processor set-up.
 *
 * Exception story: MemManage, BusFault and UsageFault have priority 0; SVCall, SysTick, PendSV and
 * every interrupt share 0x80. So no kernel entry preempts another one, no kernel path needs CPSID,
 * and a fault of a thread is taken before anything else that is pending. Threads run unprivileged
 * on PSP; MSP is the kernel's and empty whenever a thread runs. PendSV is used once, to enter the
 * first thread. Lazy FP stacking is off (LSPEN 0): with it a fault of one thread's stack appears
 * inside the kernel or in the next thread.
 */
#include "arch/cortexm/scs.h"
#include "kernel/kernel.h"

#define PRIORITY_SHARED 0x80u
#define PRIORITY_SHARED_X4 0x80808080u

extern const uint32_t vector_table[];

void cpu_arch_init(void)
{
    SCB_VTOR = (uint32_t)vector_table;
    SCB_AIRCR = SCB_AIRCR_KEY; /* PRIGROUP 0: no sub-priority that could split the shared level */
    SCB_SCR = 0;               /* no SLEEPDEEP, no SLEEPONEXIT, no SEVONPEND */
    SCB_CCR = SCB_CCR_STKALIGN | SCB_CCR_DIV_0_TRP; /* USERSETMPEND 0, NONBASETHRDENA 0 */
    SCB_SHPR1 = 0;
    SCB_SHPR2 = PRIORITY_SHARED << 24;
    SCB_SHPR3 = (PRIORITY_SHARED << 24) | (PRIORITY_SHARED << 16);
    for (uint32_t i = 0; i < (FVM_IRQS + 3u) / 4u; i++) {
        NVIC_IPR(i) = PRIORITY_SHARED_X4;
    }
    SCB_SHCSR = SCB_SHCSR_FAULTS_ENABLED;
    SCB_CPACR = 0;
    SCB_FPCCR = SCB_FPCCR_ASPEN;
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

void cpu_arch_forget(void) { SCB_SHCSR = SCB_SHCSR & ~SCB_SHCSR_PENDED; }
