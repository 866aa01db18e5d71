/* STM32F405: characters go out on USART1. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

#define BOARD_CLOCK_HZ 168000000u
#define BOARD_PRIORITY_BITS 4

struct board_usart {
    volatile uint32_t SR, DR, BRR, CR1;
};
#define USART1 ((struct board_usart *)0x40011000u)
#define RCC_APB2ENR (*(volatile uint32_t *)0x40023844u)

static inline void board_init(void)
{
    RCC_APB2ENR |= 1u << 4;
    USART1->BRR = 0x2D9u;
    USART1->CR1 = 0x2008u; /* enabled, transmitter on */
}

static inline void board_put(char character)
{
    while ((USART1->SR & 0x80u) == 0) {
    }
    USART1->DR = (uint8_t)character;
}

#endif
