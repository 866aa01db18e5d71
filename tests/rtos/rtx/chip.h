/* The chip, as CMSIS wants to know it. */
#ifndef CHIP_H
#define CHIP_H

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
    TIMER_IRQn = 0
} IRQn_Type;

#define __NVIC_PRIO_BITS BOARD_PRIORITY_BITS
#define __Vendor_SysTickConfig 0
#define __MPU_PRESENT 1
#ifdef __ARM_FP
#define __FPU_PRESENT 1
#endif

#include "board.h"

#include CORE

#define SystemCoreClock BOARD_CLOCK_HZ

#endif
