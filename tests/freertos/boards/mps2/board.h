/* MPS2: characters go out on UART1. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

#define BOARD_CLOCK_HZ 25000000u
#define BOARD_PRIORITY_BITS 8

struct board_uart {
    volatile uint32_t DATA, STATE, CTRL, INTCLEAR, BAUDDIV;
};
#define UART1 ((struct board_uart *)0x40005000u)

static inline void board_init(void)
{
    UART1->BAUDDIV = 16u;
    UART1->CTRL = 1u; /* transmitter */
}

static inline void board_put(char character)
{
    while ((UART1->STATE & 1u) != 0) { /* full */
    }
    UART1->DATA = (uint8_t)character;
}

#endif
