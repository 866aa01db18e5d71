/* LiteOS-M as the demonstration needs it, and what the port's CMSIS header asks of a chip. */
#ifndef TARGET_CONFIG_H
#define TARGET_CONFIG_H

#include "board.h"

#define OS_SYS_CLOCK BOARD_CLOCK_HZ
#define LOSCFG_BASE_CORE_TICK_PER_SECOND 1000UL
#define LOSCFG_BASE_CORE_TICK_RESPONSE_MAX 0x1000000UL
#define LOSCFG_BASE_CORE_TICK_WTIMER 1        /* counts on: the shim's timer has all of the time */
#define LOSCFG_USE_SYSTEM_DEFINED_INTERRUPT 0 /* the board has the vector table */
#define LOSCFG_BASE_CORE_TSK_LIMIT 8
#define LOSCFG_BASE_CORE_TSK_IDLE_STACK_SIZE 512U
#define LOSCFG_BASE_IPC_SEM_LIMIT 12
#define LOSCFG_BASE_IPC_MUX 0
#define LOSCFG_BASE_IPC_QUEUE 0
#define LOSCFG_BASE_CORE_SWTMR 0
#define LOSCFG_SYS_HEAP_SIZE 12288U
#define LOSCFG_MEM_MUL_POOL 0
#define LOSCFG_KERNEL_PRINTF 0

typedef enum {
    NonMaskableInt_IRQn = -14,
    MemoryManagement_IRQn = -12,
    BusFault_IRQn = -11,
    UsageFault_IRQn = -10,
    SVCall_IRQn = -5,
    PendSV_IRQn = -2,
    SysTick_IRQn = -1,
    BOARD_TIMER_IRQn = BOARD_TIMER_LINE
} IRQn_Type;

#define __NVIC_PRIO_BITS BOARD_PRIORITY_BITS
#define __Vendor_SysTickConfig 0
#ifndef __FPU_PRESENT /* assembler for Cortex-M7 asks for it, and sees no header */
#ifdef __ARM_FP
#define __FPU_PRESENT 1
#else
#define __FPU_PRESENT 0
#endif
#endif

#if defined(__ARM_FEATURE_FMA) && __ARM_FP == 0xE
#include <core_cm7.h>
#else
#include <core_cm4.h>
#endif

#endif
