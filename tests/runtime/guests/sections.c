/* The rest of USART2's handler. One letter on USART1, which is polled, is a command; every answer
 * ends with a line `.`. */
#include <fvm/guest.h>

#include "fvm_domain.h"
#include "report.h"

#define USART2_LINE 38
#define USART1_SR (*(volatile uint32_t *)0x40011000u)
#define USART1_DR (*(volatile uint32_t *)0x40011004u)
#define USART2_CR1 (*(volatile uint32_t *)0x4000440Cu)
#define SR_RXNE (1u << 5)
#define CR1_UE_TE_RE_RXNEIE ((1u << 13) | (1u << 3) | (1u << 2) | (1u << 5))

static volatile uint32_t runs, empty; /* records, and those without a byte */
static char text[512];
static volatile uint32_t length;

void usart2_handler(void)
{
    uint32_t record[2];
    while (fvm_split_take(&fvm_split_USART2, record, 2)) {
        runs++;
        if ((record[0] & SR_RXNE) == 0) {
            empty++;
        } else if (length < sizeof text - 1) {
            text[length++] = (char)record[1];
        }
    }
}

static void obey(char command)
{
    const volatile struct fvm_split_block *block = FVM_SHM_USART2_RING;
    switch (command) {
    case 'p':
        virt_int_mask(VIRT_PRIMASK);
        break;
    case 'u':
        virt_int_unmask(VIRT_PRIMASK);
        break;
    case 'd':
        (void)hyp_irq_dis(USART2_LINE);
        break;
    case 'e':
        (void)hyp_irq_ena(USART2_LINE);
        break;
    case 't':
        (void)virt_vct_trig(FVM_VIRT_USART2);
        break;
    case 'c':
        (void)virt_vct_clear(FVM_VIRT_USART2);
        break;
    case 'g': /* rubbish wherever the process looks */
        for (uint32_t i = 0; i < FVM_SHM_USART2_RING_SIZE / 4; i++) {
            ((volatile uint32_t *)FVM_SHM_USART2_RING)[i] = 0x9E3779B9u * (i + 1);
        }
        break;
    case 'z':
        for (uint32_t i = 0; i < FVM_SHM_USART2_RING_SIZE / 4; i++) {
            ((volatile uint32_t *)FVM_SHM_USART2_RING)[i] = 0;
        }
        break;
    case 'f':
        for (int i = 0; i < 1000; i++) {
            (void)hyp_evt_snd(FVM_EVT_USART2_DONE);
            (void)virt_vct_trig(FVM_VIRT_USART2);
        }
        break;
    case 'r':
        hyp_reboot();
    default:
        break;
    }
    text[length] = '\0';
    report("runs", (int32_t)runs);
    report("empty", (int32_t)empty);
    report("records", (int32_t)block->records);
    report("postponed", (int32_t)block->postponed);
    report("dropped", (int32_t)block->dropped);
    report("lost", (int32_t)block->lost);
    report("overrun", (int32_t)block->count[0]);
    report("waiting", (int32_t)block->waiting);
    report("foreign", hyp_irq_ena(37)); /* another line */
    report_text("text=");
    report_text(text);
    report_text("\r\n.\r\n");
}

int main(void)
{
    report_init();
    USART2_CR1 = CR1_UE_TE_RE_RXNEIE;
    (void)hyp_irq_ena(USART2_LINE);
    report_text("ready\r\n");
    for (;;) {
        if ((USART1_SR & SR_RXNE) != 0) {
            obey((char)USART1_DR);
        }
    }
}
