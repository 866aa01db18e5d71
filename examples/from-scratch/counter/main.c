/* A virtual machine: what a bare-metal program is, with a main loop and interrupt handlers, but
 * no instruction that needs privilege. */
#include <stdbool.h>

#include <fvm/guest.h>

#include "fvm_domain.h"

struct usart {
    volatile uint32_t sr, dr, brr, cr1;
};

#define USART1 ((struct usart *)0x40011000u)
#define USART1_IRQ 37
#define SR_RXNE (1u << 5)
#define SR_TXE (1u << 7)
#define CR1_UE_RXNEIE_TE_RE ((1u << 13) | (1u << 5) | (1u << 3) | (1u << 2))
#define BAUD 115200u
#define APB2_HZ (FVM_CLOCK_HZ / 2u) /* apb2="2" */

static volatile uint32_t ticks;
static volatile bool sampled;
static volatile char typed;

void on_tick(void) { ticks++; }
void on_sample(void) { sampled = true; }

void on_character(void)
{
    if ((USART1->sr & SR_RXNE) != 0) {
        char character = (char)USART1->dr;
        if (character > ' ') { /* Enter comes right behind the letter */
            typed = character;
        }
    }
}

static void put(char character)
{
    while ((USART1->sr & SR_TXE) == 0) {
    }
    USART1->dr = (uint8_t)character;
}

static void print_text(const char *text)
{
    while (*text != '\0') {
        put(*text++);
    }
}

/* Text, a decimal number, and text again. */
static void print(const char *text, uint32_t number, const char *rest)
{
    uint32_t power = 1;

    print_text(text);
    while (number / power >= 10u) {
        power *= 10u;
    }
    for (; power != 0; power /= 10u) {
        put((char)('0' + number / power % 10u));
    }
    print_text(rest);
}

int main(void)
{
    const volatile uint32_t *sample = FVM_SHM_SAMPLE;

    USART1->brr = APB2_HZ / BAUD;
    USART1->cr1 = CR1_UE_RXNEIE_TE_RE;
    (void)hyp_irq_ena(USART1_IRQ);
    (void)hyp_tick_set(100);
    print("start at sample ", *sample, "\r\n");
    for (;;) {
        (void)hyp_wdg_clr();
        virt_int_mask(VIRT_PRIMASK);
        if (!sampled) {
            (void)hyp_vct_wait(); /* WFI: what is pending ends it, masked or not */
        }
        virt_int_unmask(VIRT_PRIMASK);
        if (sampled) {
            sampled = false;
            print("sample ", *sample, "");
            print(" at tick ", ticks, "\r\n");
        }
        if (typed == 'x') {
            *(volatile uint32_t *)FVM_SHM_SAMPLE = 0; /* read-only for this VM: a fault */
        }
        while (typed == 'h') { /* hangs: the watchdog restarts it */
        }
    }
}
