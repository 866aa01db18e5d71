/* Cortex-M4 core: registers and instructions, under the names that CMSIS gives them. */
#ifndef CORE_CM4_H
#define CORE_CM4_H

#include <stdint.h>

#define __I volatile const
#define __O volatile
#define __IO volatile
#define __STATIC_INLINE static inline

/* --- registers ------------------------------------------------------------------------- */

typedef struct {
    __IO uint32_t ISER[8];
    uint32_t RESERVED0[24];
    __IO uint32_t ICER[8];
    uint32_t RESERVED1[24];
    __IO uint32_t ISPR[8];
    uint32_t RESERVED2[24];
    __IO uint32_t ICPR[8];
    uint32_t RESERVED3[24];
    __IO uint32_t IABR[8];
    uint32_t RESERVED4[56];
    __IO uint8_t IP[240];
    uint32_t RESERVED5[644];
    __O uint32_t STIR;
} NVIC_Type;

typedef struct {
    __I uint32_t CPUID;
    __IO uint32_t ICSR;
    __IO uint32_t VTOR;
    __IO uint32_t AIRCR;
    __IO uint32_t SCR;
    __IO uint32_t CCR;
    __IO uint8_t SHP[12];
    __IO uint32_t SHCSR;
    __IO uint32_t CFSR;
    __IO uint32_t HFSR;
    __IO uint32_t DFSR;
    __IO uint32_t MMFAR;
    __IO uint32_t BFAR;
    __IO uint32_t AFSR;
    uint32_t RESERVED0[18];
    __IO uint32_t CPACR;
} SCB_Type;

typedef struct {
    __IO uint32_t CTRL;
    __IO uint32_t LOAD;
    __IO uint32_t VAL;
    __I uint32_t CALIB;
} SysTick_Type;

typedef struct {
    __IO uint32_t CTRL;
    __IO uint32_t CYCCNT;
} DWT_Type;

typedef struct {
    __IO uint32_t DHCSR;
    __O uint32_t DCRSR;
    __IO uint32_t DCRDR;
    __IO uint32_t DEMCR;
} CoreDebug_Type;

#define SCS_BASE (0xE000E000UL)
#define DWT_BASE (0xE0001000UL)
#define CoreDebug_BASE (0xE000EDF0UL)
#define SysTick_BASE (SCS_BASE + 0x0010UL)
#define NVIC_BASE (SCS_BASE + 0x0100UL)
#define SCB_BASE (SCS_BASE + 0x0D00UL)

#define SCB ((SCB_Type *)SCB_BASE)
#define SysTick ((SysTick_Type *)SysTick_BASE)
#define NVIC ((NVIC_Type *)NVIC_BASE)
#define DWT ((DWT_Type *)DWT_BASE)
#define CoreDebug ((CoreDebug_Type *)CoreDebug_BASE)

#define SCB_AIRCR_VECTKEY_Pos 16U
#define SCB_AIRCR_PRIGROUP_Msk (7UL << 8)
#define SCB_AIRCR_SYSRESETREQ_Msk (1UL << 2)
#define SysTick_CTRL_CLKSOURCE_Msk (1UL << 2)
#define SysTick_CTRL_TICKINT_Msk (1UL << 1)
#define SysTick_CTRL_ENABLE_Msk (1UL << 0)
#define SysTick_LOAD_RELOAD_Msk (0xFFFFFFUL)
#define DWT_CTRL_CYCCNTENA_Msk (1UL << 0)
#define CoreDebug_DEMCR_TRCENA_Msk (1UL << 24)

/* --- instructions ---------------------------------------------------------------------- */

__STATIC_INLINE void __enable_irq(void) { __asm volatile("cpsie i" : : : "memory"); }

__STATIC_INLINE void __disable_irq(void) { __asm volatile("cpsid i" : : : "memory"); }

__STATIC_INLINE uint32_t __get_PRIMASK(void)
{
    uint32_t result;

    __asm volatile("MRS %0, primask" : "=r"(result));
    return result;
}

__STATIC_INLINE void __set_PRIMASK(uint32_t priMask)
{
    __asm volatile("MSR primask, %0" : : "r"(priMask) : "memory");
}

__STATIC_INLINE void __NOP(void) { __asm volatile("nop"); }

__STATIC_INLINE void __WFI(void) { __asm volatile("wfi" : : : "memory"); }

__STATIC_INLINE void __ISB(void) { __asm volatile("isb 0xF" : : : "memory"); }

__STATIC_INLINE void __DSB(void) { __asm volatile("dsb 0xF" : : : "memory"); }

__STATIC_INLINE uint32_t __LDREXW(volatile uint32_t *addr)
{
    uint32_t result;

    __asm volatile("ldrex %0, %1" : "=r"(result) : "Q"(*addr));
    return result;
}

