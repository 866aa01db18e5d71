/* TencentOS-tiny as the demonstration needs it, and what the port's CMSIS header asks of a chip. */
#ifndef TOS_CONFIG_H
#define TOS_CONFIG_H

#include "board.h"

#define TOS_CFG_TASK_PRIO_MAX 10u
#define TOS_CFG_SEM_EN 1u
#define TOS_CFG_CPU_TICK_PER_SECOND 1000u
#define TOS_CFG_CPU_CLOCK BOARD_CLOCK_HZ
#define TOS_CFG_IDLE_TASK_STK_SIZE 512u
#define TOS_CFG_LIBC_PRINTF_EN 0u

typedef enum { PendSV_IRQn = -2, SysTick_IRQn = -1, BOARD_TIMER_IRQn = BOARD_TIMER_LINE } IRQn_Type;

#define __NVIC_PRIO_BITS BOARD_PRIORITY_BITS
#define __Vendor_SysTickConfig 0
#ifdef __ARM_FP
#define __FPU_PRESENT 1
#else
#define __FPU_PRESENT 0
#endif

#endif
