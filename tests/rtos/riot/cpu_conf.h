/* What RIOT's port asks of a chip. */
#ifndef CPU_CONF_H
#define CPU_CONF_H

#include "board.h"
#include "cpu_conf_common.h"

typedef enum { PendSV_IRQn = -2, SysTick_IRQn = -1, BOARD_TIMER_IRQn = BOARD_TIMER_LINE } IRQn_Type;

#define __NVIC_PRIO_BITS BOARD_PRIORITY_BITS
#define __Vendor_SysTickConfig 0
#ifdef __ARM_FP
#define __FPU_PRESENT 1
#else
#define __FPU_PRESENT 0
#endif

#if defined(CPU_CORE_CORTEX_M7)
#include <core_cm7.h>
#elif defined(CPU_CORE_CORTEX_M3)
#include <core_cm3.h>
#else
#include <core_cm4.h>
#endif

#endif