__STATIC_INLINE uint32_t __STREXW(uint32_t value, volatile uint32_t *addr)
{
    uint32_t result;

    __asm volatile("strex %0, %2, %1" : "=&r"(result), "=Q"(*addr) : "r"(value));
    return result;
}

/* --- interrupt controller and timer ---------------------------------------------------- */

__STATIC_INLINE void NVIC_EnableIRQ(IRQn_Type IRQn)
{
    if ((int32_t)IRQn >= 0) {
        NVIC->ISER[(uint32_t)IRQn >> 5] = 1UL << ((uint32_t)IRQn & 0x1FUL);
    }
}

__STATIC_INLINE void NVIC_DisableIRQ(IRQn_Type IRQn)
{
    if ((int32_t)IRQn >= 0) {
        NVIC->ICER[(uint32_t)IRQn >> 5] = 1UL << ((uint32_t)IRQn & 0x1FUL);
        __DSB();
        __ISB();
    }
}

__STATIC_INLINE void NVIC_SetPendingIRQ(IRQn_Type IRQn)
{
    if ((int32_t)IRQn >= 0) {
        NVIC->ISPR[(uint32_t)IRQn >> 5] = 1UL << ((uint32_t)IRQn & 0x1FUL);
    }
}

__STATIC_INLINE void NVIC_ClearPendingIRQ(IRQn_Type IRQn)
{
    if ((int32_t)IRQn >= 0) {
        NVIC->ICPR[(uint32_t)IRQn >> 5] = 1UL << ((uint32_t)IRQn & 0x1FUL);
    }
}

__STATIC_INLINE uint32_t NVIC_GetPendingIRQ(IRQn_Type IRQn)
{
    if ((int32_t)IRQn >= 0) {
        return (NVIC->ISPR[(uint32_t)IRQn >> 5] >> ((uint32_t)IRQn & 0x1FUL)) & 1UL;
    }
    return 0UL;
}

__STATIC_INLINE void NVIC_SetPriorityGrouping(uint32_t PriorityGroup)
{
    uint32_t value = SCB->AIRCR & ~(0xFFFF0000UL | SCB_AIRCR_PRIGROUP_Msk);

    SCB->AIRCR = value | (0x5FAUL << SCB_AIRCR_VECTKEY_Pos) | ((PriorityGroup & 7UL) << 8);
}

__STATIC_INLINE uint32_t NVIC_GetPriorityGrouping(void)
{
    return (SCB->AIRCR & SCB_AIRCR_PRIGROUP_Msk) >> 8;
}

__STATIC_INLINE uint32_t NVIC_EncodePriority(uint32_t PriorityGroup, uint32_t PreemptPriority,
                                             uint32_t SubPriority)
{
    uint32_t group = PriorityGroup & 7UL;
    uint32_t preempt_bits = 7UL - group > __NVIC_PRIO_BITS ? __NVIC_PRIO_BITS : 7UL - group;
    uint32_t sub_bits = group + __NVIC_PRIO_BITS < 7UL ? 0UL : group + __NVIC_PRIO_BITS - 7UL;

    return ((PreemptPriority & ((1UL << preempt_bits) - 1UL)) << sub_bits) |
           (SubPriority & ((1UL << sub_bits) - 1UL));
}

__STATIC_INLINE void NVIC_SetPriority(IRQn_Type IRQn, uint32_t priority)
{
    if ((int32_t)IRQn >= 0) {
        NVIC->IP[(uint32_t)IRQn] = (uint8_t)(priority << (8U - __NVIC_PRIO_BITS));
    } else {
        SCB->SHP[((uint32_t)IRQn & 0xFUL) - 4UL] = (uint8_t)(priority << (8U - __NVIC_PRIO_BITS));
    }
}

__STATIC_INLINE void NVIC_SystemReset(void)
{
    __DSB();
    SCB->AIRCR = (0x5FAUL << SCB_AIRCR_VECTKEY_Pos) | (SCB->AIRCR & SCB_AIRCR_PRIGROUP_Msk) |
                 SCB_AIRCR_SYSRESETREQ_Msk;
    __DSB();
    for (;;) {
        __NOP();
    }
}

__STATIC_INLINE uint32_t SysTick_Config(uint32_t ticks)
{
    if ((ticks - 1UL) > SysTick_LOAD_RELOAD_Msk) {
        return 1UL;
    }
    SysTick->LOAD = ticks - 1UL;
    NVIC_SetPriority(SysTick_IRQn, (1UL << __NVIC_PRIO_BITS) - 1UL);
    SysTick->VAL = 0UL;
    SysTick->CTRL = SysTick_CTRL_CLKSOURCE_Msk | SysTick_CTRL_TICKINT_Msk | SysTick_CTRL_ENABLE_Msk;
    return 0UL;
}

#endif
