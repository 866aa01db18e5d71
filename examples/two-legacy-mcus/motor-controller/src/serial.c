/* Console port on USART1: PA9 TX, PA10 RX.
 *
 * Receiving: the interrupt fills rx and gives a semaphore. Sending: the kick writes as long as
 * the transmitter takes characters and leaves the rest to the TXE interrupt.
 */
#include "serial.h"

#include "FreeRTOS.h"
#include "task.h"
#include "semphr.h"

#include "clock.h"
#include "gpio.h"
#include "stm32f405xx.h"

#define BAUD 115200UL
#define USART1_PRIORITY 6U
#define RX_SIZE 128U /* powers of two */
#define TX_SIZE 256U

static volatile char rx_buffer[RX_SIZE];
static volatile uint32_t rx_head, rx_tail;
static volatile char tx_buffer[TX_SIZE];
static volatile uint32_t tx_head, tx_tail;
static volatile int tx_interrupt_only;
static volatile uint32_t tx_interrupt_bytes;
static SemaphoreHandle_t rx_ready;

void serial_init(void)
{
    rx_ready = xSemaphoreCreateBinary();
    configASSERT(rx_ready != NULL);

    RCC->AHB1ENR |= RCC_AHB1ENR_GPIOAEN;
    RCC->APB2ENR |= RCC_APB2ENR_USART1EN;
    gpio_alternate(GPIOA, 9, 7);
    gpio_alternate(GPIOA, 10, 7);

    USART1->BRR = CLOCK_APB2_HZ / BAUD;
    USART1->CR1 = USART_CR1_UE | USART_CR1_TE | USART_CR1_RE | USART_CR1_RXNEIE;

    NVIC_SetPriority(USART1_IRQn, USART1_PRIORITY);
    NVIC_EnableIRQ(USART1_IRQn);
}

/* Hands characters to the transmitter while it takes them; returns how many. The caller keeps
 * the USART1 interrupt out. */
static uint32_t tx_pump(void)
{
    uint32_t sent = 0;

    while (tx_tail != tx_head && (USART1->SR & USART_SR_TXE) != 0) {
        USART1->DR = (uint8_t)tx_buffer[tx_tail];
        tx_tail = (tx_tail + 1U) & (TX_SIZE - 1U);
        sent++;
    }
    return sent;
}

static void tx_kick(void)
{
    taskENTER_CRITICAL();
    if (tx_interrupt_only) {
        USART1->CR1 |= USART_CR1_TXEIE;
        NVIC_SetPendingIRQ(USART1_IRQn);
    } else {
        (void)tx_pump();
        if (tx_tail != tx_head) {
            USART1->CR1 |= USART_CR1_TXEIE;
        }
    }
    taskEXIT_CRITICAL();
}

void USART1_IRQHandler(void)
{
    BaseType_t woken = pdFALSE;

    if ((USART1->SR & (USART_SR_RXNE | USART_SR_ORE)) != 0) {
        char c = (char)USART1->DR;
        uint32_t next = (rx_head + 1U) & (RX_SIZE - 1U);

        if (next != rx_tail) {
            rx_buffer[rx_head] = c;
            rx_head = next;
        }
        xSemaphoreGiveFromISR(rx_ready, &woken);
    }
    if ((USART1->CR1 & USART_CR1_TXEIE) != 0) {
        tx_interrupt_bytes += tx_pump();
        if (tx_tail == tx_head) {
            USART1->CR1 &= ~USART_CR1_TXEIE;
        }
    }
    portYIELD_FROM_ISR(woken);
}

char serial_getc(void)
{
    char c;

    while (rx_tail == rx_head) {
        (void)xSemaphoreTake(rx_ready, portMAX_DELAY);
    }
    c = rx_buffer[rx_tail];
    rx_tail = (rx_tail + 1U) & (RX_SIZE - 1U);
    return c;
}

void serial_write(const char *text, size_t length)
{
    while (length != 0) {
        uint32_t next = (tx_head + 1U) & (TX_SIZE - 1U);

        if (next == tx_tail) {
            tx_kick();
            if (next == tx_tail) {
                vTaskDelay(1);
            }
            continue;
        }
        tx_buffer[tx_head] = *text++;
        tx_head = next;
        length--;
    }
    tx_kick();
}

void serial_flush(void)
{
    while (tx_tail != tx_head || (USART1->SR & USART_SR_TC) == 0) {
        vTaskDelay(1);
    }
}

void serial_send_by_interrupt(int on) { tx_interrupt_only = on; }

uint32_t serial_interrupt_bytes(void) { return tx_interrupt_bytes; }
