/* The chip, as CMSIS and Mynewt want to know it. */
#ifndef CMSIS_NVIC_H
#define CMSIS_NVIC_H

#include "board.h"

typedef enum {
    NonMaskableInt_IRQn = -14,
    HardFault_IRQn = -13,
    MemoryManagement_IRQn = -12,
    BusFault_IRQn = -11,
    UsageFault_IRQn = -10,
    SVCall_IRQn = -5,
    DebugMonitor_IRQn = -4,
    PendSV_IRQn = -2,
    SysTick_IRQn = -1,
    BOARD_TIMER_IRQn = BOARD_TIMER_LINE
} IRQn_Type;

#define NVIC_USER_IRQ_OFFSET 16
#define NVIC_NUM_VECTORS (NVIC_USER_IRQ_OFFSET + BOARD_TIMER_LINE + 1)

#define __NVIC_PRIO_BITS BOARD_PRIORITY_BITS
#define __Vendor_SysTickConfig 0
#define __MPU_PRESENT 1
#define __FPU_PRESENT MYNEWT_VAL(HARDFLOAT)

#include CORE_HEADER

#endif
