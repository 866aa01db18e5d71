/* What RIOT's build and a vendor's header say of a core. */
#ifndef CPU_CONF_H
#define CPU_CONF_H

#include <stdint.h>

#ifdef __thumb2__
#define CPU_CORE_CORTEX_M4F 1
#define CPU_ARCH_ARMV7M 1
#define CPU_CORE_CORTEXM_FULL_THUMB 1
#define MODULE_CORTEXM_FPU 1
#else
#define CPU_CORE_CORTEX_M0 1
#define CPU_ARCH_ARMV6M 1
#define CPU_CORE_CORTEXM_FULL_THUMB 0
#endif
#define CPU_DEFAULT_IRQ_PRIO 1u
#define CPU_IRQ_NUMOF 32u
#define THREAD_STACKSIZE_DEFAULT 1024
#define THREAD_STACKSIZE_IDLE 256
#define THREAD_EXTRA_STACKSIZE_PRINTF 512
#define ISR_STACKSIZE 512

struct scb {
    volatile uint32_t CPUID, ICSR, VTOR, AIRCR, SCR, CCR, more[28], CPACR;
};
struct systick {
    volatile uint32_t CTRL, LOAD, VAL;
};
#define SCB ((struct scb *)0xE000ED00u)
#define SysTick ((struct systick *)0xE000E010u)
#define SCB_ICSR_PENDSVSET_Msk (1u << 28)
#define SCB_SCR_SLEEPDEEP_Msk 4u
#define SCB_CCR_STKALIGN_Msk 0x200u
#define CONTROL_FPCA_Msk 4u

#define INSTRUCTION(name, text)                                                                    \
    static inline void name(void) { __asm volatile(text); }
INSTRUCTION(__ISB, "isb")
INSTRUCTION(__DSB, "dsb")
INSTRUCTION(__WFI, "wfi")
INSTRUCTION(__WFE, "wfe")
INSTRUCTION(__SEV, "sev")
INSTRUCTION(__disable_irq, "cpsid i")
INSTRUCTION(__enable_irq, "cpsie i")

#define REGISTER(name)                                                                             \
    static inline uint32_t __get_##name(void)                                                      \
    {                                                                                              \
        uint32_t word;                                                                             \
        __asm volatile("mrs %0, " #name : "=r"(word));                                             \
        return word;                                                                               \
    }                                                                                              \
    static inline void __set_##name(uint32_t word)                                                 \
    {                                                                                              \
        __asm volatile("msr " #name ", %0" : : "r"(word));                                         \
    }
REGISTER(MSP)
REGISTER(PSP)
REGISTER(IPSR)
REGISTER(CONTROL)
REGISTER(PRIMASK)
static inline void __set_FPSCR(uint32_t word) { (void)word; }

#endif
