/* Link driver on USART3: PB10 TX, PB11 RX, 115200 baud. */
#include "link.h"

#include <string.h>

#include "task.h"
#include "semphr.h"

#include "clock.h"
#include "gpio.h"
#include "stm32f405xx.h"

#define BAUD 115200UL
#define USART3_PRIORITY 7U
#define RX_SIZE 256U /* a power of two */

static volatile uint8_t rx_buffer[RX_SIZE];
static volatile uint32_t rx_head, rx_tail;
static volatile uint32_t rx_dropped;
static uint32_t rx_errors;
static struct frame_decoder decoder;
static SemaphoreHandle_t arrived;

void link_init(void)
{
    arrived = xSemaphoreCreateBinary();
    configASSERT(arrived != NULL);

    RCC->AHB1ENR |= RCC_AHB1ENR_GPIOBEN;
    RCC->APB1ENR |= RCC_APB1ENR_USART3EN;
    gpio_alternate(GPIOB, 10, 7);
    gpio_alternate(GPIOB, 11, 7);

    USART3->BRR = CLOCK_APB1_HZ / BAUD;
    USART3->CR1 = USART_CR1_UE | USART_CR1_TE | USART_CR1_RE | USART_CR1_RXNEIE;

    NVIC_SetPriority(USART3_IRQn, USART3_PRIORITY);
    NVIC_EnableIRQ(USART3_IRQn);
}

void USART3_IRQHandler(void)
{
    BaseType_t woken = pdFALSE;

    if ((USART3->SR & (USART_SR_RXNE | USART_SR_ORE)) != 0) {
        uint8_t byte = (uint8_t)USART3->DR;
        uint32_t next = (rx_head + 1U) & (RX_SIZE - 1U);

        if (next != rx_tail) {
            rx_buffer[rx_head] = byte;
            rx_head = next;
        } else {
            rx_dropped++;
        }
        xSemaphoreGiveFromISR(arrived, &woken);
    }
    portYIELD_FROM_ISR(woken);
}

int link_send(const uint8_t *payload, uint32_t length)
{
    uint8_t frame[FRAME_ENCODED_MAX];
    uint32_t bytes = frame_encode(payload, length, frame);

    for (uint32_t i = 0; i < bytes; i++) {
        while ((USART3->SR & USART_SR_TXE) == 0) {
        }
        USART3->DR = frame[i];
    }
    return 1;
}

void link_wait(TickType_t wait)
{
    if (rx_tail == rx_head) {
        (void)xSemaphoreTake(arrived, wait);
    }
}

uint32_t link_receive(uint8_t *payload)
{
    while (rx_tail != rx_head) {
        uint8_t byte = rx_buffer[rx_tail];
        int length;

        rx_tail = (rx_tail + 1U) & (RX_SIZE - 1U);
        length = frame_decode(&decoder, byte);
        if (length > 0) {
            memcpy(payload, decoder.data, (size_t)length);
            return (uint32_t)length;
        }
        if (length < 0) {
            rx_errors++;
        }
    }
    return 0;
}

void link_count(struct link_counters *counters)
{
    counters->errors = rx_errors;
    counters->dropped = rx_dropped;
}
