/* Console port on USART2: PA2 TX (polled), PA3 RX (interrupt and ring buffer). */
#include "serial.h"

#include "clock.h"
#include "gpio.h"
#include "irqlock.h"
#include "work.h"

#define BAUD 115200UL
#define USART2_PRIORITY 2U
#define RX_SIZE 128U /* a power of two */

static volatile char rx_buffer[RX_SIZE];
static volatile uint32_t rx_head, rx_tail;

void serial_init(void)
{
    RCC->AHB1ENR |= RCC_AHB1ENR_GPIOAEN;
    RCC->APB1ENR |= RCC_APB1ENR_USART2EN;
    gpio_alternate(GPIOA, 2, 7);
    gpio_alternate(GPIOA, 3, 7);

    USART2->BRR = CLOCK_APB1_HZ / BAUD;
    USART2->CR1 = USART_CR1_UE | USART_CR1_TE | USART_CR1_RE | USART_CR1_RXNEIE;

    NVIC_SetPriority(USART2_IRQn, USART2_PRIORITY);
    NVIC_EnableIRQ(USART2_IRQn);
}

void USART2_IRQHandler(void)
{
    if ((USART2->SR & (USART_SR_RXNE | USART_SR_ORE)) != 0) {
        char c = (char)USART2->DR;
        uint32_t next = (rx_head + 1U) & (RX_SIZE - 1U);

        if (next != rx_tail) {
            rx_buffer[rx_head] = c;
            rx_head = next;
        }
        work_set(WORK_CONSOLE);
    }
}

int serial_getc(void)
{
    uint32_t state = irq_lock();
    int c = -1;

    if (rx_tail != rx_head) {
        c = (unsigned char)rx_buffer[rx_tail];
        rx_tail = (rx_tail + 1U) & (RX_SIZE - 1U);
    }
    irq_unlock(state);
    return c;
}

void serial_write(const char *text)
{
    while (*text != '\0') {
        while ((USART2->SR & USART_SR_TXE) == 0) {
        }
        USART2->DR = (uint8_t)*text++;
    }
}

void serial_flush(void)
{
    while ((USART2->SR & USART_SR_TC) == 0) {
    }
}
