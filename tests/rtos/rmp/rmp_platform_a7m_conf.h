/* RMP's configuration on Armv7-M. */
#include "board.h"

#define RMP_ASSERT_ENABLE (1U)
#define RMP_CHECK_ENABLE (1U)
#define RMP_DBGLOG_ENABLE (1U)
#define RMP_PREEMPT_PRIO_NUM (32U)
#define RMP_SLICE_MAX (100000U)
#define RMP_SEM_CNT_MAX (1000U)
#define RMP_INIT_STACK_SIZE (1024U)
#define RMP_GUI_ENABLE (0U)

#define RMP_A7M_NVIC_GROUPING RMP_A7M_NVIC_GROUPING_P2S6
#define RMP_A7M_SYSTICK_VAL (BOARD_CLOCK_HZ / 1000U)
#define RMP_A7M_INT_MASK_LVL (0x80U)
#ifdef __ARM_FP
#define RMP_A7M_COP_FPV4_SP (1U)
#else
#define RMP_A7M_COP_FPV4_SP (0U)
#endif
#define RMP_A7M_COP_FPV5_SP (0U)
#define RMP_A7M_COP_FPV5_DP (0U)

/* PendSV and SysTick below all others; a tick each millisecond. */
#define RMP_A7M_LOWLVL_INIT()                                                                      \
    do {                                                                                           \
        *(volatile rmp_u32_t *)0xE000ED20U = 0xFFFF0000U;                                          \
        *(volatile rmp_u32_t *)0xE000E014U = RMP_A7M_SYSTICK_VAL - 1U;                             \
        *(volatile rmp_u32_t *)0xE000E018U = 0U;                                                   \
        *(volatile rmp_u32_t *)0xE000E010U = 7U;                                                   \
    } while (0)

#define RMP_A7M_PUTCHAR(CHAR) board_put(CHAR)
