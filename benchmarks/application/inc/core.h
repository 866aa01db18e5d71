/* What the application uses of CMSIS-Core. */
#ifndef BENCH_CORE_H
#define BENCH_CORE_H

#include <stdint.h>

#define NVIC_ISER ((volatile uint32_t *)0xE000E100u)
#define NVIC_IPR ((volatile uint8_t *)0xE000E400u)

struct core_systick {
    volatile uint32_t CTRL, LOAD, VAL, CALIB;
};
#define SysTick ((struct core_systick *)0xE000E010u)

static inline void NVIC_EnableIRQ(int line) { NVIC_ISER[line / 32] = 1u << (line % 32); }

static inline void NVIC_SetPriority(int line, uint32_t priority)
{
    NVIC_IPR[line] = (uint8_t)(priority << (8 - BOARD_PRIORITY_BITS));
}

static inline uint32_t SysTick_Config(uint32_t cycles)
{
    SysTick->LOAD = cycles - 1u;
    SysTick->VAL = 0;
    SysTick->CTRL = 7u;
    return 0;
}

#endif
