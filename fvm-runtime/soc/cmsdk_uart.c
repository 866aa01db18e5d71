/* Log console on a CMSDK UART (Arm DDI 0479, section 4.3), transmit only, polled without waiting.
 */
#include <stdint.h>

#include "hyp_config.h"
#include "hypervisor/console.h"

#define UART(offset) (*(volatile uint32_t *)(HYP_CONSOLE_BASE + (offset)))
#define UART_DATA UART(0x00u)
#define UART_STATE UART(0x04u)
#define UART_STATE_TX_FULL (1u << 0)
#define UART_CTRL UART(0x08u)
#define UART_CTRL_TX (1u << 0)
#define UART_BAUDDIV UART(0x10u)

void console_init(void)
{
    UART_BAUDDIV = HYP_CONSOLE_DIVIDER;
    UART_CTRL = UART_CTRL_TX;
}

bool console_put(char character)
{
    if ((UART_STATE & UART_STATE_TX_FULL) != 0) {
        return false;
    }
    UART_DATA = (uint8_t)character;
    return true;
}
