/* UART2 as board.h has UART1, with a process that has the line. */
#ifndef BENCH_BOARD_NATIVE_H
#define BENCH_BOARD_NATIVE_H

#include <stdint.h>

struct native_uart {
    volatile uint32_t DATA, STATE, CTRL, INTCLEAR, BAUDDIV;
};
#define UART2 ((struct native_uart *)0x40006000u)

static inline void native_init(void)
{
    UART2->BAUDDIV = 16u;
    UART2->CTRL = 5u;
}

static inline void native_trigger(void) { UART2->DATA = 'x'; }

static inline void native_acknowledge(void) { UART2->INTCLEAR = 1u; }

#endif
