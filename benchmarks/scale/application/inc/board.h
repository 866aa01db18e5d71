/* The MPS2 boards: a line that interrupts at the next instruction, that of UART3, which transmits a
 * character. */
#ifndef SCALE_BOARD_H
#define SCALE_BOARD_H

#include <stdint.h>

#define BOARD_CLOCK_HZ 25000000u
#define BOARD_LINE 19 /* UART3_TX */
#define BOARD_HANDLER UART3_TX_IRQHandler
#define BOARD_PRIORITY_BITS 8
#define BOARD_HEAP (24 * 1024) /* bytes, of FreeRTOS */
#define BOARD_IDLE_HOOK 0

struct board_uart {
    volatile uint32_t DATA, STATE, CTRL, INTCLEAR, BAUDDIV;
};
#define UART3 ((struct board_uart *)0x40007000u)

static inline void board_init(void)
{
    UART3->BAUDDIV = 16u;
    UART3->CTRL = 5u; /* transmit, interrupt after each character */
}

static inline void board_trigger(void) { UART3->DATA = 0; }
static inline void board_acknowledge(void) { UART3->INTCLEAR = 1u; }

void BOARD_HANDLER(void);

#endif
