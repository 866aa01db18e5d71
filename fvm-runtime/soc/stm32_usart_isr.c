/* Log console on an STM32 USART with ISR and TDR (STM32F7: RM0410 section 34.8), transmit only,
 * polled without waiting. */
#include <stdint.h>

#include "hyp_config.h"
#include "hypervisor/console.h"

#define USART(offset) (*(volatile uint32_t *)(HYP_CONSOLE_BASE + (offset)))
#define USART_CR1 USART(0x00u)
#define USART_CR1_UE_TE ((1u << 0) | (1u << 3))
#define USART_BRR USART(0x0Cu)
#define USART_ISR USART(0x1Cu)
#define USART_ISR_TXE (1u << 7)
#define USART_TDR USART(0x28u)

void console_init(void)
{
    USART_BRR = HYP_CONSOLE_DIVIDER; /* may only be written while UE is 0 */
    USART_CR1 = USART_CR1_UE_TE;
}

bool console_put(char character)
{
    if ((USART_ISR & USART_ISR_TXE) == 0) {
        return false;
    }
    USART_TDR = (uint8_t)character;
    return true;
}
