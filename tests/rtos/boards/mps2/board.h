/* MPS2: characters go out on UART1, TIMER0 interrupts 400 times a second, TIMER1 tells time. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

#define BOARD_CLOCK_HZ 25000000u
#define BOARD_PRIORITY_BITS 8

struct board_uart {
    volatile uint32_t DATA, STATE, CTRL, INTCLEAR, BAUDDIV;
};
struct board_timer {
    volatile uint32_t CTRL, VALUE, RELOAD, INTCLEAR;
};
#define UART1 ((struct board_uart *)0x40005000u)
#define TIMER0 ((struct board_timer *)0x40000000u)
#define TIMER1 ((struct board_timer *)0x40001000u)
#define NVIC_ISER ((volatile uint32_t *)0xE000E100u)
#define NVIC_IPR ((volatile uint8_t *)0xE000E400u)

enum { BOARD_TIMER_LINE = 8 };

static inline void board_init(void)
{
    UART1->BAUDDIV = 16u;
    UART1->CTRL = 1u; /* transmitter */
    TIMER1->RELOAD = 0xFFFFFFFFu;
    TIMER1->VALUE = 0xFFFFFFFFu;
    TIMER1->CTRL = 1u;
}

static inline void board_put(char character)
{
    while ((UART1->STATE & 1u) != 0) { /* full */
    }
    UART1->DATA = (uint8_t)character;
}

static inline uint32_t board_microseconds(void)
{
    return (0xFFFFFFFFu - TIMER1->VALUE) / (BOARD_CLOCK_HZ / 1000000u);
}

static inline void board_timer_start(void)
{
    NVIC_IPR[BOARD_TIMER_LINE] = 0xE0u; /* below what an RTOS holds off */
    NVIC_ISER[BOARD_TIMER_LINE / 32] = 1u << BOARD_TIMER_LINE % 32;
    TIMER0->RELOAD = BOARD_CLOCK_HZ / 400u - 1u;
    TIMER0->VALUE = BOARD_CLOCK_HZ / 400u - 1u;
    TIMER0->CTRL = 9u; /* on, with its interrupt */
}

static inline void board_timer_acknowledge(void) { TIMER0->INTCLEAR = 1u; }

void board_timer_handler(void);

#endif
