/* Real lines: USART2 is maskable, USART3 transparent. One letter on USART1, which is polled, is a
 * command; every answer ends with a line `.`. */
#include <fvm/guest.h>

#include "report.h"

#define USART2_LINE 38
#define USART3_LINE 39
#define USART1_SR (*(volatile uint32_t *)0x40011000u)
#define USART1_DR (*(volatile uint32_t *)0x40011004u)
#define USART2_SR (*(volatile uint32_t *)0x40004400u)
#define USART2_DR (*(volatile uint32_t *)0x40004404u)
#define USART2_CR1 (*(volatile uint32_t *)0x4000440Cu)
#define USART3_SR (*(volatile uint32_t *)0x40004800u)
#define USART3_DR (*(volatile uint32_t *)0x40004804u)
#define USART3_CR1 (*(volatile uint32_t *)0x4000480Cu)
#define SR_RXNE (1u << 5)
#define CR1_UE_TE_RE_RXNEIE ((1u << 13) | (1u << 3) | (1u << 2) | (1u << 5))

static volatile uint32_t runs2, bytes2, runs3, bytes3;
static volatile uint32_t leave;       /* runs that don't read the byte: the line stays asserted */
static volatile uint32_t disable_own; /* the handler disables its own line */

void usart2_handler(void)
{
    runs2++;
    if (disable_own != 0) {
        (void)hyp_irq_dis(USART2_LINE);
    }
    if (leave != 0) {
        leave--;
        return;
    }
    if ((USART2_SR & SR_RXNE) != 0) {
        (void)USART2_DR;
        bytes2++;
    }
}

void usart3_handler(void)
{
    runs3++;
    if ((USART3_SR & SR_RXNE) != 0) {
        (void)USART3_DR;
        bytes3++;
    }
}

static void obey(char command)
{
    switch (command) {
    case 'b':
        virt_int_mask(VIRT_BASEPRI);
        break;
    case 'p':
        virt_int_mask(VIRT_PRIMASK);
        break;
    case 'u':
        virt_int_unmask(VIRT_PRIMASK);
        virt_int_unmask(VIRT_BASEPRI);
        break;
    case 'd':
        (void)hyp_irq_dis(USART2_LINE);
        break;
    case 'e':
        (void)hyp_irq_ena(USART2_LINE);
        break;
    case 'x':
        (void)hyp_int_dis();
        break;
    case 'y':
        (void)hyp_int_ena();
        break;
    case 'c':
        USART2_DR; /* as drivers do: the byte is dropped, then its interrupt */
        (void)virt_vct_clear(3);
        break;
    case 'l':
        leave = 5;
        break;
    case 'o':
        disable_own = !disable_own;
        break;
    case 'r':
        hyp_reboot();
    default:
        break;
    }
    report("runs2", (int32_t)runs2);
    report("bytes2", (int32_t)bytes2);
    report("runs3", (int32_t)runs3);
    report("bytes3", (int32_t)bytes3);
    report("pending2", virt_vct_pending(3));
    report_text(".\r\n");
}

int main(void)
{
    report_init();
    USART2_CR1 = CR1_UE_TE_RE_RXNEIE;
    USART3_CR1 = CR1_UE_TE_RE_RXNEIE;
    (void)hyp_irq_ena(USART2_LINE);
    (void)hyp_irq_ena(USART3_LINE);
    report_text("ready\r\n");
    for (;;) {
        if ((USART1_SR & SR_RXNE) != 0) {
            obey((char)USART1_DR);
        }
    }
}
