/* STM32F405. A line that interrupts at the next instruction after board_trigger: that of USART1,
 * whose transmitter is always ready on the chip. The model in QEMU has no interrupt for that but
 * lets software set the receiver's flag, so both are enabled. */
#ifndef BENCH_BOARD_H
#define BENCH_BOARD_H

#include <stdint.h>

#define BOARD_CLOCK_HZ 168000000u
#define BOARD_LINE 37 /* USART1 */
#define BOARD_HANDLER USART1_IRQHandler
#define BOARD_VECTORS [16 + BOARD_LINE] = BOARD_HANDLER
#define BOARD_PRIORITY_BITS 4
#define BOARD_HEAP (12 * 1024) /* bytes, of FreeRTOS */
#define BOARD_IDLE_HOOK 0

struct board_usart {
    volatile uint32_t SR, DR, BRR, CR1;
};
#define USART1 ((struct board_usart *)0x40011000u)
#define RCC_APB2ENR (*(volatile uint32_t *)0x40023844u)

#define USART_ON 0x2008u       /* enabled, transmitter on */
#define USART_TRIGGER 0x20A8u  /* interrupts when it can transmit, or received */
#define USART_RECEIVED 0x0020u /* in SR */

static inline void board_init(void)
{
    RCC_APB2ENR |= 1u << 4;
    USART1->BRR = 0x2D9u;
    USART1->CR1 = USART_ON;
}

static inline void board_trigger(void)
{
    USART1->SR = USART_RECEIVED;
    USART1->CR1 = USART_TRIGGER;
}

static inline void board_acknowledge(void)
{
    USART1->CR1 = USART_ON;
    USART1->SR = 0;
}

void BOARD_HANDLER(void);

#endif
