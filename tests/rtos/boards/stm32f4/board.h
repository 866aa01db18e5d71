/* STM32F405 as QEMU has it, whose timers count 1000 a microsecond: characters go out on USART1,
 * TIM2 interrupts 400 times a second, TIM5 counts microseconds. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

#define BOARD_CLOCK_HZ 168000000u
#define BOARD_PRIORITY_BITS 4

struct board_usart {
    volatile uint32_t SR, DR, BRR, CR1;
};
struct board_timer {
    volatile uint32_t CR1, CR2, SMCR, DIER, SR, EGR, CCMR1, CCMR2, CCER, CNT, PSC, ARR;
};
#define USART1 ((struct board_usart *)0x40011000u)
#define TIM2 ((struct board_timer *)0x40000000u)
#define TIM5 ((struct board_timer *)0x40000C00u)
#define RCC_APB1ENR (*(volatile uint32_t *)0x40023840u)
#define RCC_APB2ENR (*(volatile uint32_t *)0x40023844u)
#define NVIC_ISER ((volatile uint32_t *)0xE000E100u)
#define NVIC_IPR ((volatile uint8_t *)0xE000E400u)

enum { BOARD_TIMER_LINE = 28 };

static inline void board_init(void)
{
    RCC_APB2ENR |= 1u << 4;
    RCC_APB1ENR |= 1u << 0 | 1u << 3;
    USART1->BRR = 0x2D9u;
    USART1->CR1 = 0x2008u; /* enabled, transmitter on */
    TIM5->PSC = 999u;
    TIM5->ARR = 0xFFFFFFFFu;
    TIM5->EGR = 1u;
    TIM5->CR1 = 1u;
}

static inline void board_put(char character)
{
    while ((USART1->SR & 0x80u) == 0) {
    }
    USART1->DR = (uint8_t)character;
}

static inline uint32_t board_microseconds(void) { return TIM5->CNT; }

static inline void board_timer_start(void)
{
    NVIC_IPR[BOARD_TIMER_LINE] = 0xE0u; /* below what an RTOS holds off */
    NVIC_ISER[BOARD_TIMER_LINE / 32] = 1u << BOARD_TIMER_LINE % 32;
    TIM2->DIER = 1u;
    TIM2->CR1 = 1u;
    TIM2->ARR = 2500000u; /* QEMU adds what was counted until a write of PSC, CNT or EGR */
}

static inline void board_timer_acknowledge(void) { TIM2->SR = 0; }

void board_timer_handler(void);

#endif
