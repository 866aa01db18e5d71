/* MPS2. A line that interrupts at the next instruction after board_trigger: that of UART1, which
 * transmits a character. */
#ifndef BENCH_BOARD_H
#define BENCH_BOARD_H

#include <stdint.h>

#define BOARD_CLOCK_HZ 25000000u
#define BOARD_LINE 3 /* UART1_TX */
#define BOARD_HANDLER UART1_TX_IRQHandler
#define BOARD_VECTORS [16 + BOARD_LINE] = BOARD_HANDLER
#define BOARD_PRIORITY_BITS 8
#define BOARD_HEAP (12 * 1024) /* bytes, of FreeRTOS */
#define BOARD_IDLE_HOOK 0

struct board_uart {
    volatile uint32_t DATA, STATE, CTRL, INTCLEAR, BAUDDIV;
};
#define UART1 ((struct board_uart *)0x40005000u)

static inline void board_init(void)
{
    UART1->BAUDDIV = 16u;
    UART1->CTRL = 5u; /* transmitter and its interrupt */
}

static inline void board_trigger(void) { UART1->DATA = 'x'; }

static inline void board_acknowledge(void) { UART1->INTCLEAR = 1u; }

void BOARD_HANDLER(void);

#endif
