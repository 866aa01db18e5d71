/* USART2 as board.h has USART1, with a process that has the line. */
#ifndef BENCH_BOARD_NATIVE_H
#define BENCH_BOARD_NATIVE_H

#include <stdint.h>

struct native_usart {
    volatile uint32_t SR, DR, BRR, CR1;
};
#define USART2 ((struct native_usart *)0x40004400u)

static inline void native_init(void) { USART2->CR1 = 0x2008u; }

static inline void native_trigger(void)
{
    USART2->SR = 0x20u;
    USART2->CR1 = 0x20A8u;
}

static inline void native_acknowledge(void)
{
    USART2->CR1 = 0x2008u;
    USART2->SR = 0;
}

#endif
