/* Log console on an STM32 USART (RM0090 rev 19, §30.6), transmit only, polled without waiting. */
#include <stdint.h>

#include "hyp_config.h"
#include "hypervisor/console.h"

#define USART(offset) (*(volatile uint32_t *)(HYP_CONSOLE_BASE + (offset)))
#define USART_SR USART(0x00u)
#define USART_SR_TXE (1u << 7)
#define USART_DR USART(0x04u)
#define USART_BRR USART(0x08u)
#define USART_CR1 USART(0x0Cu)
#define USART_CR1_UE_TE ((1u << 13) | (1u << 3))

void console_init(void)
{
    USART_BRR = HYP_CONSOLE_DIVIDER;
    USART_CR1 = USART_CR1_UE_TE;
}

bool console_put(char character)
{
    if ((USART_SR & USART_SR_TXE) == 0) {
        return false;
    }
    USART_DR = (uint8_t)character;
    return true;
}
