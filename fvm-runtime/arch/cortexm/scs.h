/* System control space of ARMv7-M (and, where they exist there, ARMv6-M): ARMv7-M ARM B3.2-B3.5. */
#ifndef FVM_SCS_H
#define FVM_SCS_H

#include <stdint.h>

#define SCS_REGISTER(address) (*(volatile uint32_t *)(address))

#define SCS_ICTR SCS_REGISTER(0xE000E004u) /* bits 3-0: groups of 32 lines, less one */
#define SCS_ACTLR SCS_REGISTER(0xE000E008u)

#define SYST_CSR SCS_REGISTER(0xE000E010u)
#define SYST_RVR SCS_REGISTER(0xE000E014u)
#define SYST_CVR SCS_REGISTER(0xE000E018u)
#define SYST_CSR_ENABLE_TICKINT_CORE 7u

#define SCS_BANK(address) ((volatile uint32_t *)(address))
#define NVIC_ISER(n) SCS_BANK(0xE000E100u)[n]
#define NVIC_ICER(n) SCS_BANK(0xE000E180u)[n]
#define NVIC_ICPR(n) SCS_BANK(0xE000E280u)[n]
#define NVIC_IPR(n) SCS_BANK(0xE000E400u)[n]

#define SCB_ICSR SCS_REGISTER(0xE000ED04u)
#define SCB_ICSR_PENDSVSET (1u << 28)
#define SCB_ICSR_PENDSVCLR (1u << 27)
#define SCB_ICSR_PENDSTSET (1u << 26)
#define SCB_ICSR_PENDSTCLR (1u << 25)
#define SCB_VTOR SCS_REGISTER(0xE000ED08u)
#define SCB_AIRCR SCS_REGISTER(0xE000ED0Cu)
#define SCB_AIRCR_KEY (0x05FAu << 16)
#define SCB_AIRCR_SYSRESETREQ (1u << 2)
#define SCB_SCR SCS_REGISTER(0xE000ED10u)
#define SCB_CCR SCS_REGISTER(0xE000ED14u)
#define SCB_CCR_DIV_0_TRP (1u << 4)
#define SCB_CCR_STKALIGN (1u << 9)
#define SCB_SHPR1 SCS_REGISTER(0xE000ED18u)
#define SCB_SHPR2 SCS_REGISTER(0xE000ED1Cu)
#define SCB_SHPR3 SCS_REGISTER(0xE000ED20u)
#define SCB_SHCSR SCS_REGISTER(0xE000ED24u)
#define SCB_SHCSR_FAULTS_ENABLED (7u << 16) /* MemManage, BusFault, UsageFault */
#define SCB_SHCSR_PENDED (15u << 12)        /* USGFAULT, MEMFAULT, BUSFAULT, SVCALL */
#define SCB_CFSR SCS_REGISTER(0xE000ED28u)
#define SCB_HFSR SCS_REGISTER(0xE000ED2Cu)
#define SCB_MMFAR SCS_REGISTER(0xE000ED34u)
#define SCB_BFAR SCS_REGISTER(0xE000ED38u)
#define SCB_DEMCR SCS_REGISTER(0xE000EDFCu)
#define SCB_DEMCR_MONITOR (15u << 16) /* MON_EN, MON_PEND, MON_STEP, MON_REQ */
#define SCB_CPACR SCS_REGISTER(0xE000ED88u)
#define SCB_FPCCR SCS_REGISTER(0xE000EF34u)
#define SCB_FPCCR_ASPEN (1u << 31)
#define SCB_FPDSCR SCS_REGISTER(0xE000EF3Cu)

#define SCB_CFSR_IMPRECISERR (1u << 10)
#define SCB_CFSR_MSTKERR (1u << 4)
#define SCB_CFSR_MUNSTKERR (1u << 3)
#define SCB_CFSR_MLSPERR (1u << 5)
#define SCB_CFSR_MMARVALID (1u << 7)
#define SCB_CFSR_STKERR (1u << 12)
#define SCB_CFSR_UNSTKERR (1u << 11)
#define SCB_CFSR_LSPERR (1u << 13)
#define SCB_CFSR_BFARVALID (1u << 15)
#define SCB_CFSR_INVPC (1u << 18)

#define MPU_TYPE SCS_REGISTER(0xE000ED90u)
#define MPU_CTRL SCS_REGISTER(0xE000ED94u)
#define MPU_CTRL_ENABLE_PRIVDEFENA 5u /* HFNMIENA 0 */
#define MPU_RNR SCS_REGISTER(0xE000ED98u)
#define MPU_RASR SCS_REGISTER(0xE000EDA0u)

static inline void barrier_data(void) { __asm volatile("dsb" ::: "memory"); }
static inline void barrier_instruction(void) { __asm volatile("isb" ::: "memory"); }

#endif
