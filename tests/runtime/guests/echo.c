/* A process with a line of its own: tells every byte that comes on UART4. `!` is fatal. */
#include <fvm/native.h>

#include "fvm_domain.h"
#include "report.h"

#define UART4_SR (*(volatile uint32_t *)0x40004C00u)
#define UART4_DR (*(volatile uint32_t *)0x40004C04u)
#define UART4_CR1 (*(volatile uint32_t *)0x40004C0Cu)
#define SR_RXNE (1u << 5)
#define CR1_UE_TE_RE_RXNEIE ((1u << 13) | (1u << 3) | (1u << 2) | (1u << 5))

int main(void)
{
    UART4_CR1 = CR1_UE_TE_RE_RXNEIE;
    report_text("ready\r\n");
    for (;;) {
        (void)fvm_signal_wait(FVM_CAP_UART4);
        while ((UART4_SR & SR_RXNE) != 0) {
            uint8_t byte = (uint8_t)UART4_DR;
            if (byte == '!') {
                *(volatile uint32_t *)0 = byte;
            }
            report("byte", byte);
        }
    }
}
